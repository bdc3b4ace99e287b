// The smallest remainder that a row can use: it must hold its largest pod, and have some of everything that it wants. All
// rows of a pattern have the same largest pod, so it is kept by pattern: there are few, and reading it of the row would wait
// for memory. Part of sharing.ts.

import { withRoom } from '../../collections/columns.ts';
import { type FleetView, MAX_DIMENSIONS, type Pattern } from '../../fleet/index.ts';

export class SmallestRemainders {
  readonly #fleet: FleetView;
  readonly #needed = new Float64Array(MAX_DIMENSIONS);
  /** By number: the pattern whose largest pod is in `#units`, by dimension. */
  readonly #patterns: (Pattern | undefined)[] = [];
  #units = new Float64Array(0);
  #dimensions = 0;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  /** That of a row with a pattern, by dimension; valid until the next call. */
  of(row: number, number: number): Float64Array {
    const { demand, dimensions } = this.#fleet;
    const aggregate = demand.aggregate.data;
    const from = row * dimensions.stride;
    const at = this.#load(row, number);
    for (let d = 0; d < dimensions.count; d++) {
      const unit = this.#units[at + d]!;
      // Amounts are whole numbers.
      this.#needed[d] = unit === 0 && aggregate[from + d]! > 0 ? 1 : unit;
    }
    return this.#needed;
  }

  /** Index in `#units` of a pattern, to which the largest pod is copied from a row of it. */
  #load(row: number, number: number): number {
    const { demand, dimensions, patterns } = this.#fleet;
    const { count } = dimensions;
    if (this.#dimensions !== count) {
      this.#dimensions = count;
      this.#patterns.length = 0;
    }
    const pattern = patterns.patternOf(number);
    const at = number * count;
    if (this.#patterns[number] === pattern) return at;
    this.#patterns[number] = pattern;
    this.#units = withRoom(this.#units, at + count);
    for (let d = 0; d < count; d++) this.#units[at + d] = demand.minUnit.data[row * dimensions.stride + d]!;
    return at;
  }
}
