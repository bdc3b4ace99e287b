// Blockers: for a row that is short, the last row before it that claimed a machine it could have used. The pass records
// the last claimant of every class; rows of the same cluster are searched for bound machines. Part of a `Cycle`:
// serve.ts and lanes.ts record claims, unmet.ts reads the blocker of a row.

import { ColumnGroup } from '../../collections/table.ts';
import type { Pattern } from '../../fleet/index.ts';
import { isBound } from '../../model/index.ts';
import { isFreeState } from '../candidates/class-availability.ts';
import type { Cycle } from '../cycle.ts';
import { NONE } from './ranked-rows.ts';

export class Blockers {
  readonly #cycle: Cycle;

  readonly byClass = new ColumnGroup(this);
  /** The last ranked row that claimed a free machine of the class, plus one; 0 if none did. */
  readonly lastTakenBy = this.byClass.u32();
  /** Position of that ranked row in the pass. */
  readonly lastTakenAt = this.byClass.f64();

  /** Classes that ranked rows of this lane claimed from. */
  #takenClasses: number[] = [];
  /** By cluster and pattern: the last ranked row before `before` that claims a bound machine that fits. */
  #neighbours = new Map<number, { readonly before: number; readonly last: number }>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Forgets the previous cycle and makes room for the classes of a fleet. */
  beginCycle(): void {
    for (const c of this.#takenClasses) this.lastTakenBy[c] = 0;
    this.byClass.reserve(this.#cycle.fleet.classes.size);
    this.beginLane();
  }

  /** Forgets everything, after a cycle failed at an unknown point. */
  clear(): void {
    this.lastTakenBy.fill(0);
    this.#takenClasses = [];
  }

  /** Begins the pass in another lane than that of the cycle, whose columns are shared. */
  beginLane(): void {
    this.#takenClasses = [];
    this.#neighbours = new Map();
  }

  /** Classes that ranked rows of this lane claimed from; those of other lanes too, after `merge`. */
  get takenClasses(): readonly number[] {
    return this.#takenClasses;
  }

  /** Adds the classes that ranked rows of another lane claimed from. */
  merge(takenClasses: Iterable<number>): void {
    for (const c of takenClasses) this.#takenClasses.push(c);
  }

  /** Records, after a ranked row was served in the pass, that it is the last one for every class it claimed from. */
  noteTaken(rankedRow: number): void {
    const { claims, fleet, pass } = this.#cycle;
    const { creditEnd, creditStart, slots } = claims;
    const { classOf, state } = fleet.machines;
    const position = pass.lastPosition;
    for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
      const slot = slots[i]!;
      if (isFreeState(state[slot])) this.#noteClass(classOf[slot]!, rankedRow, position);
    }
    this.noteAcquired(rankedRow);
  }

  /** The result of `noteTaken` for a ranked row that is not credited with machines in flight. */
  noteAcquired(rankedRow: number): void {
    const { acquiredClasses, laterEnd, laterStart } = this.#cycle.claims;
    const position = this.#cycle.pass.lastPosition;
    for (let i = laterStart[rankedRow]!; i < laterEnd[rankedRow]!; i++)
      this.#noteClass(acquiredClasses[i]!, rankedRow, position);
  }

  #noteClass(classNumber: number, rankedRow: number, position: number): void {
    if (this.lastTakenBy[classNumber] === 0) this.#takenClasses.push(classNumber);
    this.lastTakenBy[classNumber] = rankedRow + 1;
    this.lastTakenAt[classNumber] = position;
  }

  /** The last ranked row before this one that claimed a machine this one could have used; NONE for none. */
  of(rankedRow: number): number {
    const { rankedRows } = this.#cycle;
    const pattern = this.#cycle.patternOf(rankedRow);
    const other = this.#lastTaken(pattern);
    const neighbour = this.#lastNeighbour(rankedRow, pattern);
    if (other === NONE || neighbour === NONE) return Math.max(other, neighbour);
    return rankedRows.compare(other, neighbour) < 0 ? neighbour : other;
  }

  /** The last ranked row of the pass that claimed a free machine of a class that fits. */
  #lastTaken(pattern: Pattern): number {
    const fitting = pattern.fittingClasses();
    const { hasOtherLanes } = this.#cycle;
    // Other lanes' classes are not listed here.
    const isListShorter = !hasOtherLanes && this.#takenClasses.length < fitting.length;
    let last = NONE;
    let lastAt = NONE;
    for (const c of isListShorter ? this.#takenClasses : fitting) {
      if (this.lastTakenBy[c] === 0 || this.lastTakenAt[c]! <= lastAt) continue;
      if (isListShorter && !pattern.fits(c)) continue;
      last = this.lastTakenBy[c]! - 1;
      lastAt = this.lastTakenAt[c]!;
    }
    return last;
  }

  /** The last ranked row of the same cluster before this one that claims a bound machine which this one could have used. */
  #lastNeighbour(rankedRow: number, pattern: Pattern): number {
    const { rankedRows, result } = this.#cycle;
    const { place } = rankedRows;
    const neighbour = this.#lastHosted(rankedRow, pattern);
    const unhosted = result.unhosted.get(rankedRows.cluster[rankedRow]!) ?? [];
    for (let i = unhosted.length - 1; i >= 0; i--) {
      const other = unhosted[i]!;
      if (neighbour !== NONE && place[other]! < place[neighbour]!) break;
      if (place[other]! < place[rankedRow]! && this.#claimsFitting(other, pattern)) return other;
    }
    return neighbour;
  }

  /**
   * The last such ranked row, unhosted members excluded. Better-ranked rows are already served, so cached results stay
   * valid.
   */
  #lastHosted(rankedRow: number, pattern: Pattern): number {
    const { fleet, rankedRows } = this.#cycle;
    const cluster = rankedRows.cluster[rankedRow]!;
    const start = rankedRows.start[cluster]!;
    const before = start + Math.ceil(rankedRows.place[rankedRow]!);
    const memo = cluster * fleet.patterns.size + rankedRows.pattern[rankedRow]!;
    const known = this.#neighbours.get(memo) ?? { before: start, last: NONE };
    let last = known.last;
    for (let other = before - 1; other >= known.before; other--) {
      if (!this.#claimsFitting(other, pattern)) continue;
      last = other;
      break;
    }
    this.#neighbours.set(memo, { before, last });
    return last;
  }

  /** Whether a ranked row claims a bound machine that fits the pattern and is not blocked. */
  #claimsFitting(rankedRow: number, pattern: Pattern): boolean {
    const { creditEnd, creditStart, slots } = this.#cycle.claims;
    const { machines } = this.#cycle.fleet;
    for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
      const slot = slots[i]!;
      if (machines.blocked[slot] === 1 || !isBound(machines.stateOf(slot))) continue;
      if (pattern.fits(machines.classOf[slot]!)) return true;
    }
    return false;
  }
}
