// Rows that Phase 1 left short, recorded when they are served: how short, and which row claimed machines before them.

import type { Pattern } from '../fleet/index.ts';
import { isBound, MachineState } from '../model/index.ts';
import { NONE } from './assign/ranked-rows.ts';
import type { Shortage } from './assign/unfilled.ts';
import type { Cycle } from './cycle.ts';
import type { SpreadView } from './views.ts';

export interface Unmet {
  readonly rankedRow: number;
  readonly shortage: Shortage;
  readonly deficit: Float64Array;
  readonly spread: SpreadView | null;
  /** The last ranked row before this one that claimed a machine this one could have used; NONE for none. */
  readonly blocker: number;
}

/** Records that the ranked row being served is short. */
export function addUnmet(cycle: Cycle, rankedRow: number, spread: SpreadView | null): void {
  const { unfilled } = cycle;
  if (cycle.isTrial) return;
  const blocker = blockerOf(cycle, rankedRow);
  cycle.unmet.push({ rankedRow, shortage: unfilled.save(), deficit: unfilled.deficit(), spread, blocker });
}

/** The last ranked row before this one that claimed a machine this one could have used; NONE for none. */
export function blockerOf(cycle: Cycle, rankedRow: number): number {
  const { fleet, rankedRows } = cycle;
  const pattern = fleet.patterns.patternOf(rankedRows.pattern[rankedRow]!);
  let taken = NONE;
  const fitting = pattern.fittingClasses();
  if (cycle.takenClasses.length < fitting.length) {
    for (const c of cycle.takenClasses) if (pattern.fits(c)) taken = Math.max(taken, cycle.lastTakenAt[c]!);
  } else for (const c of fitting) taken = Math.max(taken, cycle.lastTakenAt[c]!);
  const other = taken === NONE ? NONE : cycle.pass.turnAt(taken);
  const neighbour = lastNeighbour(cycle, rankedRow, pattern);
  if (other === NONE || neighbour === NONE) return Math.max(other, neighbour);
  return rankedRows.compare(fleet, other, neighbour) < 0 ? neighbour : other;
}

/** The last ranked row of the same cluster before this one that claims a bound machine which this one could have used. */
function lastNeighbour(cycle: Cycle, rankedRow: number, pattern: Pattern): number {
  const { place } = cycle.rankedRows;
  const neighbour = lastHosted(cycle, rankedRow, pattern);
  const unhosted = cycle.unhostedOf.get(cycle.rankedRows.cluster[rankedRow]!) ?? [];
  for (let i = unhosted.length - 1; i >= 0; i--) {
    const other = unhosted[i]!;
    if (neighbour !== NONE && place[other]! < place[neighbour]!) break;
    if (place[other]! < place[rankedRow]! && countsOnFitting(cycle, other, pattern)) return other;
  }
  return neighbour;
}

/** The last such ranked row, unhosted members excluded. Better-ranked ranked rows are already served, so cached results stay valid. */
function lastHosted(cycle: Cycle, rankedRow: number, pattern: Pattern): number {
  const { fleet, rankedRows } = cycle;
  const cluster = rankedRows.cluster[rankedRow]!;
  const start = rankedRows.start[cluster]!;
  const before = start + Math.ceil(rankedRows.place[rankedRow]!);
  const memo = cluster * fleet.patterns.size + rankedRows.pattern[rankedRow]!;
  const known = cycle.neighbours.get(memo) ?? { before: start, last: NONE };
  let last = known.last;
  for (let other = before - 1; other >= known.before; other--) {
    if (!countsOnFitting(cycle, other, pattern)) continue;
    last = other;
    break;
  }
  cycle.neighbours.set(memo, { before, last });
  return last;
}

function countsOnFitting(cycle: Cycle, rankedRow: number, pattern: Pattern): boolean {
  const { machines } = cycle.fleet;
  for (let i = cycle.creditStart[rankedRow]!; i < cycle.creditEnd[rankedRow]!; i++) {
    const slot = cycle.claims[i]!;
    if (machines.blocked[slot] === 1 || !isBound(machines.stateOf(slot))) continue;
    if (pattern.fits(machines.classOf[slot]!)) return true;
  }
  return false;
}

/** Records, after a ranked row was served from the free machines, that it is the last one for every class it claimed from. */
export function noteTaken(cycle: Cycle, rankedRow: number): void {
  if (cycle.isTrial) return;
  const { creditEnd, creditStart, laterClasses, laterEnd, laterStart } = cycle;
  const { classOf, state } = cycle.fleet.machines;
  const at = cycle.pass.count - 1;
  for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
    const slot = cycle.claims[i]!;
    const free = state[slot] === MachineState.Idle || state[slot] === MachineState.Speculative;
    if (free) noteTakenFrom(cycle, classOf[slot]!, at);
  }
  for (let i = 0; i < laterEnd[rankedRow]! - laterStart[rankedRow]!; i++)
    noteTakenFrom(cycle, laterClasses[i]!, at);
}

function noteTakenFrom({ lastTakenAt, takenClasses }: Cycle, classNumber: number, at: number): void {
  if (lastTakenAt[classNumber] === NONE) takenClasses.push(classNumber);
  lastTakenAt[classNumber] = at;
}
