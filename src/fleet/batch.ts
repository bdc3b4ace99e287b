// Many changes to sorted runs at once. One by one, each change moves half a run; a lost zone of a large fleet would
// take minutes. In a batch, slots that leave are only marked and slots that arrive only noted; at the end each run
// concerned is swept once and merged once.

import type { Run, RunArena, SlotOrder } from './runs.ts';

export class RunBatch {
  readonly #arena: RunArena;
  readonly #leaving: Uint8Array;
  readonly #swept = new Set<Run>();
  readonly #arriving = new Set<number>();
  readonly #arrivals = new Map<Run, { readonly slots: number[]; readonly order: SlotOrder }>();

  /** `size`: one more than the largest slot that stands in a run. */
  constructor(arena: RunArena, size: number) {
    this.#arena = arena;
    this.#leaving = new Uint8Array(size);
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

  /** The slot leaves this run, and every other that it stands in is told the same. */
  leave(run: Run, slot: number): void {
    this.#leaving[slot] = 1;
    this.#swept.add(run);
  }

  /** Takes all leaving slots out. From here on the order of what is left can be relied on. */
  sweep(): void {
    for (const run of this.#swept) this.#arena.removeMarked(run, this.#leaving);
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
