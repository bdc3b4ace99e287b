// Watches that the node of each joining machine registers in time, and reports it to the shard: JOINED once the node is
// there, JOIN_TIMEOUT when the deadline has passed. Reports stay open until a later state of the machine shows that the
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
import type { NodeTable } from './node-table.ts';

/** Time for a host to boot, fetch its images and register. Boots of large bare-metal machines take up to ten minutes. */
export const DEFAULT_JOIN_TIMEOUT_MS = 15 * 60_000;
/** A JOINED report that no later state confirms is dropped after this time. */
const OPEN_JOINED_MS = 60 * 60_000;
const MAX_OPEN = 20_000;

interface Join {
  readonly deadlineMs: number;
  readonly cancel: () => void;
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
  readonly #open = new Map<string, { readonly report: NodeReport; readonly atMs: number }>();

  constructor(deps: JoinsDeps) {
    this.#deps = deps;
  }

  /** Number of machines whose node has not registered yet. */
  get joining(): number {
    return this.#joining.size;
  }

  /** The bootstrap of a machine was asked for: its join begins now at the latest. */
  expect(machine: string): void {
    if (machine !== '') this.#begin(machine);
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
    if (
      !this.#joining.has(machine) &&
      this.#open.get(machine)?.report.kind !== NodeReport_Kind.KIND_JOIN_TIMEOUT
    )
      return;
    if (this.#deps.nodes.nodeOf(machine) !== undefined) this.#joined(machine);
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

  #begin(machine: string): void {
    if (this.#joining.has(machine) || this.#open.has(machine)) return;
    const { clock, deadlines, joinTimeoutMs, nodes } = this.#deps;
    const now = clock.now();
    const deadlineMs = deadlines.joinDeadlineMs(machine) ?? now + joinTimeoutMs;
    const cancel = clock.after(Math.max(0, deadlineMs - now), () => this.#timedOut(machine));
    this.#joining.set(machine, { deadlineMs, cancel });
    if (nodes.nodeOf(machine) !== undefined) this.#joined(machine);
    else deadlines.setJoinDeadline(machine, deadlineMs);
  }

  #end(machine: string): void {
    this.#joining.get(machine)?.cancel();
    this.#joining.delete(machine);
    this.#deps.deadlines.setJoinDeadline(machine, null);
  }

  #joined(machine: string): void {
    const node = this.#deps.nodes.nodeOf(machine)!;
    this.#end(machine);
    this.#report(machine, NodeReport_Kind.KIND_JOINED, '');
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
    // Before the first list the absence of a node says nothing.
    if (!nodes.hasListed) {
      const join = this.#joining.get(machine)!;
      const cancel = this.#deps.clock.after(10_000, () => this.#timedOut(machine));
      this.#joining.set(machine, { ...join, cancel });
      return;
    }
    if (nodes.nodeOf(machine) !== undefined) {
      this.#joined(machine);
      return;
    }
    const reason = `No node of machine ${machine} has registered within ${Math.round(joinTimeoutMs / 1000)} s.`;
    this.#end(machine);
    this.#report(machine, NodeReport_Kind.KIND_JOIN_TIMEOUT, reason);
    metrics.count('bigfleet_operator_joins_total', { outcome: 'timeout' });
    log('warn', 'node.join-timeout', { machine });
    events.event(eventObject(machine), 'Warning', 'JoinTimeout', reason);
  }

  #report(machine: string, kind: NodeReport_Kind, reason: string): void {
    const node = this.#deps.nodes.nodeOf(machine);
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
      this.#open.set(machine, { report, atMs: this.#deps.clock.now() });
    this.#deps.link.sendNodeReport(report);
  }
}
