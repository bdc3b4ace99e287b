// What a row still lacks while machines are claimed for it: per dimension, or in whole gangs for a fold; and whether
// any machine claimed so far holds its largest pod. One instance serves all rows of a cycle, one after another.
// `cycle.unfilled`, which every file that claims machines reads and reduces.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { type FleetView, MAX_DIMENSIONS } from '../../fleet/index.ts';

/** Whole gangs that a machine of a class hosts: the minimum of ⌊allocatable ÷ gang⌋ over the dimensions of a gang. */
export function hostedGangs(fleet: FleetView, classNumber: number, gangRow: number): number {
  const { stride, count } = fleet.dimensions;
  const offered = fleet.classes.allocatable.data;
  const gang = fleet.demand.aggregate.data;
  let hosted = Number.POSITIVE_INFINITY;
  for (let d = 0; d < count; d++) {
    const size = gang[gangRow * stride + d]!;
    if (size > 0) hosted = Math.min(hosted, Math.floor(offered[classNumber * stride + d]! / size));
  }
  return hosted;
}

export class Unfilled {
  readonly #fleet: FleetView;
  readonly #left = new Float64Array(MAX_DIMENSIONS);
  /** Number of dimensions of `#left` above zero. */
  #open = 0;
  /** The row has a largest pod, and no machine claimed so far holds it. */
  #unitMissing = false;
  #row = 0;
  #fold = false;
  #gangs = 0;
  // Copies of references for the inner loop: a row reads them for every machine it tests.
  #offered: ReadonlyColumn<Float64Array> = new Float64Array(0);
  #stride = 0;
  #count = 0;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  #begin(row: number, fold: boolean): void {
    this.#row = row;
    this.#fold = fold;
    this.#offered = this.#fleet.classes.allocatable.data;
    this.#stride = this.#fleet.dimensions.stride;
    this.#count = this.#fleet.dimensions.count;
  }

  /** Starts with the whole aggregate of a row; `hasUnit`: its min_unit is not empty. */
  beginRow(row: number, hasUnit: boolean): void {
    this.#begin(row, false);
    const aggregate = this.#fleet.demand.aggregate.data;
    const from = row * this.#stride;
    this.#open = 0;
    for (let d = 0; d < this.#count; d++) {
      const wanted = aggregate[from + d]!;
      this.#left[d] = wanted;
      if (wanted > 0) this.#open++;
    }
    // Without pods there is no largest pod.
    this.#unitMissing = hasUnit && this.#open > 0;
  }

  /** Starts with `gangs` gangs, each as large as the aggregate of `row`. */
  beginFold(row: number, gangs: number): void {
    this.#begin(row, true);
    this.#gangs = this.#fleet.demand.empty[row] === 1 ? 0 : gangs;
    this.#open = 0;
    this.#unitMissing = false;
  }

  /** Continues from a state saved with `save`. */
  restore(row: number, saved: Shortage): void {
    this.#begin(row, false);
    this.#unitMissing = saved.unitMissing;
    this.#open = 0;
    // Dimensions may have been added since; the row wants nothing of those.
    this.#left.fill(0);
    for (let d = 0; d < saved.left.length; d++) {
      this.#left[d] = saved.left[d]!;
      if (saved.left[d]! > 0) this.#open++;
    }
  }

  /** Writes what is left by dimension to `amounts[at …]`, for `loadFrom` in another lane. Not for folds. */
  writeTo(amounts: Float64Array, at: number): void {
    for (let d = 0; d < this.#count; d++) amounts[at + d] = this.#left[d]!;
  }

  /** Continues from what another lane has written with `writeTo`. */
  loadFrom(row: number, amounts: Float64Array, at: number, unitMissing: boolean): void {
    this.#begin(row, false);
    this.#unitMissing = unitMissing;
    this.#open = 0;
    for (let d = 0; d < this.#count; d++) {
      const left = amounts[at + d]!;
      this.#left[d] = left;
      if (left > 0) this.#open++;
    }
  }

  save(): Shortage {
    return { left: this.#left.slice(0, this.#fleet.dimensions.count), unitMissing: this.#unitMissing };
  }

  /** The aggregate is covered; the largest pod may still lack a machine. */
  get sumCovered(): boolean {
    return this.#fold ? this.#gangs <= 0 : this.#open === 0;
  }

  get covered(): boolean {
    return this.sumCovered && !this.#unitMissing;
  }

  get unitMissing(): boolean {
    return this.#unitMissing;
  }

  get gangsLeft(): number {
    return Math.max(0, this.#gangs);
  }

  /** Whether a machine of the class reduces what is unfilled; `fits`: it holds the largest pod. */
  adds(classNumber: number, fits: boolean): boolean {
    if (this.#fold) return this.#gangs > 0 && fits;
    if (this.#unitMissing && fits) return true;
    const from = classNumber * this.#stride;
    for (let d = 0; d < this.#count; d++) {
      if (this.#left[d]! > 0 && this.#offered[from + d]! > 0) return true;
    }
    return false;
  }

  /** Writes the dimensions with an amount left, and these amounts; returns how many there are. Not for folds. */
  copyLeft(dimensions: Uint8Array, amounts: Float64Array): number {
    let open = 0;
    for (let d = 0; d < this.#count; d++) {
      if (this.#left[d] === 0) continue;
      dimensions[open] = d;
      amounts[open] = this.#left[d]!;
      open++;
    }
    return open;
  }

  take(classNumber: number, fits: boolean): void {
    if (this.#fold) {
      this.#gangs -= hostedGangs(this.#fleet, classNumber, this.#row);
      return;
    }
    if (fits) this.#unitMissing = false;
    const from = classNumber * this.#stride;
    for (let d = 0; d < this.#count; d++) {
      const left = this.#left[d]!;
      if (left === 0) continue;
      const rest = left - this.#offered[from + d]!;
      this.#left[d] = Math.max(rest, 0);
      if (rest <= 0) this.#open--;
    }
  }

  /** Reduces what is unfilled by an amount that the row borrows; the machine that it is of holds the largest pod. */
  borrow(amount: Float64Array): void {
    this.takePart(amount, true);
  }

  /** Reduces what is unfilled by a part of a machine; `fits`: the machine holds the largest pod. Not for folds. */
  takePart(amount: Float64Array, fits: boolean): void {
    if (fits) this.#unitMissing = false;
    for (let d = 0; d < this.#count; d++) {
      const left = this.#left[d]!;
      if (left === 0) continue;
      this.#left[d] = Math.max(left - amount[d]!, 0);
      if (amount[d]! >= left) this.#open--;
    }
  }

  /** What is missing: at least one largest pod if none of the machines holds it. */
  deficit(): Float64Array {
    const { minUnit } = this.#fleet.demand;
    const { stride, count } = this.#fleet.dimensions;
    const deficit = this.#left.slice(0, count);
    if (!this.#unitMissing) return deficit;
    for (let d = 0; d < count; d++) deficit[d] = Math.max(deficit[d]!, minUnit.data[this.#row * stride + d]!);
    return deficit;
  }
}

export interface Shortage {
  readonly left: Float64Array;
  readonly unitMissing: boolean;
}
