// Rows that need the pools, over all clusters: their order, and a look ahead at those that are served next.

import type { Cycle } from './cycle.ts';
import { sortedByColumns } from './radix.ts';

/** Turns of all clusters that need the pools, in the order they are to be served. */
export function pendingInOrder({ fleet, pending, pendingEnd, turns }: Cycle): Uint32Array {
  const { firstSeenMs, precedence, start } = turns;
  // Cluster by cluster, and each cluster's in rank order: that settles all ties.
  const lists = fleet.clusters.sorted().map((cluster) => {
    return pending.subarray(start[cluster], pendingEnd[cluster]);
  });
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  const ranks = new Float64Array(all.length);
  const times = new Float64Array(all.length);
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    for (let i = 0; i < list.length; i++, at++) {
      ranks[at] = -precedence[list[i]!]!;
      times[at] = firstSeenMs[list[i]!]!;
    }
  }
  return sortedByColumns(all, ranks, times);
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
