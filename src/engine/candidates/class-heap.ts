// Classes of one kind with machines of equal cost, as a heap by the first remaining machine of each: its first is the
// class to take from next. Patterns that can use the same classes share the heap, so that a taken machine is processed
// once and not once per pattern. Used by candidate-list.ts and class-availability.ts.

/** Greater than every ordinal. */
export const NOTHING_LEFT = 0x7fffffff;

interface Left {
  /** Counts cycles: in a new one all machines are available again. */
  readonly cycle: number;
  /** Machines taken from a class in this cycle. */
  takenFrom(classNumber: number): number;
  /** Ordinal (position in id order) of the first remaining machine of a class, or NOTHING_LEFT. */
  firstOrdinalOf(classNumber: number): number;
}

/**
 * The heap is a tournament tree: each leaf is a class, and each inner node holds the lower of its two children. A class
 * with a taken machine is replayed from its leaf to the root. That always takes as many steps as the tree is high, but
 * without branches on the outcome, which the processor would mispredict half of the time.
 */
export class Heap {
  readonly #left: Left;
  readonly #classes: Uint32Array;
  /** By class: the number taken when its first machine was last read. The first machine changes only when one is taken. */
  readonly #taken: Int32Array;
  /** By node, the root being 1: the lowest first machine below it. Leaves follow all inner nodes. */
  readonly #tree: Int32Array;
  readonly #leaves: number;
  /** Index of the winner among the classes. */
  #winner = 0;
  /** The last cycle in which it was used. */
  cycle = 0;

  constructor(left: Left, classes: Uint32Array) {
    this.#left = left;
    this.#classes = classes.slice();
    this.#taken = new Int32Array(classes.length);
    this.#leaves = 2 ** Math.ceil(Math.log2(classes.length));
    this.#tree = new Int32Array(2 * this.#leaves).fill(NOTHING_LEFT);
  }

  /** The lowest first machine of all classes, by ordinal; NOTHING_LEFT if there is none. Updates `first`. */
  lowest(): number {
    if (this.cycle !== this.#left.cycle) this.#build();
    for (;;) {
      const place = this.#winner;
      const c = this.#classes[place]!;
      const taken = this.#left.takenFrom(c);
      if (taken === this.#taken[place]) return this.#tree[1]!;
      this.#taken[place] = taken;
      this.#replay(place, this.#left.firstOrdinalOf(c));
    }
  }

  /** The class with the lowest first machine, as of the last call of `lowest`. */
  get first(): number {
    return this.#classes[this.#winner]!;
  }

  #build(): void {
    this.cycle = this.#left.cycle;
    const tree = this.#tree;
    for (let place = 0; place < this.#classes.length; place++) {
      const c = this.#classes[place]!;
      tree[this.#leaves + place] = this.#left.firstOrdinalOf(c);
      this.#taken[place] = this.#left.takenFrom(c);
    }
    for (let node = this.#leaves - 1; node > 0; node--)
      tree[node] = lower(tree[2 * node]!, tree[2 * node + 1]!);
    this.#findWinner();
  }

  /** Updates the tree after the first machine of a class changed. */
  #replay(place: number, ordinal: number): void {
    const tree = this.#tree;
    let lowest = ordinal;
    let node = this.#leaves + place;
    for (; node > 1; node >>= 1) {
      tree[node] = lowest;
      lowest = lower(lowest, tree[node ^ 1]!);
    }
    tree[node] = lowest;
    this.#findWinner();
  }

  #findWinner(): void {
    const tree = this.#tree;
    const lowest = tree[1]!;
    let node = 1;
    // Left if the winner came from there, else right. If nothing is left, this ends at the first leaf, which always has a
    // class.
    while (node < this.#leaves) node = 2 * node + ((lowest - tree[2 * node]!) >>> 31);
    this.#winner = node - this.#leaves;
  }
}

/** The lower of two ordinals, without a branch. */
function lower(a: number, b: number): number {
  return b + ((a - b) & ((a - b) >> 31));
}

/**
 * Several heaps as one. Within a cycle machines are taken and not returned, so the lowest of a heap only rises: a value
 * read earlier is a lower bound, and only the heap with the lowest bound has to be read.
 */
export class Heaps {
  readonly #heaps: Heap[];
  /** By index: a lower bound of the heap there; the bounds themselves form a heap. */
  readonly #bounds: Int32Array;
  /** The last cycle in which they were used. */
  cycle = 0;

  constructor(heaps: readonly Heap[]) {
    this.#heaps = [...heaps];
    this.#bounds = new Int32Array(heaps.length);
  }

  /** The class with the lowest first machine; -1 if nothing is left. */
  first(cycle: number): number {
    if (this.cycle !== cycle) this.#build(cycle);
    for (;;) {
      const heap = this.#heaps[0]!;
      const lowest = heap.lowest();
      if (lowest === NOTHING_LEFT && this.#bounds[0] === NOTHING_LEFT) return -1;
      if (lowest === this.#bounds[0]) return heap.first;
      this.#sink(0, heap, lowest);
    }
  }

  #build(cycle: number): void {
    this.cycle = cycle;
    for (let i = 0; i < this.#heaps.length; i++) this.#bounds[i] = this.#heaps[i]!.lowest();
    for (let i = (this.#heaps.length >> 1) - 1; i >= 0; i--) {
      this.#sink(i, this.#heaps[i]!, this.#bounds[i]!);
    }
  }

  #sink(place: number, heap: Heap, bound: number): void {
    const bounds = this.#bounds;
    let at = place;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= bounds.length) break;
      if (child + 1 < bounds.length && bounds[child + 1]! < bounds[child]!) child++;
      if (bounds[child]! >= bound) break;
      this.#heaps[at] = this.#heaps[child]!;
      bounds[at] = bounds[child]!;
      at = child;
    }
    this.#heaps[at] = heap;
    bounds[at] = bound;
  }
}
