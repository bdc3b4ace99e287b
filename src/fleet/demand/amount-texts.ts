// A direct-mapped cache of canonical texts of amounts, keyed by the column values. Jobs come and go continuously, most
// of them in a few sizes, and building the text is the most expensive step of writing a row. A hit also returns the
// identical string object that the tables were asked for before. Used by demand-rows.ts.

import { canonicalResources, type ResourceVector } from '../../model/index.ts';
import type { VectorColumn } from '../tables/vectors.ts';

/** Cache entries; a power of two. On a collision the later text replaces the earlier one. */
const PLACES = 4096;

/** Canonical names of amounts. */
export interface AmountText {
  readonly amounts: string;
  /** The group of a fold of gangs with this aggregate each. */
  readonly foldGroup: string;
}

export class AmountTexts {
  #stride = 0;
  #known = new Float64Array(0);
  #texts: (AmountText | undefined)[] = [];

  /** The text of a vector, which the column stores at `index`. */
  of({ data, stride }: VectorColumn, index: number, vector: ResourceVector): AmountText {
    if (stride !== this.#stride) this.#restart(stride);
    const from = index * stride;
    let hash = 0;
    for (let d = 0; d < stride; d++) hash = mixed(hash, data[from + d]!);
    const place = hash & (PLACES - 1);
    let text = this.#texts[place];
    if (text === undefined || !this.#is(place, data, from)) {
      const amounts = canonicalResources(vector);
      text = { amounts, foldGroup: `fold:${amounts}` };
      this.#texts[place] = text;
      this.#known.set(data.subarray(from, from + stride), place * stride);
    }
    return text;
  }

  #is(place: number, data: Float64Array, from: number): boolean {
    const at = place * this.#stride;
    for (let d = 0; d < this.#stride; d++) if (this.#known[at + d] !== data[from + d]) return false;
    return true;
  }

  #restart(stride: number): void {
    this.#stride = stride;
    this.#known = new Float64Array(PLACES * stride);
    this.#texts = [];
  }
}

/** Also mixes in units / 2^20: amounts of bytes are large round numbers, whose low 32 bits are often zero. */
function mixed(hash: number, units: number): number {
  const next = Math.imul(hash ^ units ^ (units / 2 ** 20), 0x9e3779b1);
  return next ^ (next >>> 15);
}
