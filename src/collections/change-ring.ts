// A change log of fixed size that overwrites its oldest entries: writing is one store, and a reader that keeps up reads
// only what is new. Unlike `ChangeLog`, a full log makes only those readers rebuild that have fallen behind. Used for
// claims on free machines (topology.ts), of which a cycle has hundreds of thousands.

/** A power of two. */
const SIZE = 65_536;

export class ChangeRing {
  #entries = new Int32Array(64);
  #end = 0;

  /** The position of a reader that has read every entry; positions only increase. */
  get end(): number {
    return this.#end;
  }

  add(entry: number): void {
    if (this.#end === this.#entries.length && this.#end < SIZE) this.#grow();
    this.#entries[this.#end++ & (this.#entries.length - 1)] = entry;
  }

  /** Until it has reached its size the ring is a list, so short logs stay small. */
  #grow(): void {
    const larger = new Int32Array(this.#entries.length * 2);
    larger.set(this.#entries);
    this.#entries = larger;
  }

  /** Whether entries from a position on were overwritten, so that a reader there must rebuild its cache. */
  hasLost(position: number): boolean {
    return this.#end - position > this.#entries.length;
  }

  /** The entry at a position before `end` that is not lost. */
  at(position: number): number {
    return this.#entries[position & (this.#entries.length - 1)]!;
  }
}
