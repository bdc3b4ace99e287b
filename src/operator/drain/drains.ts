// Drains nodes as the shard instructs: cordon, evict within the budgets, report. All state is on the Nodes; see record.ts.
// A reclaim with pods left at its deadline is given up and the node uncordoned; a preemption goes on. The session's
// handlers call it; nodes/ tells it about machines.

import { MachineState } from '../../model/index.ts';
import { longestBackoffMs } from '../../runtime/backoff.ts';
import type { MonotonicClock } from '../../runtime/clock.ts';
import type {
  NodeStateUpdate,
  ReclaimInstruction,
  ReclaimWithdrawal,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { Node } from '../kube/objects.ts';
import type { EventSink, OperatorLog, OperatorMetrics } from '../nodes/contract.ts';
import { KeyedWrites } from '../nodes/keyed-writes.ts';
import { DRAIN_ANNOTATION, type NodeTable, type TrackedNode } from '../nodes/node-table.ts';
import { nodePath } from '../nodes/paths.ts';
import type { ShardLink } from '../session/contract.ts';
import { DEFAULT_DRAIN_SETTINGS, Drain, type DrainSettings, forEachLimited } from './drain.ts';
import { DrainEvents } from './drain-events.ts';
import { drainMs, kindOf, recordFor } from './instruction.ts';
import { NodeWrites } from './node-writes.ts';
import { nodeId } from './plan.ts';
import {
  type DrainRecord,
  deadlineMs,
  failedOf,
  PROTECTED_AFTER_FAILURE_MS,
  parseFailed,
  parseRecord,
  recordOf,
} from './record.ts';
import { type DrainOutcome, DrainReports } from './reports.ts';
import { DrainRound, type Look } from './round.ts';
import { Rounds } from './rounds.ts';

/** Names in one instruction, and instructions that are remembered. */
const MAX_NODES = 1_000;
const MAX_INSTRUCTIONS = 10_000;

export interface DrainsDeps {
  readonly kube: KubeClient;
  readonly clock: MonotonicClock;
  readonly link: ShardLink;
  readonly table: NodeTable;
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  /** What the shard last said of a machine; undefined if it is not one of this cluster. */
  readonly stateOf: (machine: string) => NodeStateUpdate['state'] | undefined;
  /** Shows the drain in the UpcomingNode of the machine. */
  readonly setDraining?: (machine: string, isDraining: boolean) => void;
  readonly settings?: Partial<DrainSettings>;
}

export class Drains {
  readonly #deps: DrainsDeps;
  readonly #settings: DrainSettings;
  readonly #writes: NodeWrites;
  readonly #releases: KeyedWrites;
  readonly #rounds: Rounds;
  readonly #reports: DrainReports;
  readonly #events: DrainEvents;
  readonly #active = new Map<string, Drain>();
  /** Instructions that the shard has sent in this session. */
  readonly #asked = new Set<string>();
  readonly #withdrawn = new Set<string>();
  /** Instructions that the shard has withdrawn: it has their reports. */
  readonly #settled = new Set<string>();
  #isStopped = false;
  #cancelSweep: (() => void) | null = null;
  #unsubscribe: () => void = () => {};

  constructor(deps: DrainsDeps) {
    this.#deps = deps;
    const { kube, clock, log, metrics, link } = deps;
    this.#settings = { ...DEFAULT_DRAIN_SETTINGS, ...deps.settings };
    this.#writes = new NodeWrites(kube);
    this.#releases = new KeyedWrites({ clock, log, metrics });
    this.#reports = new DrainReports(link);
    this.#events = new DrainEvents(deps.events, metrics, clock);
    const round = new DrainRound({
      kube,
      clock,
      log,
      metrics,
      writes: this.#writes,
      settleMs: this.#settings.settleMs,
      mayEvict: (drain) => this.#mayEvict(drain),
      awaitedByPreemptions: () => this.#awaitedByPreemptions(),
    });
    this.#rounds = new Rounds({
      clock,
      log,
      round,
      drains: () => this.#active.values(),
      judge: (drain, look) => this.#judge(drain, look),
      ended: () => this.#schedule(),
      retryMs: this.#settings.maxRetryMs,
    });
  }

  /** Number of nodes with pods left to evict. */
  get draining(): number {
    return [...this.#active.values()].filter(({ isOpen }) => isOpen).length;
  }

  /** Takes over the drains that are recorded on nodes. Call when this replica leads and all nodes are listed. */
  start(): void {
    for (const node of this.#deps.table.all()) this.#adopt(node);
    this.#unsubscribe = this.#deps.table.onNodeChange((name) => this.#nodeChanged(name));
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
    this.#rounds.stop();
    this.#cancelSweep?.();
    this.#releases.stop();
  }

  connected(): void {
    this.#asked.clear();
    this.#withdrawn.clear();
    const now = this.#deps.clock.now();
    this.#reports.connected();
    for (const node of this.#deps.table.all()) this.#reopen(node, now);
    this.#hurry();
  }

  disconnected(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = null;
  }

  /** The shard has reported all its machines after a hello, and repeats its open instructions as well. */
  resynced(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = this.#deps.clock.after(this.#settings.orphanGraceMs, () => this.#releaseOrphans());
  }

  reclaimInstruction(instruction: ReclaimInstruction): void {
    const { instructionId, nodes } = instruction;
    remember(this.#asked, instructionId);
    for (const name of ['', ...nodes]) this.#withdrawn.delete(withdrawalKey(instructionId, name));
    if (nodes.length > MAX_NODES)
      this.#deps.log('warn', 'drain.instruction-cut', { instruction: instructionId, nodes: nodes.length });
    void this.#begin(instruction, nodes.slice(0, MAX_NODES));
  }

  reclaimWithdrawal({ instructionId, nodes, reason }: ReclaimWithdrawal): void {
    const meant = new Set(nodes);
    const isMeant = (node: string, machine: string) =>
      meant.size === 0 || meant.has(node) || meant.has(machine);
    for (const drain of [...this.#active.values()]) {
      const { node, record } = drain;
      if (record.instruction !== instructionId || !isMeant(node, record.machine)) continue;
      this.#forget(drain);
      this.#release(node, record, `Withdrawn by the shard: ${reason || 'the machine stays.'}`);
    }
    this.#reports.closeInstruction(instructionId);
    remember(this.#settled, instructionId);
    // Nodes whose cordon is under way.
    for (const name of meant.size === 0 ? [''] : meant)
      remember(this.#withdrawn, withdrawalKey(instructionId, name));
  }

  nodeStateUpdate({ machineId, state }: NodeStateUpdate): void {
    const { Configured, Draining, Configuring, Failed } = MachineState;
    if (state !== Configured && state !== Configuring) this.#reports.close(machineId);
    const drain = [...this.#active.values()].find(({ record }) => record.machine === machineId);
    if (drain === undefined) return;
    if (state === Failed && drain.isOpen) this.#abandon(drain);
    else if (state !== Configured && state !== Configuring && state !== Draining) this.machineLeft(machineId);
    // A shard that does not wait for reports cannot withdraw; this is how its machine comes back.
    else if (state === Configured && !drain.record.waits && drain.wasSeenDraining) {
      this.#forget(drain);
      this.#release(drain.node, drain.record, 'The shard reports the machine as Configured again.');
    } else if (state === Draining) drain.wasSeenDraining = true;
  }

  /** The machine is no longer one of this cluster. Its Node has been drained for that and has no kubelet any more. */
  machineLeft(machine: string): void {
    this.#reports.close(machine);
    for (const drain of [...this.#active.values()]) {
      if (drain.record.machine !== machine) continue;
      this.#forget(drain);
      this.#removeNode(drain.node);
    }
  }

  /**
   * The machine is Failed while pods may be left. A provider reports that of live hosts too, and without the Node object the
   * pods would end whatever their budgets say, so the node becomes as it was before. Kubernetes itself handles a dead host.
   */
  #abandon(drain: Drain): void {
    const { node, record } = drain;
    const { machine, instruction, waits } = record;
    const reason = 'The machine is reported as Failed; the drain has ended.';
    this.#forget(drain);
    this.#release(node, record, reason);
    if (!waits) return;
    const providerId = this.#deps.table.get(node)?.providerId ?? '';
    const outcome = { machine, instruction, node, providerId, reason };
    this.#reports.blocked({ ...outcome, blockedBy: drain.blockers });
  }

  /**
   * The shard has not reported the machine after a hello. That is weaker than a state: a shard that has just started may not
   * have its list of machines yet. Pods may still run on a node that is not drained, so it is left to the orphans.
   */
  machineUnreported(machine: string): void {
    const isOpen = [...this.#active.values()].some(
      ({ record, isOpen }) => isOpen && record.machine === machine,
    );
    if (!isOpen) this.machineLeft(machine);
  }

  async #begin(instruction: ReclaimInstruction, names: readonly string[]): Promise<void> {
    const deadline = this.#deps.clock.now() + drainMs(instruction, this.#settings.maxReclaimMs);
    const waits = this.#deps.link.features.has('drain-report');
    let isLate = false;
    await forEachLimited(names, async (name) => {
      for (let failures = 0; !this.#isStopped; ) {
        try {
          await this.#beginNode(name, instruction, deadline, waits);
          // The first look does not wait for the other nodes of the instruction.
          this.#rounds.schedule();
          return;
        } catch (error) {
          failures++;
          this.#deps.log('info', 'drain.not-started', { node: name, failures, error });
          await this.#pause(longestBackoffMs({ baseMs: 1_000, maxMs: 15_000 }, failures));
          if (this.#deps.clock.now() > deadline) {
            isLate = true;
            return;
          }
        }
      }
    });
    // The shard repeats an instruction that still holds.
    if (isLate) return;
    if (this.#isStopped) return;
    this.#deps.link.sendReclaimAck({ instructionId: instruction.instructionId, nodesStarted: names.length });
    this.#schedule();
  }

  async #beginNode(
    name: string,
    instruction: ReclaimInstruction,
    deadline: number,
    waits: boolean,
  ): Promise<void> {
    const { table, clock } = this.#deps;
    const id = instruction.instructionId;
    const found = (await this.#find(name)) ?? (await this.#findLater(name));
    if (this.#isStopped || this.#isWithdrawn(id, name, found?.metadata.name)) return;
    const nodeName = found?.metadata.name ?? '';
    const machine = found === null ? name : (table.machineOf(nodeName) ?? '');
    const outcome: DrainOutcome = {
      machine: machine || name,
      instruction: id,
      node: nodeName,
      providerId: found?.spec?.providerID ?? '',
      reason: '',
      blockedBy: [],
    };
    if (found === null)
      return this.#reports.drained({ ...outcome, reason: 'No such node; nothing to drain.' });
    if (machine === '')
      return this.#reports.blocked({ ...outcome, reason: 'BigFleet does not manage this node.' });
    const failed = failedOf(found);
    if (failed !== null && failed.instruction === id && Date.parse(failed.until) > clock.now())
      return this.#reports.blocked({
        ...outcome,
        reason: 'The drain has failed before.',
        blockedBy: failed.blockedBy,
      });

    const record = await this.#writes.cordon(nodeName, (node) =>
      recordFor(node, { instruction: id, kind: kindOf(instruction), machine, deadline, waits }),
    );
    if (record === null) return this.#reports.drained({ ...outcome, reason: 'The node is gone.' });
    if (this.#isStopped) return;
    if (this.#isWithdrawn(id, name, nodeName))
      return this.#release(nodeName, record, 'Withdrawn by the shard.');
    const isNew = this.#active.get(nodeName)?.record.instruction !== id;
    const monotonicMs = clock.monotonic();
    const drain = isNew ? new Drain(nodeName, record, monotonicMs) : this.#active.get(nodeName)!;
    drain.record = record;
    drain.cordonedMs = monotonicMs;
    drain.nextMs = Math.min(drain.nextMs, monotonicMs);
    this.#active.set(nodeName, drain);
    this.#deps.setDraining?.(machine, true);
    if (isNew) this.#events.started(drain, found);
    if (record.state === 'drained') this.#reports.drained({ ...outcome, reason: 'Drained before.' });
    else this.#reports.close(machine);
  }

  /** The node that an instruction means, as the API server has it now. Rejects while nodes are not listed. */
  async #find(name: string): Promise<Node | null> {
    const { table } = this.#deps;
    if (!table.hasListed) throw new Error('The nodes are not listed yet.');
    const known = table.resolve(name);
    return await this.#writes.read(known?.name ?? name);
  }

  /** A node that has just registered may not be in the table, so a miss is checked twice. */
  async #findLater(name: string): Promise<Node | null> {
    await this.#pause(this.#settings.recheckMs);
    return this.#isStopped ? null : await this.#find(name);
  }

  #isWithdrawn(instruction: string, name: string, nodeName = name): boolean {
    return ['', name, nodeName].some((each) => this.#withdrawn.has(withdrawalKey(instruction, each)));
  }

  #adopt(node: TrackedNode): void {
    if (node.drain === '' || this.#active.has(node.name)) return;
    const record = parseRecord(node.drain);
    // A record that cannot be read is released with the orphans.
    if (record === null) return;
    this.#active.set(node.name, new Drain(node.name, record, this.#deps.clock.monotonic()));
    this.#deps.setDraining?.(record.machine, true);
  }

  /** Reports of an earlier process that the shard may not have. */
  #reopen(node: TrackedNode, now: number): void {
    const outcome = { node: node.name, providerId: node.providerId, reason: '', blockedBy: [] };
    const drain = this.#active.get(node.name);
    if (drain?.record.state === 'drained' && !this.#reports.open.has(drain.record.machine)) {
      const { machine, instruction } = drain.record;
      this.#reports.drained({ ...outcome, machine, instruction });
    }
    const failed = drain === undefined ? parseFailed(node.drainFailed) : null;
    if (failed === null || this.#settled.has(failed.instruction)) return;
    if (Date.parse(failed.until) <= now || this.#reports.open.has(failed.machine)) return;
    const { machine, instruction, blockedBy } = failed;
    this.#reports.blocked({
      ...outcome,
      machine,
      instruction,
      blockedBy,
      reason: 'The drain did not finish in time.',
    });
  }

  #nodeChanged(name: string): void {
    const drain = this.#active.get(name);
    if (drain !== undefined && this.#deps.table.get(name) === undefined) this.#finishGone(drain);
  }

  /** Evictions go on only while the shard still asks for them; a shard that does not wait has made them irrevocable. */
  #mayEvict(drain: Drain): boolean {
    if (this.#isStopped || this.#active.get(drain.node) !== drain || !drain.isOpen) return false;
    const { record } = drain;
    if (!record.waits) return true;
    if (!this.#deps.link.isConnected) return false;
    return (
      this.#asked.has(record.instruction) || this.#deps.stateOf(record.machine) === MachineState.Draining
    );
  }

  #hurry(): void {
    const now = this.#deps.clock.monotonic();
    for (const drain of this.#active.values()) drain.nextMs = Math.min(drain.nextMs, now);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#events.gauges(this.#active.values());
    this.#rounds.schedule();
  }

  *#awaitedByPreemptions(): Iterable<string> {
    for (const { isOpen, record, blockers } of this.#active.values())
      if (isOpen && record.kind === 'preemption') yield* blockers;
  }

  async #judge(drain: Drain, look: Look): Promise<void> {
    if (this.#active.get(drain.node) !== drain) return;
    const now = this.#deps.clock.now();
    if (look.kind === 'gone') return this.#finishGone(drain);
    if (look.kind === 'released') return this.#forget(drain);
    if (look.kind === 'unknown') return this.#later(drain, now, false);
    const { pods, evicted, isCut } = look;
    if (drain.broken.size > 0) this.#events.broken(drain, look.node);
    // A node that a person keeps stays, also without pods.
    const isKept = look.isProtected && drain.record.kind === 'reclaim' && drain.record.waits;
    if (pods.length === 0 && !isKept) {
      if (look.isSettled) return await this.#finish(drain, look.node, '');
      drain.nextMs = drain.cordonedMs + this.#settings.settleMs;
      return;
    }
    const blockers = isKept && look.blockers.length === 0 ? [nodeId(drain.node)] : look.blockers;
    const isOver = now >= deadlineMs(drain.record);
    const ends = pods.map(({ endsMs }) => endsMs);
    const areAllEnding = pods.length > 0 && ends.every((ms) => ms !== null);
    const stuckMs = Math.max(deadlineMs(drain.record), ...ends.map((ms) => ms ?? 0)) + this.#settings.stuckMs;
    const areStuck = areAllEnding && now >= stuckMs;
    if (isOver && drain.record.waits && drain.record.kind === 'reclaim') {
      if (areAllEnding && !areStuck) return this.#later(drain, now, true);
      const names =
        blockers.length > 0 ? blockers : pods.map(({ namespace, name }) => `pod/${namespace}/${name}`);
      return this.#fail(drain, look.node, names);
    }
    if (isOver && !drain.record.waits) return await this.#end(drain, look.node);
    if (areStuck && isOver) {
      const reason = `${pods.length} pods do not end; their kubelet does not answer.`;
      return await this.#finish(drain, look.node, reason);
    }
    drain.blockers = blockers;
    // The shard shows what blocks a preemption and names it if its deadline comes first. A reclaim it would withdraw.
    if (this.#events.blocked(drain, look.node) && drain.record.kind === 'preemption')
      this.#reports.blocked({ ...this.#outcome(drain, look.node), blockedBy: blockers, reason: 'Waiting.' });
    const isProgress = evicted > 0 || isCut || pods.length < drain.left || areAllEnding;
    drain.left = pods.length;
    this.#later(drain, now, isProgress);
  }

  #later(drain: Drain, now: number, isProgress: boolean): void {
    const { retryMs, maxRetryMs } = this.#settings;
    const leftMs = deadlineMs(drain.record) - now;
    // The provider is called some seconds after the deadline of a preemption: these are not spent on a backoff.
    const isHurried = drain.record.kind === 'preemption' && leftMs <= 0;
    drain.idleRounds = isProgress || isHurried ? 0 : drain.idleRounds + 1;
    const delay = longestBackoffMs({ baseMs: retryMs, maxMs: maxRetryMs }, drain.idleRounds + 1);
    drain.nextMs = this.#deps.clock.monotonic() + (leftMs > 0 ? Math.min(delay, leftMs) : delay);
  }

  /** Nothing is left to evict: marks the node, so that a restart reports it again, and reports it. */
  async #finish(drain: Drain, node: Node, reason: string): Promise<void> {
    if (!(await this.#mark(drain, 'drained'))) return;
    const broken = [...drain.broken].sort();
    this.#events.finished(drain, node, reason);
    this.#reports.drained({
      ...this.#outcome(drain, node),
      reason: reasonText(reason, broken),
      blockedBy: broken,
    });
    this.#deps.log('info', 'drain.finished', {
      node: drain.node,
      instruction: drain.record.instruction,
      broken,
    });
  }

  /** The grace of a shard that does not wait has ended: the machine goes with what is left on it. */
  async #end(drain: Drain, node: Node): Promise<void> {
    if (await this.#mark(drain, 'ended')) this.#events.ended(drain, node);
  }

  async #mark(drain: Drain, state: DrainRecord['state']): Promise<boolean> {
    try {
      const record = await this.#writes.cordon(drain.node, (node) => {
        const now = recordOf(node);
        return now?.instruction === drain.record.instruction ? { ...now, state } : null;
      });
      if (this.#active.get(drain.node) !== drain) return false;
      if (record === null) this.#forget(drain);
      else drain.record = record;
      return record !== null;
    } catch (error) {
      this.#deps.log('info', 'drain.mark-failed', { node: drain.node, error });
      this.#later(drain, this.#deps.clock.now(), false);
      return false;
    }
  }

  /** A reclaim with pods left at its deadline: the node takes pods again and counts as protected for a while. */
  #fail(drain: Drain, node: Node, blockers: readonly string[]): void {
    this.#forget(drain);
    const { record } = drain;
    const outcome = this.#outcome(drain, node);
    const until = new Date(this.#deps.clock.now() + PROTECTED_AFTER_FAILURE_MS).toISOString();
    const blockedBy = blockers.slice(0, 20);
    const failed = { instruction: record.instruction, machine: record.machine, until, blockedBy };
    this.#releases.submit(`drain/${drain.node}`, async () => {
      await this.#writes.release(drain.node, record.instruction, failed);
      this.#events.failed(drain, node, blockers);
      this.#reports.blocked({ ...outcome, blockedBy, reason: 'The grace ended before the drain.' });
      this.#deps.log('warn', 'drain.blocked', { node: drain.node, blockedBy });
    });
  }

  #finishGone(drain: Drain): void {
    this.#forget(drain);
    const { node, record } = drain;
    const { machine, instruction } = record;
    if (drain.isOpen)
      this.#reports.drained({
        machine,
        instruction,
        node,
        providerId: '',
        reason: 'The node is gone.',
        blockedBy: [],
      });
  }

  #forget(drain: Drain): void {
    if (this.#active.get(drain.node) === drain) this.#active.delete(drain.node);
    this.#deps.setDraining?.(drain.record.machine, false);
  }

  #release(name: string, record: DrainRecord | null, why: string): void {
    this.#releases.submit(`drain/${name}`, async () => {
      const isReleased = await this.#writes.release(name, record?.instruction ?? null);
      if (isReleased) this.#events.withdrawn(name, this.#deps.table.get(name)?.uid ?? '', why);
      this.#deps.log('info', 'drain.withdrawn', { node: name, instruction: record?.instruction, why });
    });
  }

  /** Uncordons nodes that have a record of ours and that the shard, after a whole resync, does not ask for. */
  #releaseOrphans(): void {
    this.#cancelSweep = null;
    const { table, link, stateOf } = this.#deps;
    if (!link.isConnected) return;
    for (const node of table.all()) {
      if (node.drain === '') continue;
      const record = parseRecord(node.drain);
      const state = record === null ? undefined : stateOf(record.machine);
      if (record !== null && (this.#asked.has(record.instruction) || state === MachineState.Draining)) {
        this.#adopt(node);
        continue;
      }
      const drain = this.#active.get(node.name);
      if (drain !== undefined) this.#forget(drain);
      if (record !== null && state === undefined && record.state !== 'draining') {
        this.#removeNode(node.name);
        continue;
      }
      this.#release(node.name, record, 'The shard no longer asks for the drain.');
      if (record === null || !record.waits) continue;
      const { machine, instruction } = record;
      const reason = 'The shard did not repeat the instruction after a new session; the node is uncordoned.';
      this.#reports.blocked({
        machine,
        instruction,
        node: node.name,
        providerId: node.providerId,
        reason,
        blockedBy: [],
      });
    }
    this.#schedule();
  }

  #removeNode(name: string): void {
    this.#releases.submit(`drain/${name}`, async () => {
      const node = await this.#writes.read(name);
      if (node === null || node.metadata.annotations?.[DRAIN_ANNOTATION] === undefined) return;
      try {
        await this.#deps.kube.delete(nodePath(name), { preconditions: { uid: node.metadata.uid } });
        this.#deps.log('info', 'node.removed', { node: name });
      } catch (error) {
        // Without the right to delete nodes the cloud's own controller removes them.
        if (!(error instanceof KubeError && (error.isNotFound || error.isConflict || error.status === 403)))
          throw error;
      }
    });
  }

  #outcome({ node: name, record }: Drain, node: Node): DrainOutcome {
    const { machine, instruction } = record;
    return {
      machine,
      instruction,
      node: name,
      providerId: node.spec?.providerID ?? '',
      reason: '',
      blockedBy: [],
    };
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#deps.clock.after(ms, resolve));
  }
}

function reasonText(reason: string, broken: readonly string[]): string {
  if (broken.length === 0) return reason;
  return `${reason} Budgets broken at the deadline: ${broken.join(', ')}.`.trim();
}

function withdrawalKey(instruction: string, node: string): string {
  return `${instruction}\n${node}`;
}

function remember(set: Set<string>, value: string): void {
  set.delete(value);
  set.add(value);
  if (set.size > MAX_INSTRUCTIONS) set.delete(set.keys().next().value!);
}
