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

/** Rows that other lanes serve, as the acquiring lane sees them. */
interface OtherRows {
  /** By cluster: its lane; 0 is this one. */
  readonly laneOf: Uint8Array;
  /** Whether the row at an index is known to be served. */
  isServed(index: number): boolean;
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
  /** Rows that other lanes serve; null if this lane serves all rows. */
  readonly #others: OtherRows | null;
  /** Rows of a batch that are served here, and rows that another lane requests machines for. */
  readonly #own = new Batch();
  readonly #requested = new Batch();
  /** Sum of all prefetched values. Public, so that the reads do not look unused and are not optimized away. */
  seen = 0;

  constructor(cycle: Cycle, others: OtherRows | null = null) {
    this.#cycle = cycle;
    this.#others = others;
  }

  /** Call it before the row at an index of `rankedRows` is served; all of them are served in this order. */
  at(index: number, rankedRows: Uint32Array): void {
    if (index % BATCH !== 0) return;
    this.#load(rankedRows, index + BATCH, Math.min(index + 2 * BATCH, rankedRows.length));
    if (this.#own.count > 0) this.#readOwn();
    if (this.#requested.count > 0) this.#readRequested();
  }

  /** Loads the rows of a batch that are not served ahead of their turn. */
  #load(rankedRows: Uint32Array, from: number, to: number): void {
    const { rankedRows: columns, turnsAhead } = this.#cycle;
    const others = this.#others;
    this.#own.count = 0;
    this.#requested.count = 0;
    if (others === null && !turnsAhead.isOn) {
      for (let i = from; i < to; i++) this.#own.add(rankedRows[i]!);
      return;
    }
    for (let i = from; i < to; i++) if (others?.isServed(i) !== true) this.#own.add(rankedRows[i]!);
    this.seen += this.#own.sum(columns.cluster);
    const { count, rows } = this.#own;
    this.#own.count = 0;
    for (let i = 0; i < count; i++) {
      const rankedRow = rows[i]!;
      if (others !== null && others.laneOf[columns.cluster[rankedRow]!]! > 0) this.#requested.add(rankedRow);
      else if (!turnsAhead.isServed(rankedRow)) this.#own.add(rankedRow);
    }
  }

  #readOwn(): void {
    const { claims, credits, fleet, sharing } = this.#cycle;
    const { hasInFlight, kind, pattern, profile, row } = this.#cycle.rankedRows;
    const { aggregate } = fleet.demand;
    const { stride } = fleet.dimensions;
    const own = this.#own;
    let seen = own.sum(row) + own.sum(kind) + own.sum(hasInFlight) + own.sum(credits.outcome);
    seen += own.sum(pattern) + own.sum(profile) + own.sum(claims.creditStart) + own.sum(claims.creditEnd);
    seen += own.sum(claims.laterStart) + own.sum(claims.laterEnd);
    for (let i = 0; i < own.count; i++) seen += aggregate.data[row[own.rows[i]!]! * stride]!;
    if (sharing.isActive) for (let i = 0; i < own.count; i++) seen += sharing.prefetch(own.rows[i]!);
    this.seen += seen;
  }

  /** The other lane has read what a row wants. */
  #readRequested(): void {
    const { kind, pattern, profile, row } = this.#cycle.rankedRows;
    const { laterEnd, laterStart } = this.#cycle.claims;
    const requested = this.#requested;
    this.seen += requested.sum(row) + requested.sum(kind) + requested.sum(pattern) + requested.sum(profile);
    this.seen += requested.sum(laterStart) + requested.sum(laterEnd);
  }
}

class Batch {
  readonly rows = new Uint32Array(BATCH);
  count = 0;

  add(rankedRow: number): void {
    this.rows[this.count++] = rankedRow;
  }

  sum(column: ReadonlyColumn): number {
    let sum = 0;
    for (let i = 0; i < this.count; i++) sum += column[this.rows[i]!]!;
    return sum;
  }
}
