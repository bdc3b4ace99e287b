// Classes whose machines cost the same, as a heap by the first machine that is left of each: the top is the class to
// take from next. Patterns that can use the same classes share the heap, so that each machine taken is noticed once.

import { NONE } from './turns.ts';

/** Comes after every ordinal. */
export const NOTHING_LEFT = 0xffffffff;

/** What is left of each class. */
interface Left {
  /** Counts cycles: in a new one everything is back. */
  readonly cycle: number;
  /** The place in id order of the first machine of a class, or NOTHING_LEFT. */
  firstOrdinalOf(classNumber: number): number;
}

export class Heap {
  readonly #left: Left;
  readonly #classes: Uint32Array;
  /**
   * By place: the ordinal of the first machine when last looked at. Classes are only taken from, so no key is too high.
   */
  readonly #keys: Uint32Array;
  /** The last cycle it was of use in. */
  cycle = 0;

  constructor(left: Left, classes: Uint32Array) {
    this.#left = left;
    this.#classes = classes.slice();
    this.#keys = new Uint32Array(classes.length);
  }

  /** The class with the lowest first machine; NONE if nothing is left of any. */
  top(): number {
    if (this.cycle !== this.#left.cycle) this.#build();
    for (;;) {
      const c = this.#classes[0]!;
      const ordinal = this.#left.firstOrdinalOf(c);
      if (ordinal === this.#keys[0]) return ordinal === NOTHING_LEFT ? NONE : c;
      this.#sink(0, c, ordinal);
    }
  }

  #build(): void {
    this.cycle = this.#left.cycle;
    const { length } = this.#classes;
    for (let i = 0; i < length; i++) this.#keys[i] = this.#left.firstOrdinalOf(this.#classes[i]!);
    for (let i = (length >> 1) - 1; i >= 0; i--) this.#sink(i, this.#classes[i]!, this.#keys[i]!);
  }

  /** Puts a class with its key at a place, or as far below as it belongs. */
  #sink(place: number, classNumber: number, key: number): void {
    const classes = this.#classes;
    const keys = this.#keys;
    let at = place;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= keys.length) break;
      if (child + 1 < keys.length && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      classes[at] = classes[child]!;
      keys[at] = keys[child]!;
      at = child;
    }
    classes[at] = classNumber;
    keys[at] = key;
  }
}
