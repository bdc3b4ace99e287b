// Texts by number, in one byte buffer: millions of ids add no work to the garbage collector and take half the memory of
// strings. A string is created only when a caller reads it. Used for machine ids (fleet/machines/ids.ts).
//
// Byte order equals text order (see compareText): each UTF-16 unit is encoded like UTF-8, but by its rank in that order.
// The encoding is lossless for any string, unpaired surrogates included.

import { rankOfUnit, unitOfRank } from '../model/index.ts';
import { withRoom } from './columns.ts';

/** Terminator of each text; greater than every byte of an encoded text. */
const END = 0xff;
/** Minimum number of wasted bytes before `tidy` compacts the buffer. */
const MIN_WASTE_BYTES = 1 << 16;

export class Texts {
  #bytes = new Uint8Array(0);
  #used = 0;
  #wasted = 0;
  /** By number: byte offset of its text. */
  #from = new Uint32Array(0);

  set(number: number, text: string): void {
    this.#from = withRoom(this.#from, number + 1);
    this.#bytes = withRoom(this.#bytes, this.#used + 3 * text.length + 1);
    this.#from[number] = this.#used;
    for (let i = 0; i < text.length; i++) this.#append(rankOfUnit(text.charCodeAt(i)));
    this.#bytes[this.#used++] = END;
  }

  /** Frees the text of a number; `tidy` reclaims its bytes. */
  remove(number: number): void {
    this.#wasted += this.#endOf(number) - this.#from[number]! + 1;
  }

  /** Compacts the buffer if at least half of it is wasted. `numbers` must list every number that has a text. */
  tidy(numbers: Uint32Array): void {
    if (this.#wasted < MIN_WASTE_BYTES || this.#wasted * 2 < this.#used) return;
    const old = this.#bytes.slice(0, this.#used);
    this.#used = 0;
    this.#wasted = 0;
    for (const number of numbers) {
      let at = this.#from[number]!;
      this.#from[number] = this.#used;
      while (old[at] !== END) this.#bytes[this.#used++] = old[at++]!;
      this.#bytes[this.#used++] = END;
    }
  }

  textOf(number: number): string {
    const bytes = this.#bytes;
    const units: number[] = [];
    for (let at = this.#from[number]!; bytes[at] !== END; ) {
      const first = bytes[at++]!;
      if (first < 0x80) units.push(first);
      else if (first < 0xe0) units.push(((first & 0x1f) << 6) | (bytes[at++]! & 0x3f));
      else {
        const rank = ((first & 0x0f) << 12) | ((bytes[at++]! & 0x3f) << 6);
        units.push(unitOfRank(rank | (bytes[at++]! & 0x3f)));
      }
    }
    return units.length < MOST_ARGUMENTS ? String.fromCharCode(...units) : joined(units);
  }

  /** Whether a number has this text. */
  has(number: number, text: string): boolean {
    const bytes = this.#bytes;
    const from = this.#from[number]!;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return this.textOf(number) === text;
      if (bytes[from + i] !== unit) return false;
    }
    return bytes[from + text.length] === END;
  }

  /** Negative if the text of `a` comes before that of `b`. */
  compare(a: number, b: number): number {
    const bytes = this.#bytes;
    let i = this.#from[a]!;
    let j = this.#from[b]!;
    while (bytes[i] === bytes[j] && bytes[i] !== END) {
      i++;
      j++;
    }
    if (bytes[i] === END || bytes[j] === END) return (bytes[j] === END ? 1 : 0) - (bytes[i] === END ? 1 : 0);
    return bytes[i]! - bytes[j]!;
  }

  #endOf(number: number): number {
    let at = this.#from[number]!;
    while (this.#bytes[at] !== END) at++;
    return at;
  }

  #append(rank: number): void {
    if (rank < 0x80) {
      this.#bytes[this.#used++] = rank;
      return;
    }
    if (rank < 0x800) this.#bytes[this.#used++] = 0xc0 | (rank >> 6);
    else {
      this.#bytes[this.#used++] = 0xe0 | (rank >> 12);
      this.#bytes[this.#used++] = 0x80 | ((rank >> 6) & 0x3f);
    }
    this.#bytes[this.#used++] = 0x80 | (rank & 0x3f);
  }
}

/** A number of call arguments that never overflows the stack. */
const MOST_ARGUMENTS = 1024;

function joined(units: readonly number[]): string {
  let text = '';
  for (let i = 0; i < units.length; i += MOST_ARGUMENTS)
    text += String.fromCharCode(...units.slice(i, i + MOST_ARGUMENTS));
  return text;
}
