// Stores equal values once. Clusters of a fleet ask for the same few shapes hundreds of thousands of times; one object
// for each would be most of the heap of a process, and most of the work of its garbage collector. Used for roll-ups
// (wire/codec/intake.ts).

/** Entries per generation: a value is found again if fewer distinct values than this were looked up in between. */
const DEFAULT_SIZE = 16_384;

/**
 * A cache in two generations: when the young one is full it replaces the old one, which evicts the entries that were not
 * looked up since the last replacement. Sharing only saves memory; callers must not rely on identity.
 */
export class Interner<T> {
  readonly #size: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(size: number = DEFAULT_SIZE) {
    this.#size = size;
  }

  /** The cached value of a text; on a miss, caches and returns `value`. */
  share(text: string, value: T): T {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const shared = this.#old.get(text) ?? value;
    if (this.#young.size >= this.#size) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, shared);
    return shared;
  }

  /** Cached entries in both generations, at most 2 × size. */
  get length(): number {
    return this.#young.size + this.#old.size;
  }
}
