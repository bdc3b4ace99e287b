// Batched changes to sorted slices. A single insert or removal moves half a slice on average; applied one by one, the
// loss of a zone of a large fleet would take minutes. A batch only records removals and insertions, and at the end
// sweeps and merges each affected slice once. Used by machine-table.ts in a commit.

import type { Slice, SliceArena, SlotOrder } from './sorted-slices.ts';

/** In slices of at least `LONG` entries, up to `MOST_GAPS` removals are found by binary search; otherwise by a full scan. */
const LONG = 1024;
const MOST_GAPS = 1024;

export class SliceBatch {
  readonly #arena: SliceArena;
  /** By slot: 1 if it is to be removed. */
  readonly #isLeaving: Uint8Array;
  readonly #leaving: number[] = [];
  readonly #swept = new Set<Slice>();
  /** For long slices: positions in the arena of slots to be removed. */
  readonly #gaps = new Map<Slice, number[]>();
  readonly #arriving = new Set<number>();
  readonly #arrivals = new Map<Slice, { readonly slots: number[]; readonly order: SlotOrder }>();

  /** `marks` is a scratch array by slot, all zero; `sweep` resets it to zero. */
  constructor(arena: SliceArena, marks: Uint8Array) {
    this.#arena = arena;
    this.#isLeaving = marks;
  }

  /** Slots to be inserted at the end of the batch. */
  get arriving(): Iterable<number> {
    return this.#arriving;
  }

  arrive(slot: number): void {
    this.#arriving.add(slot);
  }

  /** Cancels a pending arrival. Returns whether there was one; if so, the slot is in no slice. */
  turnBack(slot: number): boolean {
    return this.#arriving.delete(slot);
  }

  /** Records the removal of a slot from a slice. The columns that `order` reads must not have changed yet. */
  leave(slice: Slice, slot: number, order: SlotOrder): void {
    if (this.#swept.has(slice)) return;
    const gaps = this.#gaps.get(slice) ?? [];
    if (slice.length < LONG || gaps.length === MOST_GAPS) {
      this.#swept.add(slice);
      this.#gaps.delete(slice);
      return;
    }
    gaps.push(this.#arena.placeOf(slice, slot, order, this.#isLeaving));
    this.#gaps.set(slice, gaps);
  }

  /** Call once `leave` was called for every slice of the slot; from here on the columns that orders read may change. */
  left(slot: number): void {
    this.#isLeaving[slot] = 1;
    this.#leaving.push(slot);
  }

  /** Removes all recorded slots. Every slice is sorted again afterwards. */
  sweep(): void {
    for (const slice of this.#swept) this.#arena.removeMarked(slice, this.#isLeaving);
    for (const [slice, gaps] of this.#gaps) this.#arena.removeAll(slice, Uint32Array.from(gaps).sort());
    for (const slot of this.#leaving) this.#isLeaving[slot] = 0;
  }

  add(slice: Slice, slot: number, order: SlotOrder): void {
    const arrivals = this.#arrivals.get(slice);
    if (arrivals === undefined) this.#arrivals.set(slice, { slots: [slot], order });
    else arrivals.slots.push(slot);
  }

  /** Inserts all slots recorded by `add`. */
  merge(): void {
    for (const [slice, { slots, order }] of this.#arrivals) {
      this.#arena.insertAll(slice, slots.sort(order), order);
    }
  }
}
