// Restamps: bound machines that a gang claims without their stamp naming it. From now on they are its own.

import { Credit, type Cycle } from './cycle.ts';
import { TurnKind } from './turns.ts';

/** All of them; those of a gang in claim order. */
export function allRestamped({ restamped, settledRestamps }: Cycle): number[] {
  return [...restamped, ...[...settledRestamps.values()].flat()];
}

/** Notes those of gangs that were covered before the pass, in clusters that were served again; the others keep theirs. */
export function settleRestamps(cycle: Cycle, clusters: readonly number[]): void {
  const { outcome, settledRestamps, turns } = cycle;
  for (const cluster of clusters) {
    const restamped: number[] = [];
    for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++) {
      const isSettled = turns.kind[turn] === TurnKind.Gang && outcome[turn] === Credit.Covered;
      if (isSettled) noteRestamps(cycle, turn, restamped);
    }
    if (restamped.length === 0) settledRestamps.delete(cluster);
    else settledRestamps.set(cluster, restamped);
  }
}

/** Notes those of one gang. */
export function noteRestamps(cycle: Cycle, turn: number, restamped: number[]): void {
  const { machines } = cycle.fleet;
  const key = cycle.turns.key[turn];
  for (let i = cycle.creditStart[turn]!; i < cycle.creditEnd[turn]!; i++) {
    const slot = cycle.claims[i]!;
    if (machines.cluster[slot] !== 0 && machines.stampKey[slot] !== key) restamped.push(slot);
  }
}
