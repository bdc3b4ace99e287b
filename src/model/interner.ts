// Equal values kept once. Clusters of a fleet ask for the same few shapes hundreds of thousands of times over; an object
// for each would be most of what a process holds, and what its collector walks.

/** Values that are looked up again before so many others have been are found. */
const DEFAULT_SIZE = 16_384;

/**
 * Keeps what was asked for lately, in two generations: when the young one is full it becomes the old one, and what the
 * old one held and nobody has asked for since is forgotten. Sharing saves memory and means nothing else.
 */
export class Interner<T> {
  readonly #size: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(size: number = DEFAULT_SIZE) {
    this.#size = size;
  }

  /** The value that was first given with a text, while it is remembered; `value` itself otherwise. */
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

  /** Values that are remembered, at most twice the size. */
  get length(): number {
    return this.#young.size + this.#old.size;
  }
}
