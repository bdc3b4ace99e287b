// Machine sizes by number: classes with equal allocatable resources have the same number. Used by fitting-machines.ts,
// which names one machine of each size that would help an unmet row.

import { withRoom } from '../collections/columns.ts';
import type { FleetView } from '../fleet/index.ts';

export class SizeNumbers {
  readonly #fleet: FleetView;
  /** By class; 0 if not computed. */
  #ofClass = new Uint32Array(0);
  /** Keyed by the allocatable amounts joined to a text. */
  readonly #numbers = new Map<string, number>();
  #seen = -1;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  of(classNumber: number): number {
    const { changes } = this.#fleet.classes;
    if (this.#seen !== changes.end) this.#invalidateChanged();
    if (this.#ofClass[classNumber] === 0) this.#ofClass[classNumber] = this.#numberOf(classNumber);
    return this.#ofClass[classNumber]!;
  }

  /** Class numbers are reused. */
  #invalidateChanged(): void {
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
    // Dimensions may be added later, so trailing zeros are left out.
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
