// What drains say to people: Events on the Node and metrics. An Event about blockers is written when they change, and at
// most once a minute for one node.

import type { Clock } from '../../runtime/clock.ts';
import type { Node } from '../kube/objects.ts';
import { type EventSink, nodeReference, type OperatorMetrics } from '../nodes/contract.ts';
import type { Drain } from './drain.ts';

const MIN_INTERVAL_MS = 60_000;
/** Names in one text or metric. */
const MAX_NAMES = 20;
const BLOCKED_BY = 'bigfleet_operator_drain_blocked_by';

export class DrainEvents {
  readonly #events: EventSink;
  readonly #metrics: OperatorMetrics;
  readonly #clock: Clock;
  #shownBlockers: ReadonlySet<string> = new Set();

  constructor(events: EventSink, metrics: OperatorMetrics, clock: Clock) {
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
    const now = this.#clock.now();
    if (names === '' || names === drain.announced || now - drain.announcedMs < MIN_INTERVAL_MS) return false;
    drain.announced = names;
    drain.announcedMs = now;
    this.#events.event(reference(node), 'Warning', 'DrainBlocked', `Waiting for ${names}.`);
    return true;
  }

  broken(drain: Drain, node: Node): void {
    const names = [...drain.broken].sort().slice(0, MAX_NAMES).join(', ');
    if (names === drain.announced) return;
    drain.announced = names;
    const text = `The grace of a preemption has ended: pods were deleted against ${names}.`;
    this.#events.event(reference(node), 'Warning', 'BudgetBroken', text);
    this.#metrics.count('bigfleet_operator_budgets_broken_total', {}, drain.broken.size);
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
    const blockers = new Map<string, number>();
    for (const drain of drains) {
      if (!drain.isOpen) continue;
      open++;
      for (const name of drain.blockers)
        if (blockers.size < MAX_NAMES || blockers.has(name))
          blockers.set(name, (blockers.get(name) ?? 0) + 1);
    }
    this.#metrics.gauge('bigfleet_operator_drains_open', open);
    for (const name of this.#shownBlockers)
      if (!blockers.has(name)) this.#metrics.gauge(BLOCKED_BY, 0, { blocker: name });
    for (const [name, nodes] of blockers) this.#metrics.gauge(BLOCKED_BY, nodes, { blocker: name });
    this.#shownBlockers = new Set(blockers.keys());
  }
}

function reference(node: Node) {
  return nodeReference(node.metadata.name, node.metadata.uid ?? '');
}
