// Restamps: bound machines that a gang claims although their stamp does not name it. From now on they are its own.
// gang.ts calls it for gangs of the pass, solve.ts for credited ones.

import type { Cycle } from '../cycle.ts';
import { Credit } from './credits.ts';
import { RowKind } from './ranked-rows.ts';

/**
 * Records the restamps of gangs covered before the pass, in clusters that were served again; other clusters keep theirs.
 */
export function settleRestamps(cycle: Cycle, clusters: readonly number[]): void {
  for (const cluster of clusters) {
    cycle.result.settleRestamps(
      cluster,
      cycle.credits.restamps[cluster] === 1 ? restampedIn(cycle, cluster) : [],
    );
  }
}

function restampedIn(cycle: Cycle, cluster: number): number[] {
  const { credits, rankedRows } = cycle;
  const restamped: number[] = [];
  for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
    const isSettled =
      rankedRows.kind[rankedRow] === RowKind.Gang && credits.outcome[rankedRow] === Credit.Covered;
    if (isSettled) restamped.push(...restampedBy(cycle, rankedRow));
  }
  return restamped;
}

/** The restamps of one gang, in claim order. */
export function restampedBy(cycle: Cycle, rankedRow: number): number[] {
  const { creditEnd, creditStart, slots } = cycle.claims;
  const { machines } = cycle.fleet;
  const key = cycle.rankedRows.key[rankedRow];
  const restamped: number[] = [];
  for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
    const slot = slots[i]!;
    if (machines.cluster[slot] !== 0 && machines.stampKey[slot] !== key) restamped.push(slot);
  }
  return restamped;
}
