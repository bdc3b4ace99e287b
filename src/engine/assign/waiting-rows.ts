// Rows that need free machines, over all clusters: their order, and a prefetch of those that are served next. Used by
// lanes.ts, which serves them.

import { withRoom } from '../../collections/columns.ts';
import { Sorter } from '../../collections/radix.ts';
import type { ReadonlyColumn } from '../../collections/table.ts';
import type { Cycle } from '../cycle.ts';

/** Sorts rows. Its columns are reused, since a cold fleet has hundreds of thousands of rows. */
export class WaitingRows {
  #rankedRows = new Uint32Array(0);
  #ranks = new Float64Array(0);
  #times = new Float64Array(0);
  readonly #sorter = new Sorter();

  /** Ranked rows of all clusters that need free machines, in the order they are served; valid until the next call. */
  inOrder({ credits: { pending, pendingEnd }, fleet, rankedRows }: Cycle): Uint32Array {
    const { firstSeenMs, precedence, start } = rankedRows;
    const clusters = fleet.clusters.sorted();
    let count = 0;
    for (const cluster of clusters) count += pendingEnd[cluster]! - start[cluster]!;
    this.#rankedRows = withRoom(this.#rankedRows, count);
    this.#ranks = withRoom(this.#ranks, count);
    this.#times = withRoom(this.#times, count);
    const [all, ranks, times] = [this.#rankedRows, this.#ranks, this.#times];
    // Cluster by cluster, each in rank order: the sort is stable, so this breaks all ties.
    let at = 0;
    for (const cluster of clusters) {
      for (let i = start[cluster]!; i < pendingEnd[cluster]!; i++, at++) {
        const rankedRow = pending[i]!;
        all[at] = rankedRow;
        ranks[at] = -precedence[rankedRow]!;
        times[at] = firstSeenMs[rankedRow]!;
      }
    }
    return this.#sorter.sort(all.subarray(0, count), ranks.subarray(0, count), times.subarray(0, count));
  }
}

/** Rows prefetched together, while the batch prefetched before is served. */
const BATCH = 16;

/**
 * Prefetches what serving rows will read. Rows are served in rank order but stored cluster by cluster, so each would miss the
 * CPU cache; read in a batch, the misses of many rows overlap. A short loop for each column, since a processor looks a few
 * hundred instructions ahead: in a loop over rows only the misses of one or two rows would overlap.
 */
export class RowPrefetch {
  readonly #cycle: Cycle;
  readonly #batch = new Uint32Array(BATCH);
  #count = 0;
  /** Sum of all prefetched values. Public, so that the reads do not look unused and are not optimized away. */
  seen = 0;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Call it before the row at an index of `rankedRows` is served; all of them are served in this order. */
  at(index: number, rankedRows: Uint32Array): void {
    if (index % BATCH === 0)
      this.#read(rankedRows, index + BATCH, Math.min(index + 2 * BATCH, rankedRows.length));
  }

  #read(rankedRows: Uint32Array, from: number, to: number): void {
    const { claims, credits, fleet, sharing } = this.#cycle;
    const { hasInFlight, kind, pattern, profile, row } = this.#cycle.rankedRows;
    const { aggregate } = fleet.demand;
    const { stride } = fleet.dimensions;
    const batch = this.#batch;
    this.#load(rankedRows, from, to);
    let seen = this.#sum(row) + this.#sum(kind) + this.#sum(hasInFlight) + this.#sum(credits.outcome);
    seen += this.#sum(pattern) + this.#sum(profile);
    seen += this.#sum(claims.creditStart) + this.#sum(claims.creditEnd);
    seen += this.#sum(claims.laterStart) + this.#sum(claims.laterEnd);
    for (let i = 0; i < this.#count; i++) seen += aggregate.data[row[batch[i]!]! * stride]!;
    if (sharing.isActive) for (let i = 0; i < this.#count; i++) seen += sharing.prefetch(batch[i]!);
    this.seen += seen;
  }

  /** Loads the rows of a batch that are not served ahead of their turn. */
  #load(rankedRows: Uint32Array, from: number, to: number): void {
    const { rankedRows: columns, turnsAhead } = this.#cycle;
    for (let i = from; i < to; i++) this.seen += columns.cluster[rankedRows[i]!]!;
    this.#count = 0;
    for (let i = from; i < to; i++)
      if (!turnsAhead.isServed(rankedRows[i]!)) this.#batch[this.#count++] = rankedRows[i]!;
  }

  #sum(column: ReadonlyColumn): number {
    let sum = 0;
    for (let i = 0; i < this.#count; i++) sum += column[this.#batch[i]!]!;
    return sum;
  }
}
