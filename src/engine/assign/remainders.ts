// Remainders: what rows leave over of the machines they count on, in lists by cluster, in the order they were entered.
// Later rows of the cluster borrow from them. All lists are parts of the same few arrays, which are used again after
// `clear`: a cycle has thousands of lists, and allocating them took as long as filling them. sharing.ts keeps lists for
// Phase 1 and lists of machines that drain; Phase 2 has such lists too.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { type FleetView, MAX_DIMENSIONS, type Pattern } from '../../fleet/index.ts';

/** Entries that a list has room for at first; it doubles with every move. */
const FIRST_ROOM = 16;
/** A list of this many entries is never swept. */
const LEAST_SWEPT = 16;

// Numbers of a list in `#lists`: its first entry, the end of its entries, and the end of its room.
const START = 0;
const END = 1;
const ROOM = 2;
/** Entries that no row can use any more are dropped when there are more entries than this. */
const SWEEP_ABOVE = 3;
const NUMBERS = 4;

export class Remainders {
  readonly #fleet: FleetView;
  #lists = new Uint32Array(0);
  /** Numbers used in `#lists`, and entries used in all other arrays. */
  #listsEnd = 0;
  #entriesEnd = 0;
  /** Dimensions of the fleet when all lists were cleared. */
  #dimensions = 0;
  /** By entry: the mask of the machine's class. Most entries are left out by it, so it is all that is read of them. */
  #masks = new Int32Array(0);
  #classes = new Uint32Array(0);
  #slots = new Uint32Array(0);
  /** By entry and dimension. */
  #left = new Float64Array(0);

  readonly #rest = new Float64Array(MAX_DIMENSIONS);
  readonly #needed = new Float64Array(MAX_DIMENSIONS);
  // The last `borrow`: machines, what was taken of each by dimension, and the sum of that.
  #found = 0;
  #foundSlots = new Uint32Array(FIRST_ROOM);
  #foundAmounts = new Float64Array(FIRST_ROOM * MAX_DIMENSIONS);
  readonly borrowed = new Float64Array(MAX_DIMENSIONS);

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  /** Drops all lists. */
  clear(): void {
    this.#listsEnd = 0;
    this.#entriesEnd = 0;
    this.#dimensions = this.#fleet.dimensions.count;
  }

  /** A new list without entries. */
  open(): number {
    const list = this.#listsEnd;
    this.#listsEnd += NUMBERS;
    if (this.#lists.length < this.#listsEnd) this.#lists = longer(this.#lists, this.#listsEnd);
    this.#lists.fill(0, list, this.#listsEnd);
    this.#lists[list + SWEEP_ABOVE] = LEAST_SWEPT;
    return list;
  }

  isEmpty(list: number): boolean {
    return this.#lists[list + START] === this.#lists[list + END];
  }

  /** Reads what `borrow` will read first, so that it is in the CPU cache; returns a number without meaning. */
  prefetch(list: number): number {
    const start = this.#lists[list + START]!;
    return start < this.#entriesEnd ? this.#masks[start]! + this.#left[start * this.#dimensions]! : 0;
  }

  /**
   * Lets a row take what it may use of the remainders of a list, until nothing of `want` is left; `want` shrinks by it and,
   * with `takes`, the remainders. `dollars` are those of its interruption bucket. Returns the number of machines: until the
   * next call, `machineAt` and `amountOf` have them, and `borrowed` the sum.
   */
  borrow(
    list: number,
    row: number,
    pattern: Pattern,
    dollars: number,
    want: Float64Array,
    takes: boolean,
  ): number {
    const dimensions = this.#dimensions;
    const masks = this.#masks;
    const left = this.#left;
    const end = this.#lists[list + END]!;
    const { mask } = pattern;
    const needed = this.#neededBy(row);
    this.#found = 0;
    for (let entry = this.#lists[list + START]!; entry < end; entry++) {
      if ((masks[entry]! & mask) !== mask) continue;
      const at = entry * dimensions;
      let d = 0;
      while (d < dimensions && left[at + d]! >= needed[d]!) d++;
      if (d < dimensions || !this.#mayUse(pattern, dollars, this.#classes[entry]!)) continue;
      if (this.#take(entry, want, takes) && !isAboveZero(want, dimensions)) break;
    }
    return this.#found;
  }

  /** The smallest remainder that a row can use: it holds its largest pod, and has some of everything that it wants. */
  #neededBy(row: number): Float64Array {
    const { demand, dimensions } = this.#fleet;
    const unit = demand.minUnit.data;
    const aggregate = demand.aggregate.data;
    const needed = this.#needed;
    const from = row * dimensions.stride;
    for (let d = 0; d < this.#dimensions; d++) needed[d] = neededOf(unit[from + d]!, aggregate[from + d]!);
    return needed;
  }

  /** Whether the machine matches a row, and an interruption would not cost the row more than the machine. */
  #mayUse(pattern: Pattern, dollars: number, classNumber: number): boolean {
    const { classes } = this.#fleet;
    if (!pattern.matches(classNumber)) return false;
    const probability = classes.probability[classNumber]!;
    return probability === 0 || probability * dollars <= classes.price[classNumber]!;
  }

  /** Takes the lesser of an entry and `want`, without `takes` only from `want`; returns whether it is anything. */
  #take(entry: number, want: Float64Array, takes: boolean): boolean {
    const dimensions = this.#dimensions;
    const left = this.#left;
    const at = entry * dimensions;
    const place = this.#found;
    if (place === this.#foundSlots.length) this.#makeRoom();
    let isAny = false;
    for (let d = 0; d < dimensions; d++) {
      const amount = Math.min(left[at + d]!, want[d]!);
      this.#foundAmounts[place * dimensions + d] = amount;
      this.borrowed[d] = place === 0 ? amount : this.borrowed[d]! + amount;
      if (amount === 0) continue;
      isAny = true;
      want[d]! -= amount;
      if (takes) left[at + d]! -= amount;
    }
    if (!isAny) return false;
    this.#foundSlots[place] = this.#slots[entry]!;
    this.#found++;
    return true;
  }

  #makeRoom(): void {
    this.#foundSlots = longer(this.#foundSlots, this.#found + 1);
    this.#foundAmounts = longer(this.#foundAmounts, (this.#found + 1) * MAX_DIMENSIONS);
  }

  /** Machine number `i` of the last `borrow`, in the order borrowed. */
  machineAt(i: number): number {
    return this.#foundSlots[i]!;
  }

  /** What the last `borrow` took of machine number `i`. */
  amountOf(i: number): Float64Array {
    return this.#foundAmounts.slice(i * this.#dimensions, (i + 1) * this.#dimensions);
  }

  /** Takes the machine's part of `want`, and enters what is left over of it. */
  fill(list: number, slot: number, classNumber: number, want: Float64Array): void {
    const { classes, dimensions } = this.#fleet;
    const offered = classes.allocatable.data;
    const from = classNumber * dimensions.stride;
    let isAny = false;
    for (let d = 0; d < this.#dimensions; d++) {
      const rest = offered[from + d]! - want[d]!;
      if (rest > 0) isAny = true;
      this.#rest[d] = Math.max(rest, 0);
      want[d] = Math.max(-rest, 0);
    }
    if (isAny) this.#enter(list, slot, classNumber);
  }

  /** Enters a machine of which `#rest` is left over. */
  #enter(list: number, slot: number, classNumber: number): void {
    const lists = this.#lists;
    if (lists[list + END] === lists[list + ROOM]) this.#move(list);
    const entry = lists[list + END]!++;
    this.#masks[entry] = this.#fleet.patterns.maskOf(classNumber);
    this.#classes[entry] = classNumber;
    this.#slots[entry] = slot;
    const at = entry * this.#dimensions;
    for (let d = 0; d < this.#dimensions; d++) this.#left[at + d] = this.#rest[d]!;
  }

  /** Moves a list to a place with twice its room; the old place is not used again before `clear`. */
  #move(list: number): void {
    const lists = this.#lists;
    const start = lists[list + START]!;
    const end = lists[list + END]!;
    const to = this.#entriesEnd;
    this.#entriesEnd += Math.max(FIRST_ROOM, 2 * (end - start));
    this.#reserve(this.#entriesEnd);
    for (const column of [this.#masks, this.#classes, this.#slots]) column.copyWithin(to, start, end);
    this.#left.copyWithin(to * this.#dimensions, start * this.#dimensions, end * this.#dimensions);
    lists[list + START] = to;
    lists[list + END] = to + end - start;
    lists[list + ROOM] = this.#entriesEnd;
  }

  #reserve(entries: number): void {
    if (this.#masks.length < entries) {
      this.#masks = longer(this.#masks, entries);
      this.#classes = longer(this.#classes, entries);
      this.#slots = longer(this.#slots, entries);
    }
    if (this.#left.length < entries * this.#dimensions)
      this.#left = longer(this.#left, entries * this.#dimensions);
  }

  /** Whether a list has enough entries for sweeping it to pay off. */
  isLong(list: number): boolean {
    return this.#lists[list + END]! - this.#lists[list + START]! > this.#lists[list + SWEEP_ABOVE]!;
  }

  /** Drops entries below `floors[at …]`, which no later row could use. */
  sweep(list: number, floors: ReadonlyColumn<Float64Array>, at: number): void {
    const lists = this.#lists;
    const start = lists[list + START]!;
    let kept = start;
    for (let entry = start; entry < lists[list + END]!; entry++) {
      if (!covers(this.#left, entry * this.#dimensions, floors, at, this.#dimensions)) continue;
      if (entry !== kept) this.#copy(entry, kept);
      kept++;
    }
    lists[list + END] = kept;
    lists[list + SWEEP_ABOVE] = Math.max(LEAST_SWEPT, 2 * (kept - start));
  }

  #copy(from: number, to: number): void {
    const dimensions = this.#dimensions;
    this.#masks[to] = this.#masks[from]!;
    this.#classes[to] = this.#classes[from]!;
    this.#slots[to] = this.#slots[from]!;
    for (let d = 0; d < dimensions; d++) this.#left[to * dimensions + d] = this.#left[from * dimensions + d]!;
  }

  /** Remainders that match a row, and how many of them hold its largest pod. */
  countFor(
    list: number,
    row: number,
    pattern: Pattern,
  ): { readonly matching: number; readonly holdingUnit: number } {
    const dimensions = this.#dimensions;
    const {
      demand,
      dimensions: { stride },
    } = this.#fleet;
    let matching = 0;
    let holdingUnit = 0;
    for (let entry = this.#lists[list + START]!; entry < this.#lists[list + END]!; entry++) {
      const at = entry * dimensions;
      const left = this.#left.subarray(at, at + dimensions);
      if (!isAboveZero(left, dimensions) || !pattern.matches(this.#classes[entry]!)) continue;
      matching++;
      if (covers(left, 0, demand.minUnit.data, row * stride, dimensions)) holdingUnit++;
    }
    return { matching, holdingUnit };
  }
}

/** The smallest remainder of a dimension that is of use: it must hold the largest pod, and have some of what is wanted. */
export function neededOf(unit: number, wanted: number): number {
  return unit === 0 && wanted > 0 ? 1 : unit;
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

/** A copy of at least twice the length with room for `needed` numbers. */
function longer<T extends Int32Array | Uint32Array | Float64Array>(numbers: T, needed: number): T {
  const make = numbers.constructor as new (length: number) => T;
  const copy = new make(Math.max(needed, 2 * numbers.length));
  copy.set(numbers);
  return copy;
}
