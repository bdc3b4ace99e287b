// `Watch`, which checks most invariants of invariant-names.ts; world.ts makes one for each world and checks those of a
// world at rest. The watch observes the calls that providers receive and execute, and the input, plans and actions of
// every process of the shard. Its ground truth is the providers' state. It shares no logic with the shard, so a bug of
// the shard cannot hide here.

import { type ActionKind, CapacityType, COMMANDS, MachineState, stateName } from '../../src/model/index.ts';
import type { TransitionKind } from '../../src/provider/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { ActionView, ControllerEvent, Effect, FreezeScope, ShardEvent } from '../../src/shard/index.ts';
import { freezeId } from '../../src/shard/index.ts';
import type { StoredDrain } from '../../src/shard/inventory/machine-facts-store.ts';
import type { InvariantName } from './invariant-names.ts';
import type { ProcessWatch, ShardProcess } from './shard-process.ts';
import { overfilled, rowsOf } from './shares.ts';
import { type Arrival, HOLD_SECONDS, offered, type ProviderWatch } from './sim-provider.ts';
import type { Trace } from './trace.ts';

export interface Violation {
  readonly name: InvariantName;
  readonly atMs: number;
  readonly text: string;
}

/** A machine as recorded by its provider. */
export interface Truth {
  readonly id: string;
  state: MachineState;
  cluster: string;
  /** When it became Idle; null while it is in any other state. */
  idleSinceMs: number | null;
  /** Position in the watch's own sequence at which it was last in each state. */
  readonly lastIn: Map<MachineState, number>;
  /** Position in that sequence at which something other than a call of the newest process last moved it. */
  disturbed: number;
  readonly accepted: Record<TransitionKind, number>;
  readonly failed: Record<TransitionKind, number>;
  readonly begun: Record<TransitionKind, number>;
  epoch: bigint;
}

const COMMAND_OF: Readonly<Record<ActionKind, TransitionKind>> = {
  Provision: 'create',
  Bootstrap: 'configure',
  Preempt: 'drain',
  Reclaim: 'drain',
  Delete: 'delete',
};
/** The transition that a machine in each of these states is in. */
const VIA: ReadonlyMap<MachineState, TransitionKind> = new Map([
  [MachineState.Creating, 'create'],
  [MachineState.Configuring, 'configure'],
  [MachineState.Draining, 'drain'],
  [MachineState.Deleting, 'delete'],
]);
/** Outcomes of actions that never reached a provider. */
const UNTOUCHED: ReadonlySet<string> = new Set(['no_session', 'blob_error', 'ctx_canceled']);
const MOVING: ReadonlySet<string> = new Set([...VIA.keys()].map((state) => stateName(state).toUpperCase()));
/** Of the reclaim cap. */
const WINDOW_MS = 10_000;
/** Cycles after which the shares of all clusters are checked. */
const SHARES_EVERY = 10;
/** The quarantine ignores demands with fewer rows than this. */
const GUARDED_ROWS = 10;
/** A roll-up is a collapse if it has less than 1 / KEPT_PART of the rows before. */
const KEPT_PART = 10;
/** Of consecutive collapsed roll-ups, the one with this number may be accepted. */
const BELIEVED_AT = 3;

/** A cluster reports almost nothing. */
interface Collapse {
  /** Rows that it reported before. */
  readonly rows: number;
  /** Roll-ups that it had sent when it began. */
  readonly sentBefore: number;
  readonly sent: () => number;
  /** Whether the cluster reports its whole demand again, which the shard has not accepted yet. */
  isOver: boolean;
}

/** What the watch records about one process of the shard. */
class ProcessFacts {
  readonly reported = new Set<string>();
  /** Clusters whose operator reports drains, as far as this process and the file it has read know. */
  readonly reporting = new Set<string>();
  readonly openRequests = new Set<string>();
  readonly reclaims: { readonly cluster: string; readonly atMs: number }[] = [];
  /** By machine: whether its current action has sent its first call. */
  readonly hasSent = new Map<string, boolean>();
  /** By machine: its latest action. */
  readonly actions = new Map<string, ActionView>();
  cycle: ActionView[] = [];
  /** Cycles since the shares of all clusters were last checked. */
  uncheckedCycles = 0;
}

export class Watch implements ProviderWatch, ProcessWatch {
  readonly violations: Violation[] = [];
  readonly machines = new Map<string, Truth>();
  /** Renewals that processes of the shard have begun, and ended. */
  readonly renewals = { begun: 0, finished: 0 };
  readonly begun: Record<ActionKind, number> = {
    Bootstrap: 0,
    Provision: 0,
    Preempt: 0,
    Reclaim: 0,
    Delete: 0,
  };
  lastActionMs = 0;
  readonly #clock: Clock;
  readonly #trace: Trace;
  readonly #facts = new WeakMap<ShardProcess, ProcessFacts>();
  readonly #freezes = new Map<string, FreezeScope>();
  /** By machine: the first call of its current action, until that call or a later one has arrived. */
  readonly #firsts = new Map<string, string>();
  /** By machine with an action of the newest process: the action's first sequence number; null until it sends a call. */
  readonly #current = new Map<string, bigint | null>();
  /** By cluster: its last collapse, until the shard has accepted a whole roll-up again. */
  readonly #collapses = new Map<string, Collapse>();
  /** Ids of the actions in `begun`. */
  readonly #begunIds = new Set<string>();
  readonly #receivedEpochs = new Map<string, bigint>();
  #newest = 0n;
  #order = 0;

  constructor(clock: Clock, trace: Trace) {
    this.#clock = clock;
    this.#trace = trace;
  }

  fail(name: InvariantName, text: string): void {
    this.#trace.note(`VIOLATION ${name}: ${text}`);
    this.violations.push({ name, atMs: this.#clock.now(), text });
  }

  // ---- providers

  moved(id: string, from: MachineState | null, to: MachineState, cluster: string, by: Arrival | null): void {
    const order = ++this.#order;
    const nowMs = this.#clock.now();
    const truth = this.machines.get(id) ?? newTruth(id, to);
    this.machines.set(id, truth);
    this.#trace.note(`machine ${id} ${from === null ? '-' : stateName(from)} > ${stateName(to)} ${cluster}`);
    if (from !== null) truth.lastIn.set(from, order);
    const isEnding = from !== null && VIA.has(from);
    if (isEnding && to === MachineState.Failed) truth.failed[VIA.get(from)!]++;
    if (to === MachineState.Failed || from === MachineState.Failed) truth.disturbed = order;
    if (by !== null) this.#accepted(truth, by, order);
    truth.state = to;
    truth.cluster = cluster;
    truth.idleSinceMs = to === MachineState.Idle ? nowMs : null;
  }

  #accepted(truth: Truth, call: Arrival, order: number): void {
    const { command, machine, epoch } = call;
    if (epoch < truth.epoch)
      this.fail('fence-holds', `${command} of ${machine} by epoch ${epoch} after epoch ${truth.epoch}`);
    if (epoch > truth.epoch) truth.epoch = epoch;
    if (epoch < this.#newest || this.#isLate(call)) truth.disturbed = order;
    truth.accepted[command]++;
    const { accepted, failed, begun } = truth;
    if (accepted[command] > begun[command] + failed[command])
      this.fail(
        'nothing-twice',
        `${machine}: ${accepted[command]} × ${command} accepted, ${begun[command]} begun, ${failed[command]} failed`,
      );
    if (command === 'configure' && truth.cluster !== '')
      this.fail('one-binding', `${machine} is bound to ${call.cluster} while it serves ${truth.cluster}`);
  }

  /** A call of an ended action that the network has delayed: the process cannot know that it will still be carried out. */
  #isLate({ machine, sequence }: Arrival): boolean {
    const first = this.#current.get(machine) ?? null;
    return first === null || sequence < first;
  }

  arrived(call: Arrival): void {
    const { command, machine, epoch, sequence, cluster } = call;
    const truth = this.machines.get(machine);
    this.#trace.note(`arrives ${command} ${machine} ${cluster} ${epoch}/${sequence}`);
    if (truth === undefined) {
      this.fail('known-machines', `${command} for ${machine}, which no provider has`);
      return;
    }
    const isFirst = this.#firsts.get(machine) === `${epoch}/${sequence}`;
    if (epoch < this.#newest) return;
    this.#firsts.delete(machine);
    const { from } = COMMANDS[command];
    if (!isFirst || truth.state === from) return;
    if (truth.disturbed >= (truth.lastIn.get(from) ?? 0)) return;
    const isBinding = command === 'configure' && truth.cluster !== '';
    this.fail(
      isBinding ? 'one-binding' : 'acts-on-real-state',
      `${command} ${cluster} for ${machine}, which is ${stateName(truth.state)} ${truth.cluster}`,
    );
  }

  // ---- processes of the shard

  /**
   * A process of the shard starts. `drains`: those that the file says are waiting. A process that died between writing one
   * and announcing it has begun it all the same. `reporting`: clusters whose operator reports drains, as the file says.
   */
  started(process: ShardProcess, drains: readonly StoredDrain[], reporting: Iterable<string>): void {
    this.#trace.note(`shard starts, epoch ${process.epoch}`);
    for (const cluster of reporting) this.#of(process).reporting.add(cluster);
    this.#newest = process.epoch;
    this.#current.clear();
    for (const { id, action } of drains) {
      if (this.#begunIds.has(id)) continue;
      this.#begunIds.add(id);
      this.#trace.note(`begun ${action.kind} ${action.machine}, not announced`);
      const truth = this.machines.get(action.machine);
      if (truth !== undefined) truth.begun.drain++;
    }
  }

  sent(process: ShardProcess, command: TransitionKind, machine: string, sequence: bigint): void {
    const { hasSent, actions } = this.#of(process);
    // A drain that waits for its cluster sends its call minutes after it has begun.
    this.lastActionMs = this.#clock.now();
    if (hasSent.get(machine) !== false) return;
    hasSent.set(machine, true);
    if (process.epoch === this.#newest) {
      this.#checkFreezes(actions.get(machine)!);
      this.#current.set(machine, sequence);
    }
    this.#firsts.set(machine, `${process.epoch}/${sequence}`);
    this.#trace.note(`sends ${command} ${machine}`);
  }

  event(process: ShardProcess, event: ControllerEvent): void {
    const facts = this.#of(process);
    switch (event.kind) {
      case 'demand':
        this.#trace.note(`demand ${event.delta.cluster} ${event.delta.origin.length}`);
        facts.reported.add(event.delta.cluster);
        this.#checkCollapse(event.delta.cluster, event.delta.origin.length);
        break;
      case 'bootstrap-answered':
        facts.openRequests.delete(event.request);
        break;
      case 'reclaim-acked':
        facts.openRequests.delete(event.instruction);
        break;
      case 'session-features':
      case 'session-opened':
        if (event.features.drainReport) facts.reporting.add(event.cluster);
        else facts.reporting.delete(event.cluster);
        break;
      case 'ordered':
      case 'node-facts':
      case 'node-reported':
      case 'session-closed':
      case 'call-ended':
      case 'list-changed':
      case 'list-gone':
      case 'list-ended':
        break;
    }
  }

  effect(process: ShardProcess, effect: Effect): void {
    const { openRequests, reporting, actions } = this.#of(process);
    switch (effect.kind) {
      case 'ask-bootstrap':
        openRequests.add(effect.request);
        break;
      case 'withdraw-bootstrap':
        openRequests.delete(effect.request);
        break;
      case 'instruct-reclaim':
        openRequests.add(effect.instruction);
        break;
      case 'withdraw-reclaim':
        openRequests.delete(effect.instruction);
        break;
      case 'stop':
        this.#trace.note(`fenced at ${effect.provider}`);
        if (process.epoch === this.#newest)
          this.fail('epochs-rise', `the newest process, epoch ${process.epoch}, is fenced`);
        break;
      case 'ask-demand':
        this.fail('entries-apply', `a roll-up of ${effect.cluster} does not apply to the one before`);
        break;
      case 'call': {
        const cluster = actions.get(effect.machine)?.cluster ?? '';
        if (effect.request.command === 'drain' && effect.request.graceSeconds > 0 && reporting.has(cluster))
          this.fail('drains-wait', `drain of ${effect.machine} in ${cluster}`);
        break;
      }
      case 'list':
      case 'node-state':
      case 'need-verdicts':
      case 'available-capacity':
        break;
    }
  }

  published(process: ShardProcess, event: ShardEvent): void {
    switch (event.kind) {
      case 'action-started':
        this.#begun(process, event.action);
        break;
      case 'action-ended':
        this.#ended(process, event.action);
        break;
      case 'cycle':
        this.#cycleEnded(process);
        break;
      case 'log':
        if (event.event === 'incremental-difference')
          this.fail('incremental-equals-full', JSON.stringify(event.fields));
        if (event.event === 'renewal-begun') this.renewals.begun++;
        if (event.event === 'renewal-ended' && event.fields['outcome'] === 'finished')
          this.renewals.finished++;
        if (event.event === 'entry-refused') this.fail('entries-apply', JSON.stringify(event.fields));
        break;
      case 'loss':
      case 'losses':
        break;
    }
  }

  /** Called once the shard has acknowledged the freeze. */
  frozen(scope: FreezeScope): void {
    const id = freezeId(scope);
    this.#trace.note(`freeze ${id}`);
    this.#freezes.set(id, scope);
  }

  /** Called before the shard is asked to lift the freeze. */
  unfreezing(id: string): void {
    this.#trace.note(`unfreeze ${id}`);
    this.#freezes.delete(id);
  }

  /** Called when a cluster starts to report almost nothing. */
  collapses(cluster: string, rows: number, sent: () => number): void {
    this.#trace.note(`collapse ${cluster}`);
    const last = this.#collapses.get(cluster);
    // For the shard, which has accepted nothing in between, this is the same collapse.
    if (last !== undefined) last.isOver = false;
    else this.#collapses.set(cluster, { rows, sentBefore: sent(), sent, isOver: false });
  }

  /** Called when the cluster reports its whole demand again; the shard learns of it with the next roll-up. */
  recovers(cluster: string): void {
    const collapse = this.#collapses.get(cluster);
    if (collapse !== undefined) collapse.isOver = true;
  }

  connected(cluster: string, epoch: bigint): void {
    this.#trace.note(`connected ${cluster} ${epoch}`);
    const received = this.#receivedEpochs.get(cluster) ?? 0n;
    if (epoch < received) this.fail('epochs-rise', `${cluster} received epoch ${epoch} after ${received}`);
    this.#receivedEpochs.set(cluster, epoch);
  }

  openRequestsOf(process: ShardProcess): readonly string[] {
    return [...this.#of(process).openRequests];
  }

  /** Operations accepted so far on machines whose id contains `part`. */
  acceptedOn(part: string): Readonly<Record<TransitionKind, number>> {
    const sum = { create: 0, configure: 0, drain: 0, delete: 0 };
    for (const { id, accepted } of this.machines.values()) {
      if (!id.includes(part)) continue;
      for (const kind of Object.keys(sum) as TransitionKind[]) sum[kind] += accepted[kind];
    }
    return sum;
  }

  #of(process: ShardProcess): ProcessFacts {
    const known = this.#facts.get(process);
    if (known !== undefined) return known;
    const facts = new ProcessFacts();
    this.#facts.set(process, facts);
    return facts;
  }

  #begun(process: ShardProcess, action: ActionView): void {
    const { id, kind, machine, cluster, reason } = action;
    const facts = this.#of(process);
    this.#begunIds.add(id);
    this.#trace.note(`begins ${kind} ${machine} ${cluster} ${reason}`);
    this.begun[kind]++;
    this.lastActionMs = this.#clock.now();
    facts.cycle.push(action);
    facts.hasSent.set(machine, false);
    facts.actions.set(machine, action);
    const truth = this.machines.get(machine);
    if (truth === undefined) {
      this.fail('known-machines', `${kind} of ${machine}, which no provider has`);
      return;
    }
    truth.begun[COMMAND_OF[kind]]++;
    // A replaced process learns of no new freeze and of no host bought by its successor; the provider's fence stops it.
    const isNewest = process.epoch === this.#newest;
    if (isNewest) this.#current.set(machine, null);
    if (isNewest) this.#checkFreezes(action);
    if (isNewest && kind === 'Delete') this.#checkHold(truth);
    const isExcess = kind === 'Reclaim' || reason === 'phase2.excess';
    if (isExcess && !facts.reported.has(cluster))
      this.fail('no-early-reclaim', `${kind} of ${machine} from ${cluster}, which has not reported`);
    if (kind === 'Reclaim') this.#checkReclaimCap(process, facts, cluster);
  }

  #ended(process: ShardProcess, { kind, machine, outcome }: ActionView): void {
    this.#trace.note(`ended ${kind} ${machine} ${outcome}`);
    if (process.epoch === this.#newest) this.#current.delete(machine);
    const truth = this.machines.get(machine);
    if (truth === undefined || outcome === null || !UNTOUCHED.has(outcome) || VIA.has(truth.state)) return;
    const [view] = process.controller.controller.ask('machines', { where: { id: machine }, limit: 1 }).items;
    if (view !== undefined && MOVING.has(view.state))
      this.fail(
        'rolled-back-is-free',
        `${kind} of ${machine} ended ${outcome}; the ledger says ${view.state}`,
      );
  }

  #checkFreezes({ kind, machine, cluster, need }: ActionView): void {
    for (const [id, scope] of this.#freezes) {
      if (scope.action !== null && scope.action !== kind) continue;
      if (scope.cluster !== null && scope.cluster !== cluster && scope.cluster !== need?.cluster) continue;
      this.fail('frozen-is-frozen', `${kind} of ${machine} ${cluster} in spite of ${id}`);
    }
  }

  #checkReclaimCap(process: ShardProcess, facts: ProcessFacts, cluster: string): void {
    const nowMs = this.#clock.now();
    facts.reclaims.push({ cluster, atMs: nowMs });
    const recent = facts.reclaims.filter((one) => one.cluster === cluster && nowMs - one.atMs < WINDOW_MS);
    const [view] = process.controller.controller.ask('clusters', { cluster, limit: 1 }).items;
    const configured = view?.machinesByState['CONFIGURED'] ?? 0;
    const cap = Math.max(1, Math.floor(process.plan.reclaimFraction * configured + 1e-9));
    if (recent.length > cap)
      this.fail(
        'reclaim-cap',
        `${recent.length} Reclaims of ${cluster} in 10 s, ${cap} of ${configured} allowed`,
      );
    if (nowMs - process.startedMs < WINDOW_MS)
      this.fail('reclaim-cap', `a Reclaim of ${cluster} ${nowMs - process.startedMs} ms after the start`);
  }

  #checkHold({ id, idleSinceMs }: Truth): void {
    const type = typeOf(id);
    const seconds = HOLD_SECONDS.get(type) ?? Number.POSITIVE_INFINITY;
    const idleMs = this.#clock.now() - (idleSinceMs ?? this.#clock.now());
    // The shard does not release a machine that the cloud has moved in the meantime.
    if (idleSinceMs !== null && idleMs < seconds * 1000)
      this.fail('hold-is-kept', `Delete of ${id} after ${idleMs} ms Idle`);
  }

  #checkCollapse(cluster: string, rows: number): void {
    const collapse = this.#collapses.get(cluster);
    if (collapse === undefined) return;
    if (rows * KEPT_PART >= collapse.rows) {
      if (collapse.isOver) this.#collapses.delete(cluster);
      return;
    }
    if (collapse.isOver || collapse.rows < GUARDED_ROWS) return;
    const sent = collapse.sent() - collapse.sentBefore;
    if (sent < BELIEVED_AT)
      this.fail('collapse-is-quarantined', `${cluster}: ${rows} rows accepted after ${sent} roll-ups`);
  }

  /** Reading verdicts takes longer than a cycle, so only those of clusters with actions are read, and now and then all. */
  #checkShares(process: ShardProcess, facts: ProcessFacts): void {
    if (process.plan.shared === null) return;
    const isDue = ++facts.uncheckedCycles >= SHARES_EVERY;
    if (isDue) facts.uncheckedCycles = 0;
    const acting = new Set(facts.cycle.flatMap(({ cluster, need }) => [cluster, need?.cluster]));
    for (const { name } of process.plan.clusters) {
      if (!isDue && !acting.has(name)) continue;
      const wrong = overfilled(rowsOf(process.controller, name), offered);
      if (wrong !== null) this.fail('shares-fit', `${name}: ${wrong}`);
    }
  }

  /** Marks are set and dropped in cycles, so at the end of one none may be over. */
  #checkMarks(process: ShardProcess): void {
    const { renewal: plan, shared } = process.plan;
    if (plan === null || shared === null) return;
    const nowMs = this.#clock.now();
    const longestMs = shared.reclaimHoldSeconds * 1000 + plan.markMs;
    const ask = { where: { state: 'CONFIGURED' }, limit: 100_000 };
    for (const { id, renewal } of process.controller.controller.ask('machines', ask).items) {
      if (renewal === null) continue;
      // A process that was started at calm has the times of production.
      if (renewal.untilMs <= nowMs)
        this.fail('marks-expire', `${id} was to be replaced until ${renewal.untilMs}`);
      if (!process.isCalm && renewal.untilMs - renewal.sinceMs > longestMs)
        this.fail('marks-expire', `${id} is to be replaced for ${renewal.untilMs - renewal.sinceMs} ms`);
    }
  }

  #checkReplacements(
    process: ShardProcess,
    cluster: string,
    reclaims: readonly ActionView[],
    claimed: ReadonlySet<string>,
  ): void {
    if (process.plan.shared === null) return;
    const reclaimed = reclaims.find((action) => action.cluster === cluster && isGeneral(action.machine));
    if (reclaimed === undefined) return;
    for (const id of claimed) {
      const [view] = process.controller.controller.ask('machines', { where: { id }, limit: 1 }).items;
      if (view === undefined || view.state === 'CONFIGURED' || !isGeneral(id)) continue;
      this.fail(
        'replaced-before-reclaimed',
        `${reclaimed.machine} is reclaimed from ${cluster}, where a row counts on ${id}, which is ${view.state}`,
      );
    }
  }

  #cycleEnded(process: ShardProcess): void {
    const facts = this.#of(process);
    const { cycle } = facts;
    this.#checkShares(process, facts);
    this.#checkMarks(process);
    if (cycle.length === 0) return;
    facts.cycle = [];
    const twice = cycle.find(({ machine }, i) => cycle.findIndex((other) => other.machine === machine) !== i);
    if (twice !== undefined) this.fail('claimed-or-reclaimed', `two actions for ${twice.machine} in a cycle`);
    const reclaims = cycle.filter(({ kind }) => kind === 'Reclaim');
    for (const cluster of new Set(reclaims.map((action) => action.cluster))) {
      const claimed = claimedBy(process, cluster);
      this.#checkReplacements(process, cluster, reclaims, claimed);
      const both = reclaims.find(({ machine }) => claimed.has(machine));
      if (both !== undefined)
        this.fail(
          'claimed-or-reclaimed',
          `${both.machine} is reclaimed from ${cluster}, where a row counts on it`,
        );
    }
  }
}

/** Machines claimed by the rows of a cluster, as of the last cycle. */
function claimedBy(process: ShardProcess, cluster: string): ReadonlySet<string> {
  return new Set(rowsOf(process.controller, cluster).flatMap(({ claimed }) => claimed));
}

/** Whether rows of the plan may use a machine; others are those of the tail row. */
function isGeneral(id: string): boolean {
  return !id.includes('-tail-');
}

/** Derived from the name of the offering, which is part of the id. */
export function typeOf(id: string): CapacityType {
  if (id.includes('-spot-')) return CapacityType.Spot;
  return id.includes('-metal-') ? CapacityType.BareMetal : CapacityType.OnDemand;
}

function newTruth(id: string, state: MachineState): Truth {
  const zero = () => ({ create: 0, configure: 0, drain: 0, delete: 0 });
  return {
    ...{ id, state, cluster: '', idleSinceMs: null, disturbed: 0, epoch: 0n },
    ...{ lastIn: new Map(), accepted: zero(), failed: zero(), begun: zero() },
  };
}
