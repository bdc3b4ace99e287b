// Restamps: bound machines that a row claims although their stamp does not name it, and that are its own from now on. Of a
// gang all of them; of a lender those of other live rows, so that it keeps to them. solve.ts calls it for rows that were
// credited before the pass and for lenders of the pass, gang.ts for gangs of the pass.

import type { Cycle } from '../cycle.ts';
import { Credit } from './credits.ts';
import { RowKind } from './ranked-rows.ts';

/**
 * Records the restamps of rows covered before the pass, in clusters that were served again; other clusters keep theirs.
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
    if (credits.outcome[rankedRow] === Credit.Covered && restamps(cycle, rankedRow))
      restamped.push(...restampedBy(cycle, rankedRow));
  }
  return restamped;
}

function restamps({ rankedRows, sharing }: Cycle, rankedRow: number): boolean {
  return rankedRows.kind[rankedRow] === RowKind.Gang || sharing.lends(rankedRow);
}

/** Records the restamps of lenders that were served in the pass. */
export function restampInPass(cycle: Cycle): void {
  const { credits, pass, rankedRows, sharing } = cycle;
  // In most cycles no row claims a machine of another, and the pass may have hundreds of thousands of rows.
  if (!sharing.isActive || !credits.restamps.includes(1)) return;
  for (let place = 0; place < pass.count; place++) {
    const rankedRow = pass.rankedRow[place]!;
    const mayRestamp = credits.restamps[rankedRows.cluster[rankedRow]!] === 1 && sharing.lends(rankedRow);
    if (mayRestamp) cycle.result.addRestamped(restampedBy(cycle, rankedRow));
  }
}

/** The restamps of a gang or a lender, in claim order. */
export function restampedBy(cycle: Cycle, rankedRow: number): number[] {
  const { creditEnd, creditStart, slots } = cycle.claims;
  const { machines } = cycle.fleet;
  const key = cycle.rankedRows.key[rankedRow]!;
  const isGang = cycle.rankedRows.kind[rankedRow] === RowKind.Gang;
  const restamped: number[] = [];
  for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
    const slot = slots[i]!;
    if (machines.cluster[slot] === 0 || machines.stampKey[slot] === key) continue;
    if (isGang || cycle.isAnothers(slot, key)) restamped.push(slot);
  }
  return restamped;
}
