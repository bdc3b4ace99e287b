// Restamps: bound machines that a gang claims without their stamp naming it. From now on they are its own.

import { Credit, type Cycle } from './cycle.ts';
import { TurnKind } from './turns.ts';

/** All of them; those of a gang in claim order. */
export function allRestamped(cycle: Cycle): number[] {
  const { turns } = cycle;
  const restamped = [...cycle.restamped];
  for (const cluster of cycle.fleet.clusters.sorted()) {
    for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++) {
      const settled = turns.kind[turn] === TurnKind.Gang && cycle.outcome[turn] === Credit.Covered;
      if (settled) noteRestamps(cycle, turn, restamped);
    }
  }
  return restamped;
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
