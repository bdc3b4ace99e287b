// A free-list allocator of power-of-two blocks in one growing range of indexes. Used by sorted-slices.ts,
// demand-ledger.ts and the engine's regions.ts.

export interface Block {
  readonly offset: number;
  readonly capacity: number;
}

const SMALLEST = 1;

export class Blocks {
  readonly #free = new Map<number, number[]>();
  /** One more than the largest index allocated so far. */
  end = 0;

  /** A block for at least `length` entries. */
  take(length: number): Block {
    let capacity = SMALLEST;
    while (capacity < length) capacity *= 2;
    let offset = this.#freeOf(capacity).pop();
    if (offset === undefined) {
      offset = this.end;
      this.end += capacity;
    }
    return { offset, capacity };
  }

  giveBack(block: Block): void {
    if (block.capacity > 0) this.#freeOf(block.capacity).push(block.offset);
  }

  #freeOf(capacity: number): number[] {
    let offsets = this.#free.get(capacity);
    if (offsets === undefined) {
      offsets = [];
      this.#free.set(capacity, offsets);
    }
    return offsets;
  }
}
