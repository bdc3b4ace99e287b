// A bounded log of changed numbers, for readers that cache data per number and update the cache on the next read. A
// reader that has fallen behind the oldest entry must rebuild its cache, which by then costs no more than replaying the
// log. Kept by the fleet's tables and by class-availability.ts; read by caches of the engine.

const LIMIT = 65_536;

export class ChangeLog {
  #first = 0;
  #entries: number[] = [];

  /** The position of a reader that has read every entry. */
  get end(): number {
    return this.#first + this.#entries.length;
  }

  add(number: number): void {
    if (this.#entries.length === LIMIT) this.restart();
    this.#entries.push(number);
  }

  /** Entries since a position, oldest first, duplicates included; null if the reader must rebuild its cache. */
  since(position: number): readonly number[] | null {
    return position < this.#first ? null : this.#entries.slice(position - this.#first);
  }

  /** Discards all entries and makes every reader rebuild. */
  restart(): void {
    this.#first = this.end + 1;
    this.#entries = [];
  }
}
