// Many changes to sorted runs at once. One by one, each change moves half a run; a lost zone of a large fleet would
// take minutes. In a batch, slots that leave are only marked and slots that arrive only noted; at the end each run
// concerned is swept once and merged once.

import type { Run, RunArena, SlotOrder } from './runs.ts';

/** In runs from this length on, slots that leave are looked up if they are no more than so many; else it is gone through. */
const LONG = 1024;
const MOST_GAPS = 1024;

export class RunBatch {
  readonly #arena: RunArena;
  /** By slot: 1 if it leaves. */
  readonly #isLeaving: Uint8Array;
  readonly #leaving: number[] = [];
  readonly #swept = new Set<Run>();
  /** Of long runs: the places that slots leave. */
  readonly #gaps = new Map<Run, number[]>();
  readonly #arriving = new Set<number>();
  readonly #arrivals = new Map<Run, { readonly slots: number[]; readonly order: SlotOrder }>();

  /** `marks`: zeros, by slot; they are so again after the sweep. */
  constructor(arena: RunArena, marks: Uint8Array) {
    this.#arena = arena;
    this.#isLeaving = marks;
  }

  /** Slots to be placed at the end. */
  get arriving(): Iterable<number> {
    return this.#arriving;
  }

  arrive(slot: number): void {
    this.#arriving.add(slot);
  }

  /** Whether the slot was to arrive; now it is not, and it stands in no run. */
  turnBack(slot: number): boolean {
    return this.#arriving.delete(slot);
  }

  /** The slot leaves this run. What the order reads of it must not have changed yet. */
  leave(run: Run, slot: number, order: SlotOrder): void {
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

  /** All runs that the slot stands in have been told that it leaves: from here on its order means nothing. */
  left(slot: number): void {
    this.#isLeaving[slot] = 1;
    this.#leaving.push(slot);
  }

  /** Takes all leaving slots out. From here on the order of what is left can be relied on. */
  sweep(): void {
    for (const run of this.#swept) this.#arena.removeMarked(run, this.#isLeaving);
    for (const [run, gaps] of this.#gaps) this.#arena.removeAll(run, Uint32Array.from(gaps).sort());
    for (const slot of this.#leaving) this.#isLeaving[slot] = 0;
  }

  add(run: Run, slot: number, order: SlotOrder): void {
    const arrivals = this.#arrivals.get(run);
    if (arrivals === undefined) this.#arrivals.set(run, { slots: [slot], order });
    else arrivals.slots.push(slot);
  }

  /** Puts all added slots in. */
  merge(): void {
    for (const [run, { slots, order }] of this.#arrivals) {
      this.#arena.insertAll(run, slots.sort(order), order);
    }
  }
}
