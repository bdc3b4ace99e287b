// Contests: what rows that wait for the pools might claim of their cluster's bound machines. A waiting row contests all
// unclaimed machines that serve its pattern, and while a cluster is credited a machine that is unclaimed now was so
// before: it is enough to remember the patterns, and to look at a class when a later row comes upon a machine of it.

import { type Fleet, type Pattern, withRoom } from '../fleet/index.ts';

/** Of a class: one of the contests is about it. */
const CONTESTED = -1;

export class Contests {
  readonly #fleet: Fleet;
  readonly #patterns: Pattern[] = [];
  /** By contest: whether machines below the smallest unit of the pattern are contested too. */
  readonly #inPart: boolean[] = [];
  /** By pattern, twice: 1 if it is contested in full, and in part. */
  #known = new Uint8Array(0);
  readonly #knownAt: number[] = [];
  /** By class: so many contests are not about it; or CONTESTED. */
  #looked = new Int32Array(0);
  readonly #lookedAt: number[] = [];
  /** Machines that are contested by themselves. */
  readonly #slots = new Set<number>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Forgets all contests: another cluster is credited. */
  clear(): void {
    this.#slots.clear();
    if (this.#patterns.length === 0) return;
    for (const at of this.#knownAt) this.#known[at] = 0;
    for (const classNumber of this.#lookedAt) this.#looked[classNumber] = 0;
    for (const list of [this.#patterns, this.#inPart, this.#knownAt, this.#lookedAt]) list.length = 0;
  }

  /** A row waits that may claim whatever fits the pattern, or only matches it (`inPart`). */
  add(pattern: number, inPart: boolean): void {
    const at = pattern * 2 + (inPart ? 1 : 0);
    this.#known = withRoom(this.#known, this.#fleet.patterns.size * 2);
    if (this.#known[at] === 1) return;
    this.#known[at] = 1;
    this.#knownAt.push(at);
    this.#patterns.push(this.#fleet.patterns.patternOf(pattern));
    this.#inPart.push(inPart);
  }

  /** A row waits that may claim this machine. */
  addMachine(slot: number): void {
    this.#slots.add(slot);
  }

  /** Whether an unclaimed machine, which is of the class, is contested. */
  has(classNumber: number, slot: number): boolean {
    if (this.#slots.size > 0 && this.#slots.has(slot)) return true;
    const { length } = this.#patterns;
    if (length === 0) return false;
    this.#looked = withRoom(this.#looked, this.#fleet.classes.size);
    let next = this.#looked[classNumber]!;
    if (next === CONTESTED) return true;
    if (next === 0) this.#lookedAt.push(classNumber);
    while (next < length && !this.#isAbout(next, classNumber)) next++;
    this.#looked[classNumber] = next < length ? CONTESTED : next;
    return next < length;
  }

  #isAbout(contest: number, classNumber: number): boolean {
    const pattern = this.#patterns[contest]!;
    return this.#inPart[contest] === true ? pattern.matches(classNumber) : pattern.fits(classNumber);
  }
}
