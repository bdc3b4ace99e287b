// Turns admitted actions into provider calls. Accepting an action moves its machine in the ledger at once, target
// included, so that no later cycle decides the same machine again; the move is reverted if the call never starts. Once
// the provider has accepted the call, readings and decisions may use the machine again. The action stays pending until
// the state of the machine shows its outcome, or until the deadline of the transitional state expires.
// planning/cycles.ts calls `accept` in each cycle; inventory/reconcile.ts asks it whether a record may be applied.

import type { MachineChange, MachineStatus } from '../../fleet/index.ts';
import {
  type Action,
  COMMANDS,
  Command,
  codedText,
  dollarsOfBucket,
  type Leaving,
  type Machine,
  MachineState,
  type NeedKey,
  type Profile,
  type Stamp,
} from '../../model/index.ts';
import type { ActuationEvent } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import type { StoredDrain } from '../inventory/machine-facts-store.ts';
import { ANY_STATE } from '../inventory/machine-ledger.ts';
import { isSoldOut } from '../inventory/sold-out.ts';
import { rowOf } from '../planning/leaving.ts';
import { capacityLabel } from '../planning/queries/action-view.ts';
import { needRef } from '../planning/queries/need-names.ts';
import { ActionExecutor } from './action-executor.ts';
import { type ActionInFlight, COMMAND_OF, isAcquiring, recordOf } from './action-in-flight.ts';
import { type ActionOutcome, type ActionRecord, RecordList } from './action-records.ts';
import type { ActuationParts, InTransition, Refusal, RefusedAction } from './actuation-types.ts';
import {
  type Block,
  type BlockedMachine,
  BlockedMachines,
  type BlockedOffering,
} from './blocked-machines.ts';
import { BootstrapRequests, type MutedCluster } from './bootstrap-requests.ts';
import { DrainReporters } from './drain-reporters.ts';
import { type DrainWait, waitText } from './drain-waits.ts';
import { Evictions } from './evictions.ts';
import { drainKindOf, Instructions } from './instructions.ts';
import { errorClassOf } from './outcome-class.ts';
import { PendingActions } from './pending-actions.ts';
import { Transitions } from './transitions.ts';

export class Actuation {
  readonly #parts: ActuationParts;
  readonly #blocked: BlockedMachines;
  readonly #bootstrapRequests: BootstrapRequests;
  readonly #instructions: Instructions;
  readonly #executor: ActionExecutor;
  readonly #evictions: Evictions;
  readonly #transitions: Transitions;
  /** By machine: actions that the provider has not accepted yet. */
  readonly #inFlight = new Map<string, ActionInFlight>();
  readonly #pending: PendingActions;
  /** By provider that denied mutations: the one action that probes whether it still does. */
  readonly #probes = new Map<string, ActionInFlight>();
  readonly #records: RecordList;
  readonly #freed: ((machine: string, mustLook: boolean) => void)[] = [];
  #isFrozen: (action: Action) => boolean = () => false;
  #actions = 0;
  #isStopped = false;

  constructor(parts: ActuationParts) {
    this.#parts = parts;
    const { ledger, scheduler, clock, random, emit, limits, observer } = parts;
    this.#records = new RecordList(limits.records);
    this.#pending = new PendingActions((inFlight, outcome) => {
      // The provider has given up a drain: the node is used again.
      if (inFlight.command === 'drain' && outcome === 'rolled_back')
        this.#instructions.withdraw(inFlight.id, inFlight.action, 'The provider did not drain the machine.');
      this.#record(inFlight, outcome);
    });
    this.#blocked = new BlockedMachines({
      ledger,
      clock,
      random,
      machineBackoff: limits.machine,
      offeringBackoff: limits.offering,
    });
    this.#bootstrapRequests = new BootstrapRequests({
      clock,
      random,
      emit,
      timeoutMs: limits.bootstrapMs,
      backoff: limits.cluster,
      onAnswer: (seconds) => observer.bootstrapAnswered(seconds),
    });
    this.#instructions = new Instructions(emit);
    this.#evictions = new Evictions({
      ...{ ledger, clock, observer, machineFacts: parts.machineFacts, instructions: this.#instructions },
      reporters: new DrainReporters({ store: parts.drainReporters, clock }),
      isRetired: parts.isRetired,
      protectedMs: limits.protectedMs,
      executor: () => this.#executor,
      begin: (drain, before, provider) => this.#resume(drain, before, provider),
      ended: (inFlight, outcome) => this.#end(inFlight, outcome),
      inFlightOf: (machine) => this.#inFlight.get(machine),
      isStopped: () => this.#isStopped,
      isHeld: (action) =>
        this.#isFrozen(action) || parts.machineFacts.verdictsOn(action.machine).quarantine !== null,
    });
    this.#executor = new ActionExecutor({
      ...{
        ledger,
        scheduler,
        clock,
        random,
        limits,
        bootstrapRequests: this.#bootstrapRequests,
        blocked: this.#blocked,
      },
      instructions: this.#instructions,
      drainWaits: this.#evictions.waits,
      accepted: (inFlight) => this.#accepted(inFlight),
      ended: (inFlight, outcome) => this.#end(inFlight, outcome),
      soldOut: (machine, why) => this.#soldOut(machine, why),
      quarantine: (machine, why) => this.quarantine(machine, 'shard', why),
      fenced: (provider, machine) => this.#fenced(provider, machine),
      isStopped: ({ action }) =>
        this.#isStopped ||
        this.#isFrozen(action) ||
        parts.machineFacts.verdictsOn(action.machine).quarantine !== null,
    });
    this.#transitions = new Transitions({
      ...{ ledger, scheduler, clock, observer, deadlineMs: limits.deadlineMs },
      isInFlight: (machine) => this.#inFlight.has(machine),
      isStopped: () => this.#isStopped,
    });
    ledger.listen((change) => this.#moved(change));
    scheduler.onBreaker((provider, state) => {
      this.#holdOrRelease(provider);
      if (state === 'half-open') this.#probe(provider);
    });
    scheduler.onPermit((provider, state) => {
      this.#holdOrRelease(provider);
      if (state === 'open') this.#denied(provider);
    });
  }

  /**
   * Accepts the actions of a plan that passed the guardrails, and returns those it refused. `leavingOf` returns why a
   * machine that no row counts on leaves its cluster.
   */
  accept(
    actions: readonly Action[],
    leavingOf: (action: Action) => Leaving | null = () => null,
  ): readonly RefusedAction[] {
    const refused: RefusedAction[] = [];
    const taken: ActionInFlight[] = [];
    for (const action of actions) {
      const inFlight = this.#take(action, leavingOf);
      if (typeof inFlight === 'string') refused.push({ action, why: inFlight });
      else taken.push(inFlight);
    }
    for (const { command } of taken) failpoint(`${command}.decided`);
    if (taken.length > 0) this.#parts.machineFacts.flush();
    for (const inFlight of taken) {
      failpoint(`${inFlight.command}.saved`);
      this.#parts.observer.started(recordOf(inFlight));
      this.#executor.start(inFlight);
    }
    return refused;
  }

  handle(event: ActuationEvent): void {
    switch (event.kind) {
      case 'session-opened':
        this.#bootstrapRequests.sessionOpened(event.cluster, event.session);
        this.#evictions.waits.session(event.cluster, event.session, event.features);
        break;
      case 'session-features':
        this.#evictions.waits.session(event.cluster, event.session, event.features);
        break;
      case 'session-closed':
        this.#bootstrapRequests.sessionClosed(event.cluster, event.session);
        this.#evictions.waits.sessionClosed(event.cluster, event.session);
        break;
      case 'bootstrap-answered':
        this.#bootstrapRequests.answered(event);
        break;
      case 'reclaim-acked':
        this.#instructions.acked(event.instruction);
        break;
      case 'node-reported':
        this.#evictions.reported(event);
        break;
      case 'call-ended':
        this.#parts.scheduler.callEnded(event.call, event.outcome);
        break;
    }
  }

  /** The subset of `clusters` that no machine can join now. */
  cannotBind(clusters: Iterable<string>): ReadonlySet<string> {
    const cannot = new Set<string>();
    for (const cluster of clusters) if (!this.#bootstrapRequests.canBind(cluster)) cannot.add(cluster);
    return cannot;
  }

  /**
   * Whether an unaccepted action owns the machine. Until the action lets go, records of the machine are not trusted. A drain
   * that waits for its cluster has not called the provider, so records count: the machine may be lost meanwhile.
   */
  isBusy(machine: string): boolean {
    const inFlight = this.#inFlight.get(machine);
    return inFlight !== undefined && inFlight.stage !== 'evicting';
  }

  /** The drain of a machine that waits for its cluster; null if none does. */
  drainWaitOf(machine: string): DrainWait | null {
    return this.#evictions.waits.of(machine);
  }

  /** Whether a machine is not to be reclaimed now, because a drain of it was withdrawn lately. */
  isProtected(machine: string): boolean {
    return this.#evictions.isProtected(machine);
  }

  /** Drains that wait for a cluster which is retired now call the provider. */
  retired(cluster: string): void {
    this.#evictions.waits.retired(cluster);
  }

  /** Subscribes to machines that an action has let go of. `mustLook`: the machine's state is unknown and must be read. */
  onFreed(listener: (machine: string, mustLook: boolean) => void): void {
    this.#freed.push(listener);
  }

  /**
   * Whether a provider's record adds anything. False: it repeats the stuck state that the shard already gave up on, or it
   * shows a machine as it was before the drain that waits for the cluster.
   */
  isNewInformation(machine: Machine): boolean {
    const inFlight = this.#inFlight.get(machine.id);
    if (inFlight?.stage === 'evicting')
      return machine.state !== MachineState.Configured || machine.cluster !== inFlight.action.cluster;
    return this.#transitions.stuckIn(machine.id) !== machine.state;
  }

  /** Called after a provider's record of the machine was applied to the ledger. */
  seen(machine: string): void {
    const { quarantine, drain } = this.#parts.machineFacts.verdictsOn(machine);
    if (quarantine !== null) this.#restoreQuarantine(machine);
    this.#blocked.seen(machine);
    if (drain !== null && !this.#inFlight.has(machine)) this.#evictions.resume(machine, drain);
  }

  /** Pending actions, then ended ones, oldest first. */
  *actions(): Generator<ActionRecord> {
    for (const inFlight of this.#inFlight.values()) yield this.#pendingRecord(inFlight);
    for (const inFlight of this.#pending.values()) yield recordOf(inFlight);
    yield* this.#records;
  }

  /** The pending action of a machine; null if it has none. */
  actionOf(machine: string): ActionRecord | null {
    const inFlight = this.#inFlight.get(machine) ?? this.#pending.get(machine);
    return inFlight === undefined ? null : this.#pendingRecord(inFlight);
  }

  /** The record of an action that waits for its cluster says so, and what blocks it. */
  #pendingRecord(inFlight: ActionInFlight): ActionRecord {
    const { machine } = inFlight.action;
    const wait = inFlight.stage === 'evicting' ? this.drainWaitOf(machine) : null;
    const record = recordOf(inFlight);
    return wait === null ? record : { ...record, message: waitText(machine, wait, this.#parts.clock.now()) };
  }

  /** Whether a machine has a pending action, whose outcome a change of the machine's state may determine. */
  hasAction(machine: string): boolean {
    return this.#inFlight.has(machine) || this.#pending.get(machine) !== undefined;
  }

  /**
   * `queued`: waiting for the scheduler; `evicting`: drains that wait for their cluster; `inFlight`: every other unaccepted
   * stage; `accepted`: pending at a provider.
   */
  get counts(): Readonly<Record<'queued' | 'evicting' | 'inFlight' | 'accepted', number>> {
    let queued = 0;
    for (const { stage } of this.#inFlight.values()) if (stage === 'queued') queued++;
    const evicting = this.#evictions.waits.size;
    return {
      queued,
      evicting,
      inFlight: this.#inFlight.size - queued - evicting,
      accepted: this.#pending.size,
    };
  }

  /** Why a machine is blocked; null if it is not. */
  blockOf(machine: string): Block | null {
    const block = this.#blocked.of(machine);
    return block === null ? null : { kind: block.kind, why: block.why, untilMs: block.untilMs };
  }

  /** The transitional state of a machine with its start and expected end; null if it is in a stable state. */
  passageOf(machine: string): InTransition | null {
    return this.#transitions.passageOf(machine);
  }

  get blocked(): Iterable<BlockedMachine> {
    return this.#blocked.machines;
  }

  get blockedOfferings(): readonly BlockedOffering[] {
    return this.#blocked.offerings;
  }

  get mutedClusters(): readonly MutedCluster[] {
    return this.#bootstrapRequests.muted;
  }

  /** Unblocks a machine, quarantine and back-off included, and reads it again. False: the machine is not on record. */
  retry(machine: string): boolean {
    if (this.#parts.ledger.statusOf(machine) === null) return false;
    this.#transitions.notStuck(machine);
    this.#blocked.forget(machine);
    this.#blocked.unblock(machine);
    this.#parts.machineFacts.judge(machine, { quarantine: null, isForgotten: false });
    if (!this.isBusy(machine)) this.#free(machine, true);
    return true;
  }

  /** Blocks a machine until a person orders `retry`. False: the machine is not on record. */
  quarantine(machine: string, by: string, why: string): boolean {
    if (this.#parts.ledger.statusOf(machine) === null) return false;
    this.#parts.machineFacts.judge(machine, { quarantine: { by, why, sinceMs: this.#parts.clock.now() } });
    this.#blocked.quarantine(machine, why);
    const inFlight = this.#inFlight.get(machine);
    if (inFlight !== undefined) this.#executor.recall(inFlight, why);
    return true;
  }

  /** Applies the freezes in force: frozen actions are withdrawn, unless the provider may have begun them already. */
  frozen(isFrozen: (action: Action) => boolean): void {
    this.#isFrozen = isFrozen;
    for (const inFlight of [...this.#inFlight.values()]) {
      if (!isFrozen(inFlight.action)) continue;
      this.#executor.recall(inFlight, 'A freeze covers the action.');
      // Its offering or provider may have been blocked while the action was in flight.
      this.#blocked.check(inFlight.action.machine);
    }
  }

  /** Hides a Failed machine. It stays on record and its cost still counts. False: the machine is not Failed. */
  forget(machine: string): boolean {
    if (this.#parts.ledger.statusOf(machine)?.state !== MachineState.Failed) return false;
    this.#parts.machineFacts.judge(machine, { isForgotten: true });
    return true;
  }

  /** Accepts no more actions and withdraws those not sent to a provider. Calls in flight are awaited, but not retried. */
  stop(): void {
    this.#isStopped = true;
    this.#parts.scheduler.stopMutations();
    // Drains that wait for their cluster are durable: the next process goes on with them.
    this.#evictions.waits.stop();
    for (const inFlight of [...this.#inFlight.values()])
      if (inFlight.stage !== 'evicting') this.#executor.recall(inFlight, 'The shard is shutting down.');
  }

  /** Whether an action still has to read the outcome of its call, and the scheduler still makes calls. */
  get isLooking(): boolean {
    if (this.#parts.scheduler.isStopped) return false;
    return [...this.#inFlight.values()].some(({ stage }) => stage === 'looking' || stage === 'waiting');
  }

  #take(action: Action, leavingOf: (action: Action) => Leaving | null): ActionInFlight | Refusal {
    const { ledger, scheduler, limits } = this.#parts;
    const { machine, kind } = action;
    if (this.#isStopped) return 'stopped';
    if (this.#inFlight.has(machine)) return 'deduped';
    const before = ledger.statusOf(machine);
    const provider = ledger.ownerOf(machine);
    if (before === null || provider === undefined) return 'inventory_miss';
    const command = COMMAND_OF[kind];
    if (before.state !== COMMANDS[command].from) return 'stale_state';
    if (this.#blocked.check(machine) || (isAcquiring(command) && this.#isBeingTried(provider))) return 'held';
    const isFull = scheduler.waitingAt(provider) >= limits.queuePerProvider;
    if (isFull && kind !== 'Preempt') return 'dropped';
    const binding = kind === 'Bootstrap' ? this.#bindingOf(action.need!) : null;
    if (binding === undefined) return 'missing_profile';
    if (kind === 'Bootstrap' && !this.#bootstrapRequests.canBind(action.cluster)) return 'no_session';
    this.#pending.supersede(machine);
    // Read before the move below overwrites the machine's state.
    const about = this.#about(action, before, leavingOf(action));
    this.#move(action, binding?.stamp ?? null);
    const inFlight = this.#begin({ action, command, provider, before, about, binding });
    if (command === 'drain') this.#evictions.prepare(inFlight);
    return inFlight;
  }

  /** An action of the process before this one, of which the provider has not been called. */
  #resume(
    { action, about, id, startedMs }: StoredDrain,
    before: MachineStatus,
    provider: string,
  ): ActionInFlight {
    this.#move(action, null);
    return this.#begin(
      { action, command: 'drain', provider, before, about, binding: null },
      { id, startedMs },
    );
  }

  #bindingOf(need: NeedKey): ActionInFlight['binding'] | undefined {
    const profile = this.#parts.profileOf(need);
    return profile === undefined ? undefined : { profile, stamp: stampOf(profile, need) };
  }

  #begin(
    decided: Pick<ActionInFlight, 'action' | 'command' | 'provider' | 'before' | 'about' | 'binding'>,
    known: Pick<ActionInFlight, 'id' | 'startedMs'> = this.#newIdentity(),
  ): ActionInFlight {
    const { action, before, command, provider } = decided;
    const inFlight: ActionInFlight = {
      ...decided,
      ...known,
      drainKind: command === 'drain' ? drainKindOf(action, before.stamp) : null,
      isProbe: isAcquiring(command) && this.#parts.scheduler.permitOf(provider) === 'half-open',
      acceptedMs: null,
      stage: 'queued',
      blob: null,
      graceSeconds: action.graceSeconds,
      isInstructed: false,
      attempts: 0,
      retryOf: null,
      blindLooks: 0,
      message: '',
      cancel: () => true,
    };
    this.#inFlight.set(action.machine, inFlight);
    if (inFlight.isProbe) this.#probes.set(inFlight.provider, inFlight);
    return inFlight;
  }

  #newIdentity(): Pick<ActionInFlight, 'id' | 'startedMs'> {
    const { epoch, clock } = this.#parts;
    return { id: `${epoch.toString(36)}-${(++this.#actions).toString(36)}`, startedMs: clock.now() };
  }

  /** Snapshot of the rows and the machine at the decision, kept because the record of an action outlives both. */
  #about(action: Action, before: MachineStatus, leaving: Leaving | null): ActionInFlight['about'] {
    const { ledger, profileOf } = this.#parts;
    const { need, machine, preemptorPriority } = action;
    const known = ledger.recordOf(machine);
    return {
      need: need === null ? null : needRef(need, profileOf(need)?.priority ?? preemptorPriority),
      capacityType: known === null ? '' : capacityLabel(known.capacityType),
      zone: known?.zone ?? '',
      ...{ from: rowOf(before), leaving },
    };
  }

  #move({ kind, machine, need, graceSeconds }: Action, stamp: Stamp | null): void {
    const { ledger, clock } = this.#parts;
    const at = clock.now();
    switch (kind) {
      case 'Bootstrap':
        ledger.move(machine, { command: Command.Configure, target: need!, stamp: stamp! }, at);
        break;
      case 'Provision':
        ledger.move(machine, { command: Command.Create, target: need! }, at);
        break;
      case 'Preempt':
      case 'Reclaim':
        this.#transitions.draining(machine, graceSeconds);
        ledger.move(machine, { command: Command.Drain, target: need }, at);
        break;
      case 'Delete':
        ledger.move(machine, { command: Command.Delete }, at);
        break;
    }
  }

  #accepted(inFlight: ActionInFlight): void {
    const { ledger, clock } = this.#parts;
    const { machine } = inFlight.action;
    this.#letGo(inFlight);
    inFlight.acceptedMs = clock.now();
    this.#pending.add(inFlight, ledger.statusOf(machine), ledger.particularsOf(machine).lastError);
    this.#free(machine, this.#blocked.isCallLost(machine));
  }

  #end(inFlight: ActionInFlight, outcome: ActionOutcome): void {
    const { machine } = inFlight.action;
    this.#letGo(inFlight);
    this.#record(inFlight, outcome);
    this.#free(machine, this.#blocked.isCallLost(machine));
  }

  #letGo(inFlight: ActionInFlight): void {
    const { machine } = inFlight.action;
    this.#inFlight.delete(machine);
    this.#evictions.letGo(machine);
    if (inFlight.isProbe) this.#probes.delete(inFlight.provider);
  }

  #record(inFlight: ActionInFlight, outcome: ActionOutcome): void {
    const errorClass = errorClassOf(outcome, inFlight);
    const record = recordOf(inFlight, { endedMs: this.#parts.clock.now(), outcome, errorClass });
    this.#records.add(record);
    this.#parts.observer.ended(record);
  }

  #free(machine: string, mustLook: boolean): void {
    for (const listener of this.#freed) listener(machine, mustLook);
  }

  #moved({ id, before, after, seen }: MachineChange): void {
    this.#transitions.moved(id, after, seen);
    this.#evictions.moved(id, before, after, seen);
    // Before the instructions: a drain that the provider gave up is withdrawn with its reason.
    this.#pending.moved(id, after, seen);
    this.#instructions.moved(id, after);
    if (after === null) this.#blocked.forget(id);
    else if (before?.state === MachineState.Failed && after.state !== MachineState.Failed) {
      if (this.#parts.machineFacts.verdictsOn(id).isForgotten)
        this.#parts.machineFacts.judge(id, { isForgotten: false });
    }
    if (before?.state === MachineState.Creating && after?.state === MachineState.Idle)
      this.#blocked.inStock(id);
    const isFailedBuy = before?.state === MachineState.Creating && seen?.state === MachineState.Failed;
    if (isFailedBuy && isSoldOut(seen.lastError)) this.#soldOut(id, codedText(seen.lastError).text);
  }

  /** Blocks the machine's offering and withdraws queued purchases of the same offering. */
  #soldOut(machine: string, why: string): void {
    this.#blocked.blockOffering(machine, why);
    for (const inFlight of [...this.#inFlight.values()]) {
      if (inFlight.command !== 'create' || inFlight.action.machine === machine) continue;
      if (!this.#blocked.isOfferingBlocked(inFlight.action.machine)) continue;
      if (this.#executor.callOff(inFlight, why)) this.#blocked.check(inFlight.action.machine);
    }
  }

  #holdOrRelease(provider: string): void {
    const { scheduler } = this.#parts;
    if (scheduler.breakerOf(provider) !== 'closed')
      this.#blocked.blockProvider(provider, 'provider-unreachable', 'The provider does not answer.');
    else if (scheduler.permitOf(provider) === 'open')
      this.#blocked.blockProvider(
        provider,
        'provider-denies',
        `The provider denies it: ${scheduler.denialOf(provider)}`,
      );
    else this.#blocked.unblockProvider(provider);
  }

  /** Withdraws queued acquisitions at a provider that denies them, so that other providers may serve their rows. */
  #denied(provider: string): void {
    const why = this.#parts.scheduler.denialOf(provider);
    for (const inFlight of [...this.#inFlight.values()]) {
      if (inFlight.provider !== provider || !isAcquiring(inFlight.command)) continue;
      if (this.#executor.callOff(inFlight, why)) this.#blocked.check(inFlight.action.machine);
    }
  }

  /** Whether a probe is in flight at a provider that denied mutations; other acquisitions wait for its outcome. */
  #isBeingTried(provider: string): boolean {
    return this.#parts.scheduler.permitOf(provider) === 'half-open' && this.#probes.has(provider);
  }

  #fenced(provider: string, machine: string): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#parts.scheduler.stop();
    this.#parts.emit({ kind: 'stop', why: 'fenced', provider, machine });
  }

  #restoreQuarantine(machine: string): void {
    const { quarantine } = this.#parts.machineFacts.verdictsOn(machine);
    this.#blocked.quarantine(machine, quarantine!.why);
  }

  /** A half-open breaker needs one call as a probe. If no call is queued, a Get of any machine of the provider serves. */
  #probe(provider: string): void {
    const { scheduler, ledger } = this.#parts;
    // While the permit is open, queued mutations are not sent, so they cannot serve as the probe.
    if (scheduler.waitingAt(provider) > 0 && scheduler.permitOf(provider) !== 'open') return;
    const [machine] = ledger.idsIn(provider, ANY_STATE);
    if (machine !== undefined)
      scheduler.submit({ provider, machine, request: { command: 'get' }, ended: () => {} });
  }
}

export function stampOf(profile: Profile, { fingerprint, group }: NeedKey): Stamp {
  return {
    priority: profile.priority,
    interruptionPenaltyDollars: dollarsOfBucket(profile.interruptionBucket),
    reclamationPenaltyDollars: dollarsOfBucket(profile.reclamationBucket),
    fingerprint,
    group,
  };
}
