// Acquisition: what a row still lacks after credit is taken from the shared pools, Idle machines before Speculative
// ones, each in pool order, until the row is covered.

import type { Cycle } from './cycle.ts';
import type { ClassFilter } from './pool.ts';

/** Whether a machine with another row's target may be taken: only for what is not already draining towards this row. */
export function beyondDrains(cycle: Cycle, turn: number, drains: readonly number[]): ClassFilter | null {
  if (drains.length === 0) return null;
  return (classNumber) => cycle.beyond(turn, drains).adds(classNumber, true);
}

/** Takes free machines in pool order until the row is covered or the pools have nothing more for it. */
export function acquire(
  cycle: Cycle,
  turn: number,
  allowed: ClassFilter | null,
  drains: readonly number[],
): void {
  const { pools, turns, want } = cycle;
  const pattern = turns.pattern[turn]!;
  const key = turns.key[turn]!;
  const mayTakeTargeted = beyondDrains(cycle, turn, drains);
  while (!want.covered) {
    const slot = pools.nextIdle(pattern, want, key, allowed, mayTakeTargeted);
    if (slot === -1) break;
    cycle.take(turn, slot);
  }
  if (want.covered) return;
  const dollars = cycle.fleet.demand.profiles.entryOf(turns.profile[turn]!).interruptionDollars;
  while (!want.covered) {
    const slot = pools.nextSpeculative(pattern, want, dollars, allowed);
    if (slot === -1) break;
    cycle.take(turn, slot);
  }
}
