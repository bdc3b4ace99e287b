// A stretch of the journal, read in order: knows from where on the changes add up to everything, and where they no longer
// do because something is missing in between.

import type { JournalCycle } from './journal-reader.ts';
import { type InputChanges, InputUnpacker } from './packing.ts';

export class Stretch {
  #unpacker: InputUnpacker | null = null;
  #lastSeq: number | null = null;
  #isWhole = false;

  /** Whether what has been read adds up to everything that was known. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * The changes of a cycle; null where they cannot be understood, because the segment they belong to was not read from its
   * beginning. `forget` is called first if nothing that was read before holds any more.
   */
  read({ seq, begin, isWhole, input }: JournalCycle, forget: () => void): InputChanges | null {
    // Whoever reads while others write may find that the next cycles have been dropped.
    const isTorn = this.#lastSeq !== null && seq !== this.#lastSeq + 1;
    this.#lastSeq = seq;
    if (isTorn) this.#unpacker = null;
    if (begin !== null) this.#unpacker = new InputUnpacker();
    if (isTorn || begin === 'start' || begin === 'gap') {
      this.#isWhole = false;
      forget();
    }
    if (this.#unpacker === null) return null;
    const changes = this.#unpacker.unpack(input);
    if (isWhole) this.#isWhole = true;
    return changes;
  }
}
