// One drain in progress, as this process knows it, and the settings of all drains. The record on the Node decides; what is
// here besides can be lost.

import { type DrainRecord, deadlineMs } from './record.ts';

export interface DrainSettings {
  /** Between two looks at a node that makes progress. */
  readonly retryMs: number;
  /** Between two looks at a node that makes none. */
  readonly maxRetryMs: number;
  /** Before a node that an instruction names and that does not exist counts as gone. */
  readonly recheckMs: number;
  /** After a resync, before a node that no instruction asks for is uncordoned. */
  readonly orphanGraceMs: number;
  /** How long a pod may take to end beyond its own grace before the drain no longer waits for it. */
  readonly stuckMs: number;
  /** How long a reclaim is tried at most, within the grace that the shard gives. */
  readonly maxReclaimMs: number;
  /**
   * A node counts as drained if no pods are left this long after the cordon. The scheduler may have chosen the node before it
   * saw the cordon, and a pod that it binds after the drain is reported dies with the machine. Longer delays every drain.
   */
  readonly settleMs: number;
}

export const DEFAULT_DRAIN_SETTINGS: DrainSettings = {
  retryMs: 2_000,
  maxRetryMs: 15_000,
  recheckMs: 2_000,
  orphanGraceMs: 30_000,
  stuckMs: 60_000,
  maxReclaimMs: 10 * 60_000,
  settleMs: 2_000,
};

/** Nodes or namespaces that are read, and pods without a budget that are evicted, at a time. */
const MAX_PARALLEL = 8;

export class Drain {
  readonly node: string;
  record: DrainRecord;
  /** Looks in a row without progress, or failed calls. */
  idleRounds = 0;
  /** When the node is due again, in monotonic time. */
  nextMs: number;
  /** When this process last cordoned the node, or found it cordoned after a start; in monotonic time. */
  cordonedMs: number;
  /** Start of the last round that read the node. */
  lookedMs = Number.NEGATIVE_INFINITY;
  /** Pods left at the last look; infinity before the first. */
  left = Number.POSITIVE_INFINITY;
  blockers: readonly string[] = [];
  /** Budgets that were broken past the deadline of a preemption. */
  readonly broken = new Set<string>();
  /** How many of them an Event has named. */
  brokenTold = 0;
  /** The shard has reported the machine as Draining since the drain began. */
  wasSeenDraining = false;
  /** The blockers that the last Event named, and when. */
  announced = '';
  announcedMs = Number.NEGATIVE_INFINITY;

  constructor(node: string, record: DrainRecord, monotonicMs: number) {
    this.node = node;
    this.record = record;
    this.nextMs = monotonicMs;
    this.cordonedMs = monotonicMs;
  }

  /** Whether there may be something to evict. */
  get isOpen(): boolean {
    return this.record.state === 'draining';
  }

  /** Nothing has been done on the node yet, or nothing since the deadline, when budgets no longer hold it. */
  isUrgent(nowMs: number): boolean {
    const deadline = deadlineMs(this.record);
    return this.lookedMs === Number.NEGATIVE_INFINITY || (nowMs >= deadline && this.lookedMs < deadline);
  }
}

/** Runs `work` for each item, at most `MAX_PARALLEL` at a time. */
export async function forEachLimited<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, items.length) }, worker));
}
