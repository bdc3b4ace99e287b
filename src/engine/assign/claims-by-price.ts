// The machines that a row counts on, in the order in which it fills them: the first that holds its largest pod, unless the
// row borrowed, then the others, each by price and id. So what it leaves over depends only on the set of machines. Part of
// sharing.ts; one instance serves all rows.

import { withRoom } from '../../collections/columns.ts';
import type { Cycle } from '../cycle.ts';
import type { Remainders } from './remainders.ts';

/** Lists up to this length are sorted by insertion: they are mostly in order, or nearly so. */
const SHORT = 32;

/** Receives what was taken of a machine. */
export type Filled = (slot: number, amount: Float64Array) => void;

export class ClaimsByPrice {
  readonly #cycle: Cycle;
  #slots = new Uint32Array(SHORT);
  #classes = new Uint32Array(SHORT);
  #count = 0;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Loads the claims of a ranked row, and returns their number. */
  load(rankedRow: number): number {
    const { laterEnd, laterStart } = this.#cycle.claims;
    return this.loadFrom(rankedRow, laterStart[rankedRow]!, laterEnd[rankedRow]!);
  }

  /** The result of `load` for a ranked row that has acquired the machines in a part of `claims.slots`. */
  loadFrom(rankedRow: number, from: number, to: number): number {
    const { acquiredClasses, creditEnd, creditStart, slots } = this.#cycle.claims;
    const credits = creditEnd[rankedRow]! - creditStart[rankedRow]!;
    this.#begin(credits + to - from);
    for (let i = 0; i < credits; i++) this.#set(i, slots[creditStart[rankedRow]! + i]!);
    for (let i = credits; i < this.#count; i++) {
      this.#slots[i] = slots[from + i - credits]!;
      this.#classes[i] = acquiredClasses[from + i - credits]!;
    }
    return this.#count;
  }

  /** Loads a list of machines. */
  loadList(slots: readonly number[]): void {
    this.#begin(slots.length);
    for (let i = 0; i < this.#count; i++) this.#set(i, slots[i]!);
  }

  #begin(count: number): void {
    this.#count = count;
    this.#slots = withRoom(this.#slots, count);
    this.#classes = withRoom(this.#classes, count);
  }

  #set(i: number, slot: number): void {
    this.#slots[i] = slot;
    this.#classes[i] = this.#cycle.fleet.machines.classOf[slot]!;
  }

  /** Takes `want` of the machines in order, and enters in a list what is left over of each. `filled` receives what was taken. */
  fill(
    rankedRow: number,
    hasBorrowed: boolean,
    lists: Remainders,
    list: number,
    want: Float64Array,
    filled?: Filled,
  ): void {
    if (this.#count > 1) {
      this.#sort();
      if (!hasBorrowed) this.#moveUnitFirst(rankedRow);
    }
    for (let i = 0; i < this.#count; i++) {
      const before = filled === undefined ? null : want.slice();
      lists.fill(list, this.#slots[i]!, this.#classes[i]!, want);
      if (before !== null)
        filled!(
          this.#slots[i]!,
          before.map((amount, d) => amount - want[d]!),
        );
    }
  }

  #sort(): void {
    for (let i = 1; i < this.#count; i++) {
      if (!this.#isBefore(i, i - 1)) continue;
      if (this.#count > SHORT) {
        this.#sortLong();
        return;
      }
      for (let j = i; j > 0 && this.#isBefore(j, j - 1); j--) this.#swap(j, j - 1);
    }
  }

  #isBefore(i: number, j: number): boolean {
    const { classes, machines } = this.#cycle.fleet;
    const price = classes.price[this.#classes[i]!]! - classes.price[this.#classes[j]!]!;
    return price === 0 ? machines.ordinal[this.#slots[i]!]! < machines.ordinal[this.#slots[j]!]! : price < 0;
  }

  #swap(i: number, j: number): void {
    const slot = this.#slots[i]!;
    this.#set(i, this.#slots[j]!);
    this.#set(j, slot);
  }

  #sortLong(): void {
    const { classes, machines } = this.#cycle.fleet;
    const priceOf = (slot: number): number => classes.price[machines.classOf[slot]!]!;
    const sorted = this.#slots
      .subarray(0, this.#count)
      .sort((a, b) => priceOf(a) - priceOf(b) || machines.ordinal[a]! - machines.ordinal[b]!);
    for (let i = 0; i < this.#count; i++) this.#set(i, sorted[i]!);
  }

  /** Moves the first machine that holds the row's largest pod to the front; the others keep their order. */
  #moveUnitFirst(rankedRow: number): void {
    const pattern = this.#cycle.patternOf(rankedRow);
    for (let i = 0; i < this.#count; i++) {
      if (!pattern.fits(this.#classes[i]!)) continue;
      const slot = this.#slots[i]!;
      const classNumber = this.#classes[i]!;
      this.#slots.copyWithin(1, 0, i);
      this.#classes.copyWithin(1, 0, i);
      this.#slots[0] = slot;
      this.#classes[0] = classNumber;
      return;
    }
  }
}
