// Remainders: what rows leave over of the machines they count on, in lists by cluster, in the order they were entered.
// Later rows of the cluster borrow from them. All lists are parts of the same few arrays, which are used again after
// `clear`: a cycle has thousands of lists, and allocating them took as long as filling them. sharing.ts keeps lists for
// Phase 1 and lists of machines that drain; Phase 2 has such lists too.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { type FleetView, MAX_DIMENSIONS, type Pattern } from '../../fleet/index.ts';

/** Entries that a list has room for at first; it doubles with every move. */
const FIRST_ROOM = 16;
/** Masks in a line of the CPU cache, of 64 bytes. */
const MASKS_PER_LINE = 16;
/** A list of this many entries is never swept. */
const LEAST_SWEPT = 16;

// Numbers of a list in `#lists`: its first entry, the end of its entries, and the end of its room.
const START = 0;
const END = 1;
const ROOM = 2;
/** Entries that no row can use any more are dropped when there are more entries than this. */
const SWEEP_ABOVE = 3;
const NUMBERS = 4;

/** What a row borrows: machines, what it takes of each by dimension, and the sum of that. */
export class Borrowed {
  /** Number of machines. */
  count = 0;
  #slots = new Uint32Array(4);
  #amounts = new Float64Array(4 * MAX_DIMENSIONS);
  /** Valid if there is a machine. */
  readonly sum = new Float64Array(MAX_DIMENSIONS);

  clear(): void {
    this.count = 0;
  }

  /** Adds a machine, of which a row takes the first `dimensions` numbers of `amount`. */
  add(slot: number, amount: Float64Array, dimensions: number): void {
    const place = this.count++;
    if (place === this.#slots.length) {
      this.#slots = longer(this.#slots, this.count);
      this.#amounts = longer(this.#amounts, this.count * MAX_DIMENSIONS);
    }
    this.#slots[place] = slot;
    for (let d = 0; d < dimensions; d++) {
      this.#amounts[place * dimensions + d] = amount[d]!;
      this.sum[d] = place === 0 ? amount[d]! : this.sum[d]! + amount[d]!;
    }
  }

  /** Machine number `i`, in the order borrowed. */
  slotAt(i: number): number {
    return this.#slots[i]!;
  }

  /** What the row takes of machine number `i`. */
  amountAt(i: number, dimensions: number): Float64Array {
    return this.#amounts.slice(i * dimensions, (i + 1) * dimensions);
  }
}

export class Remainders {
  readonly #fleet: FleetView;
  #lists = new Uint32Array(0);
  /** Numbers used in `#lists`, and entries used in the other arrays. */
  #listsEnd = 0;
  #entriesEnd = 0;
  /** Dimensions of the fleet when all lists were cleared. */
  #dimensions = 0;
  /** By entry: the mask of the machine's class. Most entries are left out by it, so it is all that is read of them. */
  #masks = new Int32Array(0);
  /** By entry: what is left by dimension, then class and slot as two numbers of 32 bits, which `#ids` reads. */
  #entries = new Float64Array(0);
  #ids = new Uint32Array(0);

  readonly #rest = new Float64Array(MAX_DIMENSIONS);
  readonly #amount = new Float64Array(MAX_DIMENSIONS);

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
    for (let i = list; i < this.#listsEnd; i++) this.#lists[i] = 0;
    this.#lists[list + SWEEP_ABOVE] = LEAST_SWEPT;
    return list;
  }

  isEmpty(list: number): boolean {
    return this.#lists[list + START] === this.#lists[list + END];
  }

  /** Reads what `borrow` will read first, so that it is in the CPU cache; returns a number without meaning. */
  prefetch(list: number): number {
    const start = this.#lists[list + START]!;
    const end = this.#lists[list + END]!;
    let seen = 0;
    for (let entry = start; entry < end; entry += MASKS_PER_LINE) seen += this.#masks[entry]!;
    return seen;
  }

  /**
   * Lets a row take what it may use of the remainders of a list, until nothing of `want` is left; `want` shrinks by it and,
   * with `takes`, the remainders. `needed` is the smallest remainder that it can use, `dollars` those of its interruption
   * bucket. What it takes is added to `borrowed`.
   */
  borrow(
    list: number,
    pattern: Pattern,
    dollars: number,
    needed: Float64Array,
    want: Float64Array,
    takes: boolean,
    borrowed: Borrowed,
  ): void {
    const dimensions = this.#dimensions;
    const masks = this.#masks;
    const entries = this.#entries;
    const end = this.#lists[list + END]!;
    const { mask } = pattern;
    for (let entry = this.#lists[list + START]!; entry < end; entry++) {
      if ((masks[entry]! & mask) !== mask) continue;
      const at = entry * (dimensions + 1);
      let d = 0;
      while (d < dimensions && entries[at + d]! >= needed[d]!) d++;
      if (d < dimensions || !this.#mayUse(pattern, dollars, this.#classAt(at))) continue;
      if (!this.#take(at, want, takes)) continue;
      borrowed.add(this.#slotAt(at), this.#amount, dimensions);
      if (!isAboveZero(want, 0, dimensions)) return;
    }
  }

  #classAt(at: number): number {
    return this.#ids[2 * (at + this.#dimensions)]!;
  }

  #slotAt(at: number): number {
    return this.#ids[2 * (at + this.#dimensions) + 1]!;
  }

  /** Whether the machine matches a row, and an interruption would not cost the row more than the machine. */
  #mayUse(pattern: Pattern, dollars: number, classNumber: number): boolean {
    const { classes } = this.#fleet;
    if (!pattern.matches(classNumber)) return false;
    const probability = classes.probability[classNumber]!;
    return probability === 0 || probability * dollars <= classes.price[classNumber]!;
  }

  /** Moves the lesser of remainder and `want` to `#amount`, without `takes` only from `want`; returns whether it is anything. */
  #take(at: number, want: Float64Array, takes: boolean): boolean {
    const entries = this.#entries;
    let isAny = false;
    for (let d = 0; d < this.#dimensions; d++) {
      const amount = Math.min(entries[at + d]!, want[d]!);
      this.#amount[d] = amount;
      if (amount === 0) continue;
      isAny = true;
      want[d]! -= amount;
      if (takes) entries[at + d]! -= amount;
    }
    return isAny;
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
    const at = entry * (this.#dimensions + 1);
    const id = 2 * (at + this.#dimensions);
    this.#masks[entry] = this.#fleet.patterns.maskOf(classNumber);
    this.#ids[id] = classNumber;
    this.#ids[id + 1] = slot;
    for (let d = 0; d < this.#dimensions; d++) this.#entries[at + d] = this.#rest[d]!;
  }

  /** Moves a list to a place with twice its room; the old place is not used again before `clear`. */
  #move(list: number): void {
    const lists = this.#lists;
    const start = lists[list + START]!;
    const end = lists[list + END]!;
    const to = this.#entriesEnd;
    this.#entriesEnd += Math.max(FIRST_ROOM, 2 * (end - start));
    this.#reserve(this.#entriesEnd);
    for (let i = 0; i < end - start; i++) this.#copy(start + i, to + i);
    lists[list + START] = to;
    lists[list + END] = to + end - start;
    lists[list + ROOM] = this.#entriesEnd;
  }

  #reserve(entries: number): void {
    if (this.#masks.length < entries) this.#masks = longer(this.#masks, entries);
    const needed = entries * (this.#dimensions + 1);
    if (this.#entries.length >= needed) return;
    this.#entries = longer(this.#entries, needed);
    this.#ids = new Uint32Array(this.#entries.buffer);
  }

  /** Whether a list has enough entries for sweeping it to pay off. */
  isLong(list: number): boolean {
    return this.#lists[list + END]! - this.#lists[list + START]! > this.#lists[list + SWEEP_ABOVE]!;
  }

  /** Drops entries below `floors[at …]`, which no later row could use. */
  sweep(list: number, floors: ReadonlyColumn<Float64Array>, at: number): void {
    const lists = this.#lists;
    const start = lists[list + START]!;
    const stride = this.#dimensions + 1;
    let kept = start;
    for (let entry = start; entry < lists[list + END]!; entry++) {
      if (!covers(this.#entries, entry * stride, floors, at, this.#dimensions)) continue;
      if (entry !== kept) this.#copy(entry, kept);
      kept++;
    }
    lists[list + END] = kept;
    lists[list + SWEEP_ABOVE] = Math.max(LEAST_SWEPT, 2 * (kept - start));
  }

  #copy(from: number, to: number): void {
    const dimensions = this.#dimensions;
    const [at, target] = [from * (dimensions + 1), to * (dimensions + 1)];
    this.#masks[to] = this.#masks[from]!;
    for (let d = 0; d < dimensions; d++) this.#entries[target + d] = this.#entries[at + d]!;
    // Not as a double: some bit patterns are not preserved.
    this.#ids[2 * (target + dimensions)] = this.#classAt(at);
    this.#ids[2 * (target + dimensions) + 1] = this.#slotAt(at);
  }

  /** Remainders that match a row, and how many of them hold its largest pod. */
  countFor(
    list: number,
    row: number,
    pattern: Pattern,
  ): { readonly matching: number; readonly holdingUnit: number } {
    const count = this.#dimensions;
    const { demand, dimensions } = this.#fleet;
    const from = row * dimensions.stride;
    let matching = 0;
    let holdingUnit = 0;
    for (let entry = this.#lists[list + START]!; entry < this.#lists[list + END]!; entry++) {
      const at = entry * (count + 1);
      if (!isAboveZero(this.#entries, at, count) || !pattern.matches(this.#classAt(at))) continue;
      matching++;
      if (covers(this.#entries, at, demand.minUnit.data, from, count)) holdingUnit++;
    }
    return { matching, holdingUnit };
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

/** A copy of at least twice the length with room for `needed` numbers. */
function longer<T extends Int32Array | Uint32Array | Float64Array>(numbers: T, needed: number): T {
  const make = numbers.constructor as new (length: number) => T;
  const copy = new make(Math.max(needed, 2 * numbers.length));
  copy.set(numbers);
  return copy;
}
