// Watches that the node of each joining machine registers in time, and reports it to the shard: JOINED once the node is
// there, JOIN_TIMEOUT when the deadline has passed. A Node that is left of an earlier host of the machine, with no word of a
// kubelet since the bootstrap, does not count. Reports stay open until a later state of the machine shows that the
// shard has them, and open ones are sent again after each hello.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type NodeReport,
  NodeReport_Kind,
  type NodeStateUpdate,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { ShardLink } from '../session/contract.ts';
import { type EventSink, nodeReference, type OperatorLog, type OperatorMetrics } from './contract.ts';
import type { NodeTable, TrackedNode } from './node-table.ts';

/** Time for a host to boot, fetch its images and register. Boots of large bare-metal machines take up to ten minutes. */
export const DEFAULT_JOIN_TIMEOUT_MS = 15 * 60_000;
/** A JOINED report that no later state confirms is dropped after this time. */
const OPEN_JOINED_MS = 60 * 60_000;
const MAX_OPEN = 20_000;
/** How far the clocks of the API server and of a host may be behind: a host takes longer to boot. */
const CLOCK_SKEW_MS = 30_000;

interface Join {
  readonly deadlineMs: number;
  /** When the bootstrap was asked for: an older Node is not that of the new host. Null if that is not known. */
  readonly sinceMs: number | null;
  readonly cancel: () => void;
}

interface OpenReport extends Pick<Join, 'sinceMs'> {
  readonly report: NodeReport;
  readonly atMs: number;
}

export interface JoinsDeps {
  readonly clock: Clock;
  readonly link: Pick<ShardLink, 'sendNodeReport'>;
  readonly nodes: NodeTable;
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly joinTimeoutMs: number;
  /** Keeps the deadline across restarts. */
  readonly deadlines: {
    joinDeadlineMs(machine: string): number | undefined;
    setJoinDeadline(machine: string, deadlineMs: number | null): void;
  };
  readonly eventObject: (machine: string) => Parameters<EventSink['event']>[0];
}

export class Joins {
  readonly #deps: JoinsDeps;
  readonly #joining = new Map<string, Join>();
  readonly #open = new Map<string, OpenReport>();

  constructor(deps: JoinsDeps) {
    this.#deps = deps;
  }

  /** Number of machines whose node has not registered yet. */
  get joining(): number {
    return this.#joining.size;
  }

  /** The bootstrap of a machine was asked for: its join begins now at the latest. */
  expect(machine: string): void {
    if (machine === '') return;
    const now = this.#deps.clock.now();
    // The machine may have been reported as Configuring first, while the Node of its earlier host counted.
    const isOpen = this.#open.get(machine)?.report.kind === NodeReport_Kind.KIND_JOINED;
    if (isOpen && this.#nodeSince(machine, now) === undefined) this.#open.delete(machine);
    this.#begin(machine, now);
  }

  isJoining(machine: string): boolean {
    return this.#joining.has(machine);
  }

  stateChanged({ machineId: machine, state }: NodeStateUpdate): void {
    if (state === MachineState.Configuring) {
      this.#begin(machine);
      return;
    }
    const open = this.#open.get(machine);
    if (state === MachineState.Configured) {
      // Some providers call a machine Configured before its kubelet registers, so a join goes on. After a restart it does
      // if its deadline was kept.
      if (open?.report.kind === NodeReport_Kind.KIND_JOINED) this.#open.delete(machine);
      if (open === undefined && this.#deps.deadlines.joinDeadlineMs(machine) !== undefined)
        this.#begin(machine);
      return;
    }
    this.#end(machine);
    this.#open.delete(machine);
  }

  /** A node was tied to the machine, or changed. */
  nodeChanged(machine: string): void {
    const open = this.#open.get(machine);
    const waits =
      this.#joining.get(machine) ??
      (open?.report.kind === NodeReport_Kind.KIND_JOIN_TIMEOUT ? open : undefined);
    if (waits !== undefined && this.#nodeSince(machine, waits.sinceMs) !== undefined) this.#joined(machine);
  }

  drop(machine: string): void {
    this.#end(machine);
    this.#open.delete(machine);
  }

  /** Sends open reports again; called after each hello. */
  connected(): void {
    const now = this.#deps.clock.now();
    for (const [machine, { report, atMs }] of [...this.#open]) {
      if (report.kind === NodeReport_Kind.KIND_JOINED && now - atMs > OPEN_JOINED_MS)
        this.#open.delete(machine);
      else this.#deps.link.sendNodeReport(report);
    }
  }

  stop(): void {
    for (const { cancel } of this.#joining.values()) cancel();
    this.#joining.clear();
  }

  #begin(machine: string, bootstrapMs: number | null = null): void {
    if (this.#joining.has(machine) || this.#open.has(machine)) return;
    const { clock, deadlines, joinTimeoutMs } = this.#deps;
    const now = clock.now();
    const known = deadlines.joinDeadlineMs(machine);
    const deadlineMs = known ?? now + joinTimeoutMs;
    // A deadline is kept only where there was no Node when the join began.
    const sinceMs = known === undefined ? bootstrapMs : known - joinTimeoutMs;
    const cancel = clock.after(Math.max(0, deadlineMs - now), () => this.#timedOut(machine));
    this.#joining.set(machine, { deadlineMs, sinceMs, cancel });
    if (this.#nodeSince(machine, sinceMs) !== undefined) this.#joined(machine);
    else deadlines.setJoinDeadline(machine, deadlineMs);
  }

  /** The node of a machine, unless it is older than `sinceMs` and its kubelet has not reported since. */
  #nodeSince(machine: string, sinceMs: number | null): TrackedNode | undefined {
    const node = this.#deps.nodes.nodeOf(machine);
    if (node === undefined || sinceMs === null || node.createdMs === 0) return node;
    return Math.max(node.createdMs, node.heartbeatMs) >= sinceMs - CLOCK_SKEW_MS ? node : undefined;
  }

  #end(machine: string): void {
    this.#joining.get(machine)?.cancel();
    this.#joining.delete(machine);
    this.#deps.deadlines.setJoinDeadline(machine, null);
  }

  #joined(machine: string): void {
    const node = this.#deps.nodes.nodeOf(machine)!;
    this.#end(machine);
    this.#report(machine, NodeReport_Kind.KIND_JOINED, '', null);
    this.#deps.metrics.count('bigfleet_operator_joins_total', { outcome: 'joined' });
    this.#deps.log('info', 'node.joined', { machine, node: node.name });
    this.#deps.events.event(
      nodeReference(node.name, node.uid),
      'Normal',
      'Joined',
      `Joined as machine ${machine}.`,
    );
  }

  #timedOut(machine: string): void {
    const { nodes, events, metrics, log, joinTimeoutMs, eventObject } = this.#deps;
    const join = this.#joining.get(machine)!;
    // Before the first list the absence of a node says nothing.
    if (!nodes.hasListed) {
      const cancel = this.#deps.clock.after(10_000, () => this.#timedOut(machine));
      this.#joining.set(machine, { ...join, cancel });
      return;
    }
    if (this.#nodeSince(machine, join.sinceMs) !== undefined) {
      this.#joined(machine);
      return;
    }
    const reason = `No node of machine ${machine} has registered within ${Math.round(joinTimeoutMs / 1000)} s.`;
    this.#end(machine);
    this.#report(machine, NodeReport_Kind.KIND_JOIN_TIMEOUT, reason, join.sinceMs);
    metrics.count('bigfleet_operator_joins_total', { outcome: 'timeout' });
    log('warn', 'node.join-timeout', { machine });
    events.event(eventObject(machine), 'Warning', 'JoinTimeout', reason);
  }

  #report(machine: string, kind: NodeReport_Kind, reason: string, sinceMs: number | null): void {
    const node = kind === NodeReport_Kind.KIND_JOINED ? this.#deps.nodes.nodeOf(machine) : undefined;
    const report: NodeReport = {
      machineId: machine,
      kind,
      instructionId: '',
      nodeName: node?.name ?? '',
      providerId: node?.providerId ?? '',
      reason,
      blockedBy: [],
    };
    if (this.#open.size < MAX_OPEN || this.#open.has(machine))
      this.#open.set(machine, { report, sinceMs, atMs: this.#deps.clock.now() });
    this.#deps.link.sendNodeReport(report);
  }
}
