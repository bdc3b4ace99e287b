// Rows that Phase 1 left short, noted at their turn: how short, and who was there before them.

import type { Cycle, SpreadView } from './cycle.ts';
import { NONE } from './turns.ts';
import type { Shortage } from './want.ts';

export interface Unmet {
  readonly turn: number;
  readonly shortage: Shortage;
  readonly deficit: Float64Array;
  readonly spread: SpreadView | null;
  /** The last turn before this one that claimed something this one could have used; NONE for none. */
  readonly blocker: number;
}

/** Notes that the turn being served is short. */
export function addUnmet(cycle: Cycle, turn: number, spread: SpreadView | null): void {
  const { want } = cycle;
  const blocker = blockerOf(cycle, turn);
  cycle.unmet.push({ turn, shortage: want.save(), deficit: want.deficit(), spread, blocker });
}

/** The last turn before this one that claimed something this one could have used; NONE for none. */
export function blockerOf(cycle: Cycle, turn: number): number {
  const { fleet, turns } = cycle;
  const { machines, patterns } = fleet;
  const pattern = patterns.patternOf(turns.pattern[turn]!);
  let blocker = NONE;
  const consider = (other: number): void => {
    if (other !== turn && (blocker === NONE || turns.compare(fleet, blocker, other) < 0)) blocker = other;
  };
  for (const c of pattern.fittingClasses()) {
    if (cycle.lastTakenBy[c] !== NONE) consider(cycle.lastTakenBy[c]!);
  }
  const walk = cycle.walk.begin(turns.cluster[turn]!);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    const by = cycle.claimedBy[slot]! - 1;
    if (by === NONE || turns.place[by]! >= turns.place[turn]!) continue;
    if (machines.held[slot] === 0 && pattern.fits(machines.classOf[slot]!)) consider(by);
  }
  return blocker;
}

/** After a turn was served from the pools: it is the last one that was, for every class it took from. */
export function noteTaken(cycle: Cycle, turn: number): void {
  const { classOf } = cycle.fleet.machines;
  cycle.eachPooled(turn, (slot) => {
    cycle.lastTakenBy[classOf[slot]!] = turn;
  });
}
