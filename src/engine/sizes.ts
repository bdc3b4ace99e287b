// The sizes of machines by number: classes whose machines offer the same have the same one.

import { type Fleet, withRoom } from '../fleet/index.ts';

export class Sizes {
  readonly #fleet: Fleet;
  /** By class; 0 where nobody has looked. */
  #ofClass = new Uint32Array(0);
  /** By what such a machine offers, as a text. */
  readonly #numbers = new Map<string, number>();
  #seen = -1;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  of(classNumber: number): number {
    const { changes } = this.#fleet.classes;
    if (this.#seen !== changes.end) this.#follow();
    if (this.#ofClass[classNumber] === 0) this.#ofClass[classNumber] = this.#numberOf(classNumber);
    return this.#ofClass[classNumber]!;
  }

  /** Class numbers are given out again. */
  #follow(): void {
    const { changes, size } = this.#fleet.classes;
    const changed = changes.since(this.#seen);
    this.#seen = changes.end;
    this.#ofClass = withRoom(this.#ofClass, size);
    if (changed === null) {
      this.#ofClass.fill(0);
      this.#numbers.clear();
    } else for (const c of changed) this.#ofClass[c] = 0;
  }

  #numberOf(classNumber: number): number {
    const { classes, dimensions } = this.#fleet;
    const from = classNumber * dimensions.stride;
    // Dimensions may come to be known later: what a machine does not offer is left out at the end.
    let to = from + dimensions.count;
    while (to > from && classes.allocatable.data[to - 1] === 0) to--;
    const text = classes.allocatable.data.subarray(from, to).join();
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#numbers.size + 1;
      this.#numbers.set(text, number);
    }
    return number;
  }
}
