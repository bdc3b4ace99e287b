// Remainders of one cluster: what rows leave over of the machines they count on, in the order they were entered. Later
// rows of the cluster borrow from them. sharing.ts keeps one list for Phase 1, and one for machines that drain.

import { withRoom } from '../../collections/columns.ts';
import type { ReadonlyColumn } from '../../collections/table.ts';
import { type FleetView, MAX_DIMENSIONS, type Pattern } from '../../fleet/index.ts';

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

/** A list of this many entries is walked as it is. */
const LEAST_SWEPT = 16;

export class Remainders {
  readonly #fleet: FleetView;
  #slots = new Uint32Array(0);
  /** By entry: the class of the machine, which every row that finds it reads. */
  #classes = new Uint32Array(0);
  /** By entry and dimension. */
  #left = new Float64Array(0);
  readonly #amount = new Float64Array(MAX_DIMENSIONS);
  readonly #needed = new Float64Array(MAX_DIMENSIONS);
  #count = 0;
  /** Entries that no row can use any more are dropped when there are more entries than this. */
  #sweepAbove = LEAST_SWEPT;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
    this.#sweepAbove = LEAST_SWEPT;
  }

  /**
   * Lets a row take what it may use of the remainders, until nothing of `want` is left; both shrink by it. Entries below
   * `floor` may be dropped: no later row could use them.
   */
  borrow(borrower: Borrower, want: Float64Array, floor: Floor, borrowed: Borrowed): void {
    if (this.#count > this.#sweepAbove) this.#sweep(floor);
    this.#walk(borrower, want, true, borrowed);
  }

  /** What a row could take now, without taking it; reduces `want` only. */
  forecast(borrower: Borrower, want: Float64Array, borrowed: Borrowed): void {
    this.#walk(borrower, want, false, borrowed);
  }

  #walk(borrower: Borrower, want: Float64Array, takes: boolean, borrowed: Borrowed): void {
    const { stride, count: dimensions } = this.#fleet.dimensions;
    const left = this.#left;
    const needed = this.#neededBy(borrower.row);
    for (let entry = 0, at = 0; entry < this.#count; entry++, at += stride) {
      let d = 0;
      while (d < dimensions && left[at + d]! >= needed[d]!) d++;
      if (d < dimensions || !this.#mayUse(borrower, this.#classes[entry]!)) continue;
      if (!this.#take(at, want, takes)) continue;
      borrowed(this.#slots[entry]!, this.#amount);
      if (!isAboveZero(want, 0, dimensions)) return;
    }
  }

  /** The smallest remainder that a row can use: it holds its largest pod, and has some of everything that it wants. */
  #neededBy(row: number): Float64Array {
    const { demand, dimensions } = this.#fleet;
    const unit = demand.minUnit.data;
    const aggregate = demand.aggregate.data;
    const from = row * dimensions.stride;
    for (let d = 0; d < dimensions.count; d++)
      this.#needed[d] = Math.max(unit[from + d]!, aggregate[from + d]! > 0 ? 1 : 0);
    return this.#needed;
  }

  /** Drops entries below `floor`. */
  #sweep(floor: Floor): void {
    const { stride, count: dimensions } = this.#fleet.dimensions;
    let kept = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      if (covers(this.#left, entry * stride, floor.amounts, floor.at, dimensions))
        this.#move(entry, kept++, stride);
    }
    this.#count = kept;
    this.#sweepAbove = Math.max(LEAST_SWEPT, 2 * kept);
  }

  /**
   * Takes the machine's part of `want`, and enters what is left over of it unless that is below `floor`. Returns the part,
   * which is valid until the next call.
   */
  fill(slot: number, want: Float64Array, floor: Floor): Float64Array {
    const { classes, dimensions, machines } = this.#fleet;
    const { stride, count } = dimensions;
    const offered = classes.allocatable.data;
    const classNumber = machines.classOf[slot]!;
    const from = classNumber * stride;
    this.#slots = withRoom(this.#slots, this.#count + 1);
    this.#classes = withRoom(this.#classes, this.#count + 1);
    this.#left = withRoom(this.#left, (this.#count + 1) * stride);
    const at = this.#count * stride;
    for (let d = 0; d < count; d++) {
      const taken = Math.min(offered[from + d]!, want[d]!);
      this.#amount[d] = taken;
      want[d]! -= taken;
      this.#left[at + d] = offered[from + d]! - taken;
    }
    if (isAboveZero(this.#left, at, count) && covers(this.#left, at, floor.amounts, floor.at, count)) {
      this.#classes[this.#count] = classNumber;
      this.#slots[this.#count++] = slot;
    }
    return this.#amount;
  }

  /** Remainders that match a row, and how many of them hold its largest pod. */
  countFor({ pattern, row }: Borrower): { readonly matching: number; readonly holdingUnit: number } {
    const { stride, count: dimensions } = this.#fleet.dimensions;
    const { minUnit } = this.#fleet.demand;
    let matching = 0;
    let holdingUnit = 0;
    for (let entry = 0; entry < this.#count; entry++) {
      const at = entry * stride;
      const classNumber = this.#classes[entry]!;
      if (!isAboveZero(this.#left, at, dimensions) || !pattern.matches(classNumber)) continue;
      matching++;
      if (covers(this.#left, at, minUnit.data, row * stride, dimensions)) holdingUnit++;
    }
    return { matching, holdingUnit };
  }

  /** Whether the machine matches a row, and an interruption would not cost the row more than the machine. */
  #mayUse({ dollars, pattern }: Borrower, classNumber: number): boolean {
    const { classes } = this.#fleet;
    if (!pattern.matches(classNumber)) return false;
    const probability = classes.probability[classNumber]!;
    return probability === 0 || probability * dollars <= classes.price[classNumber]!;
  }

  /** Moves the lesser of remainder and `want` to `#amount`, without `takes` only from `want`; returns whether it is anything. */
  #take(at: number, want: Float64Array, takes: boolean): boolean {
    let isAny = false;
    for (let d = 0; d < this.#fleet.dimensions.count; d++) {
      const amount = Math.min(this.#left[at + d]!, want[d]!);
      this.#amount[d] = amount;
      if (amount === 0) continue;
      isAny = true;
      want[d]! -= amount;
      if (takes) this.#left[at + d]! -= amount;
    }
    return isAny;
  }

  #move(from: number, to: number, stride: number): void {
    if (from === to) return;
    this.#slots[to] = this.#slots[from]!;
    this.#classes[to] = this.#classes[from]!;
    for (let d = 0; d < stride; d++) this.#left[to * stride + d] = this.#left[from * stride + d]!;
  }
}

function isAboveZero(amounts: Float64Array, at: number, dimensions: number): boolean {
  for (let d = 0; d < dimensions; d++) if (amounts[at + d]! > 0) return true;
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
