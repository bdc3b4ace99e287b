// Classes of one kind whose machines cost the same, as a heap by the first machine that is left of each: the first is
// the class to take from next. Patterns that can use the same classes share the heap, so that a machine taken is
// noticed once and not once per pattern.

/** Comes after every ordinal. */
export const NOTHING_LEFT = 0xffffffff;

/** What is left of each class. */
interface Left {
  /** Counts cycles: in a new one everything is back. */
  readonly cycle: number;
  /** Machines taken from a class in this cycle. */
  takenFrom(classNumber: number): number;
  /** The place in id order of the first machine of a class, or NOTHING_LEFT. */
  firstOrdinalOf(classNumber: number): number;
}

export class Heap {
  readonly #left: Left;
  readonly #classes: Uint32Array;
  /** By place: the first machine when last looked at, and how many were taken by then. Only what is taken changes it. */
  readonly #ordinals: Uint32Array;
  readonly #taken: Int32Array;
  /** The last cycle it was of use in. */
  cycle = 0;

  constructor(left: Left, classes: Uint32Array) {
    this.#left = left;
    this.#classes = classes.slice();
    this.#ordinals = new Uint32Array(classes.length);
    this.#taken = new Int32Array(classes.length);
  }

  /** The lowest first machine of all classes, by ordinal; NOTHING_LEFT if there is none. Settles `first`. */
  lowest(): number {
    if (this.cycle !== this.#left.cycle) this.#build();
    for (;;) {
      const c = this.#classes[0]!;
      const taken = this.#left.takenFrom(c);
      if (taken === this.#taken[0]) return this.#ordinals[0]!;
      this.#sink(0, c, this.#left.firstOrdinalOf(c), taken);
    }
  }

  /** The class with the lowest first machine, as `lowest` found it. */
  get first(): number {
    return this.#classes[0]!;
  }

  #build(): void {
    this.cycle = this.#left.cycle;
    const { length } = this.#classes;
    for (let i = 0; i < length; i++) {
      this.#ordinals[i] = this.#left.firstOrdinalOf(this.#classes[i]!);
      this.#taken[i] = this.#left.takenFrom(this.#classes[i]!);
    }
    for (let i = (length >> 1) - 1; i >= 0; i--) {
      this.#sink(i, this.#classes[i]!, this.#ordinals[i]!, this.#taken[i]!);
    }
  }

  /** Puts a class at a place, or as far below as it belongs. */
  #sink(place: number, classNumber: number, ordinal: number, taken: number): void {
    const ordinals = this.#ordinals;
    let at = place;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= ordinals.length) break;
      if (child + 1 < ordinals.length && ordinals[child + 1]! < ordinals[child]!) child++;
      if (ordinals[child]! >= ordinal) break;
      this.#classes[at] = this.#classes[child]!;
      ordinals[at] = ordinals[child]!;
      this.#taken[at] = this.#taken[child]!;
      at = child;
    }
    this.#classes[at] = classNumber;
    ordinals[at] = ordinal;
    this.#taken[at] = taken;
  }
}

/**
 * Several heaps as one. Within a cycle machines are taken and never come back, so the lowest of a heap only rises: what
 * was once seen of it is a bound, and only the heap with the lowest bound has to be looked at.
 */
export class Heaps {
  readonly #heaps: Heap[];
  /** By place: a bound of the heap there; the places form a heap themselves. */
  readonly #bounds: Uint32Array;
  /** The last cycle they were of use in. */
  cycle = 0;

  constructor(heaps: readonly Heap[]) {
    this.#heaps = [...heaps];
    this.#bounds = new Uint32Array(heaps.length);
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
