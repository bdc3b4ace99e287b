// Batched changes to sorted runs. A single insert or removal moves half a run on average; applied one by one, the loss of
// a zone of a large fleet would take minutes. A batch only records removals and insertions, and at the end sweeps and
// merges each affected run once.

import type { Slice, SliceArena, SlotOrder } from './sorted-slices.ts';

/** In runs of at least `LONG` entries, up to `MOST_GAPS` removals are found by binary search; otherwise by a full scan. */
const LONG = 1024;
const MOST_GAPS = 1024;

export class SliceBatch {
  readonly #arena: SliceArena;
  /** By slot: 1 if it is to be removed. */
  readonly #isLeaving: Uint8Array;
  readonly #leaving: number[] = [];
  readonly #swept = new Set<Slice>();
  /** For long runs: positions in the arena of slots to be removed. */
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

  /** Cancels a pending arrival. Returns whether there was one; if so, the slot is in no run. */
  turnBack(slot: number): boolean {
    return this.#arriving.delete(slot);
  }

  /** Records the removal of a slot from a run. The columns that `order` reads must not have changed yet. */
  leave(run: Slice, slot: number, order: SlotOrder): void {
    if (this.#swept.has(run)) return;
    const gaps = this.#gaps.get(run) ?? [];
    if (run.length < LONG || gaps.length === MOST_GAPS) {
      this.#swept.add(run);
      this.#gaps.delete(run);
      return;
    }
    gaps.push(this.#arena.placeOf(run, slot, order, this.#isLeaving));
    this.#gaps.set(run, gaps);
  }

  /** Call once `leave` was called for every run of the slot; from here on the columns that orders read may change. */
  left(slot: number): void {
    this.#isLeaving[slot] = 1;
    this.#leaving.push(slot);
  }

  /** Removes all recorded slots. Every run is sorted again afterwards. */
  sweep(): void {
    for (const run of this.#swept) this.#arena.removeMarked(run, this.#isLeaving);
    for (const [run, gaps] of this.#gaps) this.#arena.removeAll(run, Uint32Array.from(gaps).sort());
    for (const slot of this.#leaving) this.#isLeaving[slot] = 0;
  }

  add(run: Slice, slot: number, order: SlotOrder): void {
    const arrivals = this.#arrivals.get(run);
    if (arrivals === undefined) this.#arrivals.set(run, { slots: [slot], order });
    else arrivals.slots.push(slot);
  }

  /** Inserts all slots recorded by `add`. */
  merge(): void {
    for (const [run, { slots, order }] of this.#arrivals) {
      this.#arena.insertAll(run, slots.sort(order), order);
    }
  }
}
