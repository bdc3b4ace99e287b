// Rows that need the pools, over all clusters: their order, and a look ahead at those that are served next.

import { withRoom } from '../fleet/index.ts';
import type { Cycle } from './cycle.ts';
import { Sorter } from './radix.ts';

/** Puts rows in order. Its columns stay, since a cold fleet has hundreds of thousands of rows. */
export class Pending {
  #turns = new Uint32Array(0);
  #ranks = new Float64Array(0);
  #times = new Float64Array(0);
  readonly #sorter = new Sorter();

  /** Turns of all clusters that need the pools, in the order they are to be served; good until the next call. */
  inOrder({ fleet, pending, pendingEnd, turns }: Cycle): Uint32Array {
    const { firstSeenMs, precedence, start } = turns;
    const clusters = fleet.clusters.sorted();
    let count = 0;
    for (const cluster of clusters) count += pendingEnd[cluster]! - start[cluster]!;
    this.#turns = withRoom(this.#turns, count);
    this.#ranks = withRoom(this.#ranks, count);
    this.#times = withRoom(this.#times, count);
    const [all, ranks, times] = [this.#turns, this.#ranks, this.#times];
    // Cluster by cluster, and each cluster's in rank order: that settles all ties.
    let at = 0;
    for (const cluster of clusters) {
      for (let i = start[cluster]!; i < pendingEnd[cluster]!; i++, at++) {
        const turn = pending[i]!;
        all[at] = turn;
        ranks[at] = -precedence[turn]!;
        times[at] = firstSeenMs[turn]!;
      }
    }
    return this.#sorter.sort(all.subarray(0, count), ranks.subarray(0, count), times.subarray(0, count));
  }
}

/**
 * Looks at all that serving some rows will read. They are served in rank order but stand cluster by cluster, so that
 * each would wait for its place in memory; asked for at once, the places of many rows arrive together. Returns a number
 * of no use: what nobody keeps nobody would look at.
 */
export function glance(cycle: Cycle, order: Uint32Array, from: number, to: number): number {
  const { creditEnd, creditStart, laterEnd, laterStart, outcome } = cycle;
  const { coming, kind, pattern, profile, row } = cycle.turns;
  const { aggregate } = cycle.fleet.demand;
  const { stride } = cycle.fleet.dimensions;
  let seen = 0;
  for (let i = from; i < Math.min(to, order.length); i++) {
    const turn = order[i]!;
    seen += aggregate.data[row[turn]! * stride]!;
    seen += coming[turn]! + kind[turn]! + outcome[turn]! + pattern[turn]! + profile[turn]!;
    seen += creditStart[turn]! + creditEnd[turn]! + laterStart[turn]! + laterEnd[turn]!;
  }
  return seen;
}
