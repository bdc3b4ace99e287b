// Bound machines of a cluster that are contended: rows that wait for the pass over the free machines might claim them.
// A waiting row contends for all unclaimed machines that serve its pattern. While a cluster is credited, a machine that
// is unclaimed now was unclaimed before, so it is enough to store the patterns and to test a class when a later row
// finds a machine of it. Part of credits.ts, used by credit.ts and spread-credit.ts.

import { withRoom } from '../../collections/columns.ts';
import type { FleetView, Pattern } from '../../fleet/index.ts';

/** A waiting row contends for machines of the class. */
const CONTENDED = -1;

export class Contended {
  readonly #fleet: FleetView;
  readonly #patterns: Pattern[] = [];
  /** By pattern in `#patterns`: whether machines that match but do not fit are contended too. */
  readonly #inPart: boolean[] = [];
  /** By pattern, two entries: 1 if it was added in full, and in part. */
  #known = new Uint8Array(0);
  readonly #knownAt: number[] = [];
  /** By class: how many of the patterns were tested without a match; or CONTENDED. */
  #looked = new Int32Array(0);
  readonly #lookedAt: number[] = [];
  /** Single machines that are contended. */
  readonly #slots = new Set<number>();

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  /** Resets the state for the next cluster. */
  clear(): void {
    this.#slots.clear();
    if (this.#patterns.length === 0) return;
    for (const at of this.#knownAt) this.#known[at] = 0;
    for (const classNumber of this.#lookedAt) this.#looked[classNumber] = 0;
    for (const list of [this.#patterns, this.#inPart, this.#knownAt, this.#lookedAt]) list.length = 0;
  }

  /** A waiting row may claim any machine that fits the pattern or, with `inPart`, matches it. */
  add(pattern: number, inPart: boolean): void {
    const at = pattern * 2 + (inPart ? 1 : 0);
    this.#known = withRoom(this.#known, this.#fleet.patterns.size * 2);
    if (this.#known[at] === 1) return;
    this.#known[at] = 1;
    this.#knownAt.push(at);
    this.#patterns.push(this.#fleet.patterns.patternOf(pattern));
    this.#inPart.push(inPart);
  }

  /** A waiting row may claim this machine. */
  addMachine(slot: number): void {
    this.#slots.add(slot);
  }

  /** Whether an unclaimed machine of the class is contended. */
  has(classNumber: number, slot: number): boolean {
    if (this.#slots.size > 0 && this.#slots.has(slot)) return true;
    const { length } = this.#patterns;
    if (length === 0) return false;
    this.#looked = withRoom(this.#looked, this.#fleet.classes.size);
    let next = this.#looked[classNumber]!;
    if (next === CONTENDED) return true;
    if (next === 0) this.#lookedAt.push(classNumber);
    while (next < length && !this.#isAbout(next, classNumber)) next++;
    this.#looked[classNumber] = next < length ? CONTENDED : next;
    return next < length;
  }

  #isAbout(contest: number, classNumber: number): boolean {
    const pattern = this.#patterns[contest]!;
    return this.#inPart[contest] === true ? pattern.matches(classNumber) : pattern.fits(classNumber);
  }
}
