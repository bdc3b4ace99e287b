// A binary min-heap. It is stable: entries of equal rank are popped in the order they were pushed, so that queues built
// on it behave identically in every run. Used by virtual-clock.ts and by the fake cloud (hazard.ts).

interface Entry<T> {
  readonly rank: number;
  readonly order: number;
  readonly value: T;
}

export class MinHeap<T> {
  readonly #entries: Entry<T>[] = [];
  #pushed = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** The smallest rank; undefined if the heap is empty. */
  get rank(): number | undefined {
    return this.#entries[0]?.rank;
  }

  push(rank: number, value: T): void {
    const entries = this.#entries;
    const entry = { rank, order: this.#pushed++, value };
    let at = entries.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): T | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first?.value;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && isBefore(entries[child + 1]!, entries[child]!)) child++;
      if (!isBefore(entries[child]!, last)) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = last;
    return first.value;
  }
}

function isBefore(a: Entry<unknown>, b: Entry<unknown>): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.order < b.order);
}
