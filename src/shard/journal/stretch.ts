// Reads a range of the journal in order, and tracks whether the changes read so far add up to the complete state: from
// the point where a segment is whole, until cycles are missing. Used by replay.ts and history.ts.

import { BigFleetError } from '../../model/index.ts';
import type { JournalCycle } from './journal-reader.ts';
import { type InputChanges, InputUnpacker } from './packing.ts';

export class Stretch {
  #unpacker: InputUnpacker | null = null;
  #lastSeq: number | null = null;
  #isWhole = false;

  /** Whether the changes read so far add up to the complete state. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * The changes of a cycle; null where they cannot be understood, because the segment they belong to was not read from its
   * beginning. `forget` is called first if nothing that was read before holds any more.
   */
  read({ seq, begin, isWhole, input }: JournalCycle, forget: () => void): InputChanges | null {
    // The writer may have dropped the next cycles while this reader was reading.
    const isTorn = this.#lastSeq !== null && seq !== this.#lastSeq + 1;
    this.#lastSeq = seq;
    if (isTorn) this.#unpacker = null;
    if (begin !== null) this.#unpacker = new InputUnpacker();
    if (isTorn || begin === 'start' || begin === 'gap') {
      this.#isWhole = false;
      forget();
    }
    if (this.#unpacker === null) return null;
    const changes = unpacked(this.#unpacker, input, seq);
    if (isWhole) this.#isWhole = true;
    return changes;
  }
}

function unpacked(unpacker: InputUnpacker, input: Uint8Array, seq: number): InputChanges {
  try {
    return unpacker.unpack(input);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_JOURNAL_UNREADABLE', `Record ${seq} is broken: ${why}.`, { cause });
  }
}
