// Remainders of one cluster: what rows leave over of the machines they count on, in the order they were entered. Later
// rows of the cluster borrow from them. sharing.ts keeps one list for Phase 1, and one for machines that drain.

import { withRoom } from '../../collections/columns.ts';
import type { ReadonlyColumn } from '../../collections/table.ts';
import { type FleetView, MAX_DIMENSIONS, type Pattern, Serves } from '../../fleet/index.ts';

/** Smallest remainders worth keeping, by dimension, at an offset of a larger list. */
export interface Floor {
  readonly amounts: Float64Array;
  readonly at: number;
}

export interface Borrower {
  /** Row of demand. */
  readonly row: number;
  readonly pattern: Pattern;
  /** Dollars of its interruption bucket. */
  readonly dollars: number;
}

/** Called for each machine that a row borrows from; `amount` is valid during the call. */
export type Borrowed = (slot: number, amount: Float64Array) => void;

export class Remainders {
  readonly #fleet: FleetView;
  #slots = new Uint32Array(0);
  /** By entry and dimension. */
  #left = new Float64Array(0);
  readonly #amount = new Float64Array(MAX_DIMENSIONS);
  #count = 0;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
  }

  /**
   * Lets a row take what it may use of the remainders, until nothing of `want` is left; both shrink by it. Entries below
   * `floor` are dropped: no later row could use them.
   */
  borrow(borrower: Borrower, want: Float64Array, floor: Floor, borrowed: Borrowed): void {
    const { stride, count: dimensions } = this.#fleet.dimensions;
    let kept = 0;
    let entry = 0;
    for (; entry < this.#count && isAboveZero(want, dimensions); entry++) {
      const at = entry * stride;
      if (!covers(this.#left, at, floor.amounts, floor.at, dimensions)) continue;
      const slot = this.#slots[entry]!;
      if (this.#mayUse(borrower, slot, at, dimensions) && this.#take(at, want, dimensions))
        borrowed(slot, this.#amount);
      this.#move(entry, kept++, stride);
    }
    if (kept < entry) for (; entry < this.#count; entry++) this.#move(entry, kept++, stride);
    else kept = this.#count;
    this.#count = kept;
  }

  /** What a row could take now, without taking it; reduces `want` only. */
  forecast(borrower: Borrower, want: Float64Array, borrowed: Borrowed): void {
    const { stride, count: dimensions } = this.#fleet.dimensions;
    for (let entry = 0; entry < this.#count && isAboveZero(want, dimensions); entry++) {
      const at = entry * stride;
      if (!this.#mayUse(borrower, this.#slots[entry]!, at, dimensions)) continue;
      for (let d = 0; d < dimensions; d++) this.#amount[d] = Math.min(this.#left[at + d]!, want[d]!);
      if (!isAboveZero(this.#amount, dimensions)) continue;
      for (let d = 0; d < dimensions; d++) want[d]! -= this.#amount[d]!;
      borrowed(this.#slots[entry]!, this.#amount);
    }
  }

  /** Takes the machine's part of `want`, and enters what is left over of it unless that is below `floor`. */
  fill(slot: number, want: Float64Array, floor: Floor): void {
    const { classes, dimensions, machines } = this.#fleet;
    const { stride, count } = dimensions;
    const offered = classes.allocatable.data;
    const from = machines.classOf[slot]! * stride;
    this.#slots = withRoom(this.#slots, this.#count + 1);
    this.#left = withRoom(this.#left, (this.#count + 1) * stride);
    const at = this.#count * stride;
    let isZero = true;
    for (let d = 0; d < count; d++) {
      const taken = Math.min(offered[from + d]!, want[d]!);
      want[d]! -= taken;
      const left = offered[from + d]! - taken;
      this.#left[at + d] = left;
      if (left > 0) isZero = false;
    }
    if (isZero || !covers(this.#left, at, floor.amounts, floor.at, count)) return;
    this.#slots[this.#count++] = slot;
  }

  /** Remainders that match a row, and how many of them hold its largest pod. */
  countFor({ pattern, row }: Borrower): { readonly matching: number; readonly holdingUnit: number } {
    const { stride, count: dimensions } = this.#fleet.dimensions;
    const { minUnit } = this.#fleet.demand;
    let matching = 0;
    let holdingUnit = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      const at = entry * stride;
      const classNumber = this.#fleet.machines.classOf[this.#slots[entry]!]!;
      let isZero = true;
      for (let d = 0; d < dimensions; d++) if (this.#left[at + d]! > 0) isZero = false;
      if (isZero || !pattern.matches(classNumber)) continue;
      matching++;
      if (covers(this.#left, at, minUnit.data, row * stride, dimensions)) holdingUnit++;
    }
    return { matching, holdingUnit };
  }

  /**
   * Whether a row may use an entry: the remainder holds its largest pod and has some of everything it wants, the machine
   * matches, and an interruption would not cost the row more than the machine.
   */
  #mayUse({ dollars, pattern, row }: Borrower, slot: number, at: number, dimensions: number): boolean {
    const { classes, demand, dimensions: table, machines } = this.#fleet;
    const unit = demand.minUnit.data;
    const aggregate = demand.aggregate.data;
    const from = row * table.stride;
    for (let d = 0; d < dimensions; d++) {
      const left = this.#left[at + d]!;
      if (left < unit[from + d]! || (left === 0 && aggregate[from + d]! > 0)) return false;
    }
    const classNumber = machines.classOf[slot]!;
    if (pattern.servesAs(classNumber) === Serves.Not) return false;
    const probability = classes.probability[classNumber]!;
    return probability === 0 || probability * dollars <= classes.price[classNumber]!;
  }

  /** Takes the lesser of remainder and `want` into `#amount`; returns whether it is anything. */
  #take(at: number, want: Float64Array, dimensions: number): boolean {
    let isAny = false;
    for (let d = 0; d < dimensions; d++) {
      const amount = Math.min(this.#left[at + d]!, want[d]!);
      this.#amount[d] = amount;
      if (amount === 0) continue;
      isAny = true;
      want[d]! -= amount;
      this.#left[at + d]! -= amount;
    }
    return isAny;
  }

  #move(from: number, to: number, stride: number): void {
    if (from === to) return;
    this.#slots[to] = this.#slots[from]!;
    for (let d = 0; d < stride; d++) this.#left[to * stride + d] = this.#left[from * stride + d]!;
  }
}

function isAboveZero(amounts: Float64Array, dimensions: number): boolean {
  for (let d = 0; d < dimensions; d++) if (amounts[d]! > 0) return true;
  return false;
}

function covers(
  have: Float64Array,
  at: number,
  want: ReadonlyColumn<Float64Array>,
  from: number,
  dimensions: number,
): boolean {
  for (let d = 0; d < dimensions; d++) if (have[at + d]! < want[from + d]!) return false;
  return true;
}
