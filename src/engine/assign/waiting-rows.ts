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

/** Ranked rows of a batch that `prefetch` reads. */
const batch = new Uint32Array(64);

/**
 * Prefetches what serving some rows will read. Rows are served in rank order but stored cluster by cluster, so each would
 * miss the CPU cache; read in a batch, the misses of many rows overlap. A short loop for each column, since a processor looks a
 * few hundred instructions ahead: a loop over rows would have only the misses of one or two rows overlap. Returns a sum
 * without meaning, which the caller keeps, so that the reads are not optimized away.
 */
export function prefetch(cycle: Cycle, order: Uint32Array, from: number, to: number): number {
  const { creditEnd, creditStart, laterEnd, laterStart } = cycle.claims;
  const { cluster, hasInFlight, kind, pattern, profile, row } = cycle.rankedRows;
  const { aggregate } = cycle.fleet.demand;
  const { stride } = cycle.fleet.dimensions;
  const end = Math.min(to, order.length);
  let seen = 0;
  for (let i = from; i < end; i++) seen += cluster[order[i]!]!;
  let count = 0;
  for (let i = from; i < end; i++) if (!cycle.turnsAhead.isServed(order[i]!)) batch[count++] = order[i]!;
  seen += sumOf(row, count) + sumOf(kind, count) + sumOf(hasInFlight, count);
  seen += sumOf(cycle.credits.outcome, count) + sumOf(pattern, count) + sumOf(profile, count);
  seen += sumOf(creditStart, count) + sumOf(creditEnd, count);
  seen += sumOf(laterStart, count) + sumOf(laterEnd, count);
  for (let i = 0; i < count; i++) seen += aggregate.data[row[batch[i]!]! * stride]!;
  if (cycle.sharing.isActive) for (let i = 0; i < count; i++) seen += cycle.sharing.prefetch(batch[i]!);
  return seen;
}

/** Sum of the entries of a column for the first ranked rows of the batch. */
function sumOf(column: ReadonlyColumn, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += column[batch[i]!]!;
  return sum;
}
