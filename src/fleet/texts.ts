// Texts by number, as bytes behind one another: millions of ids are no work for the collector, and take half the memory
// that strings of them do. A text is made when somebody asks for it.
//
// Bytes compare as texts do (see compareText): each UTF-16 unit stands in the manner of UTF-8, but by its rank in the
// order. So any text comes back as it was, broken surrogates included.

import { rankOfUnit, unitOfRank } from '../model/index.ts';
import { withRoom } from './columns.ts';

/** Behind each text; above all bytes of any. */
const END = 0xff;
/** Fewer bytes of texts that are gone are not worth cleaning up after. */
const MIN_WASTE_BYTES = 1 << 16;

export class Texts {
  #bytes = new Uint8Array(0);
  #used = 0;
  #wasted = 0;
  /** By number: where its text begins. */
  #from = new Uint32Array(0);

  set(number: number, text: string): void {
    this.#from = withRoom(this.#from, number + 1);
    this.#bytes = withRoom(this.#bytes, this.#used + 3 * text.length + 1);
    this.#from[number] = this.#used;
    for (let i = 0; i < text.length; i++) this.#append(rankOfUnit(text.charCodeAt(i)));
    this.#bytes[this.#used++] = END;
  }

  /** Forgets the text of a number; its bytes are used again once `tidy` was called. */
  remove(number: number): void {
    this.#wasted += this.#endOf(number) - this.#from[number]! + 1;
  }

  /** Closes gaps if they are large. `numbers` are all that have a text. */
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

/** Arguments that one call takes for certain. */
const MOST_ARGUMENTS = 1024;

function joined(units: readonly number[]): string {
  let text = '';
  for (let i = 0; i < units.length; i += MOST_ARGUMENTS)
    text += String.fromCharCode(...units.slice(i, i + MOST_ARGUMENTS));
  return text;
}
