// Restamps: bound machines that a gang claims although their stamp does not name it. From now on they are its own.

import { Credit, type Cycle } from '../cycle.ts';
import { RowKind } from './ranked-rows.ts';

/** All restamped machines; those of a gang in claim order. */
export function allRestamped({ restamped, settledRestamps }: Cycle): number[] {
  return [...restamped, ...[...settledRestamps.values()].flat()];
}

/**
 * Records the restamps of gangs covered before the pass, in clusters that were served again; other clusters keep theirs.
 */
export function settleRestamps(cycle: Cycle, clusters: readonly number[]): void {
  for (const cluster of clusters) {
    const restamped = cycle.restamps[cluster] === 1 ? restampedIn(cycle, cluster) : [];
    if (restamped.length === 0) cycle.settledRestamps.delete(cluster);
    else cycle.settledRestamps.set(cluster, restamped);
  }
}

function restampedIn(cycle: Cycle, cluster: number): number[] {
  const { outcome, rankedRows } = cycle;
  const restamped: number[] = [];
  for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
    const isSettled = rankedRows.kind[rankedRow] === RowKind.Gang && outcome[rankedRow] === Credit.Covered;
    if (isSettled) noteRestamps(cycle, rankedRow, restamped);
  }
  return restamped;
}

/** Adds the restamps of one gang. */
export function noteRestamps(cycle: Cycle, rankedRow: number, restamped: number[]): void {
  const { machines } = cycle.fleet;
  const key = cycle.rankedRows.key[rankedRow];
  for (let i = cycle.creditStart[rankedRow]!; i < cycle.creditEnd[rankedRow]!; i++) {
    const slot = cycle.claims[i]!;
    if (machines.cluster[slot] !== 0 && machines.stampKey[slot] !== key) restamped.push(slot);
  }
}
