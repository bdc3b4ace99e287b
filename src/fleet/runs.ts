// Sorted runs of machine slots, kept in order as machines come and go instead of being sorted every cycle. All runs
// share one arena on shared memory; a run that outgrows its place moves to one twice as large.

import { Blocks } from './blocks.ts';
import { extended, grownCapacity, sharedUint32 } from './columns.ts';

/** A sorted list of slots: `arena.data[offset … offset + length − 1]`. */
export interface Run {
  offset: number;
  length: number;
  capacity: number;
}

export type SlotOrder = (a: number, b: number) => number;

export class RunArena {
  data: Uint32Array = sharedUint32(0);
  readonly #blocks = new Blocks();

  newRun(): Run {
    return { offset: 0, length: 0, capacity: 0 };
  }

  get bytes(): number {
    return this.data.byteLength;
  }

  insert(run: Run, slot: number, order: SlotOrder): void {
    if (run.length === run.capacity) this.#enlarge(run);
    const at = this.#position(run, slot, order);
    this.data.copyWithin(at + 1, at, run.offset + run.length);
    this.data[at] = slot;
    run.length++;
  }

  /** Takes out a slot. Its place is found by the order, so what the order reads must not have changed yet. */
  remove(run: Run, slot: number, order: SlotOrder): void {
    const at = this.#position(run, slot, order);
    if (at >= run.offset + run.length || this.data[at] !== slot) {
      throw new Error(`slot ${slot} is not where its run should have it`);
    }
    this.data.copyWithin(at, at + 1, run.offset + run.length);
    run.length--;
  }

  /** Gives back the place of an empty run. */
  giveBack(run: Run): void {
    this.#blocks.giveBack(run);
    run.capacity = 0;
  }

  // The first place whose slot does not come before `slot`.
  #position(run: Run, slot: number, order: SlotOrder): number {
    let low = run.offset;
    let high = run.offset + run.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order(this.data[middle]!, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #enlarge(run: Run): void {
    const larger = this.#blocks.take(run.length + 1);
    if (this.#blocks.end > this.data.length) {
      this.data = extended(this.data, sharedUint32(grownCapacity(this.data.length, this.#blocks.end)));
    }
    this.data.copyWithin(larger.offset, run.offset, run.offset + run.length);
    this.#blocks.giveBack(run);
    run.offset = larger.offset;
    run.capacity = larger.capacity;
  }
}
