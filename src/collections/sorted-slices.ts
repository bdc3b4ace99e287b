// Sorted slices of machine slots, maintained incrementally instead of being sorted every cycle. All share one arena on
// shared memory; a slice that outgrows its block moves to the next power of two. Used by machine-table.ts.

import { Blocks } from './blocks.ts';
import { ColumnGroup } from './table.ts';

/** A sorted list of slots: `arena.data[offset … offset + length − 1]`. */
export interface Slice {
  offset: number;
  length: number;
  capacity: number;
}

export type SlotOrder = (a: number, b: number) => number;

export class SliceArena {
  readonly entries = new ColumnGroup(this);
  readonly data = this.entries.u32();
  readonly #blocks = new Blocks();

  newSlice(): Slice {
    return { offset: 0, length: 0, capacity: 0 };
  }

  get bytes(): number {
    return this.data.byteLength;
  }

  insert(slice: Slice, slot: number, order: SlotOrder): void {
    this.#enlarge(slice, slice.length + 1);
    const at = this.#position(slice, slice.length, slot, order);
    this.data.copyWithin(at + 1, at, slice.offset + slice.length);
    this.data[at] = slot;
    slice.length++;
  }

  /** Removes a slot, found by binary search: the columns that `order` reads must not have changed yet. */
  remove(slice: Slice, slot: number, order: SlotOrder): void {
    const at = this.#position(slice, slice.length, slot, order);
    if (at >= slice.offset + slice.length || this.data[at] !== slot) {
      throw new Error(`slot ${slot} is not where its slice should have it`);
    }
    this.data.copyWithin(at, at + 1, slice.offset + slice.length);
    slice.length--;
  }

  /** Inserts many sorted slots; every entry moves at most once. */
  insertAll(slice: Slice, slots: readonly number[], order: SlotOrder): void {
    this.#enlarge(slice, slice.length + slots.length);
    let unmoved = slice.length;
    for (let rest = slots.length - 1; rest >= 0; rest--) {
      const slot = slots[rest]!;
      const at = this.#position(slice, unmoved, slot, order);
      this.data.copyWithin(at + rest + 1, at, slice.offset + unmoved);
      this.data[at + rest] = slot;
      unmoved = at - slice.offset;
    }
    slice.length += slots.length;
  }

  /** Removes all marked slots with a scan; their columns may have changed. */
  removeMarked(slice: Slice, marked: Uint8Array): void {
    let kept = slice.offset;
    for (let at = slice.offset; at < slice.offset + slice.length; at++) {
      const slot = this.data[at]!;
      if (marked[slot] === 0) this.data[kept++] = slot;
    }
    slice.length = kept - slice.offset;
  }

  /** `removeMarked`, which returns the removed slots in order. */
  takeMarked(slice: Slice, marked: Uint8Array): number[] {
    const removed: number[] = [];
    let kept = slice.offset;
    for (let at = slice.offset; at < slice.offset + slice.length; at++) {
      const slot = this.data[at]!;
      if (marked[slot] === 0) this.data[kept++] = slot;
      else removed.push(slot);
    }
    slice.length = kept - slice.offset;
    return removed;
  }

  /** Removes the slots at the given ascending indexes of the arena; every entry moves at most once. */
  removeAll(slice: Slice, places: Uint32Array): void {
    const end = slice.offset + slice.length;
    let kept = places[0]!;
    for (let i = 0; i < places.length; i++) {
      const next = places[i + 1] ?? end;
      this.data.copyWithin(kept, places[i]! + 1, next);
      kept += next - places[i]! - 1;
    }
    slice.length -= places.length;
  }

  /** Arena index of an unmarked slot. Skips marked slots, whose columns may have changed. */
  placeOf(slice: Slice, slot: number, order: SlotOrder, marked: Uint8Array): number {
    let low = slice.offset;
    let high = slice.offset + slice.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      let probe = middle;
      while (probe < high && marked[this.data[probe]!] === 1) probe++;
      if (this.data[probe] === slot && probe < high) return probe;
      if (probe < high && order(this.data[probe]!, slot) < 0) low = probe + 1;
      else high = middle;
    }
    throw new Error(`slot ${slot} is not where its slice should have it`);
  }

  /** Frees the block of an empty slice. */
  giveBack(slice: Slice): void {
    this.#blocks.giveBack(slice);
    slice.capacity = 0;
  }

  // Lower bound of `slot` among the first `length` entries.
  #position(slice: Slice, length: number, slot: number, order: SlotOrder): number {
    let low = slice.offset;
    let high = slice.offset + length;
    // Fast path: in slices sorted by time, new entries belong at the end.
    if (length > 0 && order(this.data[high - 1]!, slot) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order(this.data[middle]!, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #enlarge(slice: Slice, needed: number): void {
    if (needed <= slice.capacity) return;
    const larger = this.#blocks.take(needed);
    this.entries.reserve(this.#blocks.end);
    this.data.copyWithin(larger.offset, slice.offset, slice.offset + slice.length);
    this.#blocks.giveBack(slice);
    slice.offset = larger.offset;
    slice.capacity = larger.capacity;
  }
}
