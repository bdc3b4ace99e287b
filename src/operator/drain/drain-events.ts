// What drains say to people: Events on the Node and metrics. An Event about blockers is written when they change, and at
// most once a minute for one node.

import type { MonotonicClock } from '../../runtime/clock.ts';
import type { Node } from '../kube/objects.ts';
import { type EventSink, nodeReference, type OperatorMetrics } from '../nodes/contract.ts';
import type { Drain } from './drain.ts';

const MIN_INTERVAL_MS = 60_000;
/** Names in one text. */
const MAX_NAMES = 20;
const BLOCKED_BY = 'bigfleet_operator_drain_blocked_by';
/** What blockers start with. Their names are in Events: as labels they would be series without end. */
const BLOCKER_KINDS = ['pdb', 'pod', 'node'] as const;

export class DrainEvents {
  readonly #events: EventSink;
  readonly #metrics: OperatorMetrics;
  readonly #clock: MonotonicClock;

  constructor(events: EventSink, metrics: OperatorMetrics, clock: MonotonicClock) {
    this.#events = events;
    this.#metrics = metrics;
    this.#clock = clock;
  }

  started({ record }: Drain, node: Node): void {
    const why =
      record.kind === 'preemption'
        ? 'a Need of higher priority takes the machine'
        : 'the machine is not needed';
    const text = `Cordoned and draining until ${record.deadline}: ${why} (instruction ${record.instruction}).`;
    this.#events.event(reference(node), 'Normal', 'DrainStarted', text);
    this.#metrics.count('bigfleet_operator_drains_total', { kind: record.kind, outcome: 'started' });
  }

  /** Whether there was something new to say. */
  blocked(drain: Drain, node: Node): boolean {
    const names = drain.blockers.slice(0, MAX_NAMES).join(', ');
    const now = this.#clock.monotonic();
    if (names === '' || names === drain.announced || now - drain.announcedMs < MIN_INTERVAL_MS) return false;
    drain.announced = names;
    drain.announcedMs = now;
    this.#events.event(reference(node), 'Warning', 'DrainBlocked', `Waiting for ${names}.`);
    return true;
  }

  broken(drain: Drain, node: Node): void {
    const added = drain.broken.size - drain.brokenTold;
    if (added === 0) return;
    drain.brokenTold = drain.broken.size;
    const names = [...drain.broken].sort().slice(0, MAX_NAMES).join(', ');
    const text = `The grace of a preemption has ended: pods were deleted against ${names}.`;
    this.#events.event(reference(node), 'Warning', 'BudgetBroken', text);
    this.#metrics.count('bigfleet_operator_budgets_broken_total', {}, added);
  }

  failed({ record }: Drain, node: Node, blockers: readonly string[]): void {
    const names = blockers.slice(0, MAX_NAMES).join(', ');
    const text = `Uncordoned: the grace ended before the drain, held by ${names}.`;
    this.#events.event(reference(node), 'Warning', 'DrainFailed', text);
    this.#metrics.count('bigfleet_operator_drains_total', { kind: record.kind, outcome: 'blocked' });
  }

  withdrawn(name: string, uid: string, why: string): void {
    this.#events.event(nodeReference(name, uid), 'Normal', 'DrainWithdrawn', `Uncordoned. ${why}`);
    this.#metrics.count('bigfleet_operator_drains_total', { kind: 'any', outcome: 'withdrawn' });
  }

  ended({ record }: Drain, node: Node): void {
    const text = 'The grace has ended with pods left; the machine leaves with them.';
    this.#events.event(reference(node), 'Warning', 'DrainEnded', text);
    this.#metrics.count('bigfleet_operator_drains_total', { kind: record.kind, outcome: 'ended' });
  }

  finished({ record }: Drain, node: Node, reason: string): void {
    const text = reason === '' ? 'No pods are left that a drain would evict.' : reason;
    this.#events.event(reference(node), 'Normal', 'Drained', text);
    this.#metrics.count('bigfleet_operator_drains_total', { kind: record.kind, outcome: 'drained' });
  }

  gauges(drains: Iterable<Drain>): void {
    let open = 0;
    const nodes = new Map<string, number>(BLOCKER_KINDS.map((kind) => [kind, 0]));
    for (const drain of drains) {
      if (!drain.isOpen) continue;
      open++;
      for (const kind of BLOCKER_KINDS)
        if (drain.blockers.some((blocker) => blocker.startsWith(`${kind}/`)))
          nodes.set(kind, nodes.get(kind)! + 1);
    }
    this.#metrics.gauge('bigfleet_operator_drains_open', open);
    for (const [blocker, count] of nodes) this.#metrics.gauge(BLOCKED_BY, count, { blocker });
  }
}

function reference(node: Node) {
  return nodeReference(node.metadata.name, node.metadata.uid ?? '');
}
