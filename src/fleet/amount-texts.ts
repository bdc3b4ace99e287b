// Canonical texts of amounts, remembered by what the columns hold: jobs come and go all day, most of them in a few sizes,
// and making a text takes longer than all else about a row. A text that is found again is also the very string that the
// tables were asked for before.

import { canonicalResources, type ResourceVector } from '../model/index.ts';
import type { VectorColumn } from './vectors.ts';

/** Texts that are remembered; of two sizes that want one place the later has it. */
const PLACES = 4096;

/** How amounts are named. */
export interface AmountText {
  readonly amounts: string;
  /** The group of a fold of gangs that want so much each. */
  readonly foldGroup: string;
}

export class AmountTexts {
  #stride = 0;
  #known = new Float64Array(0);
  #texts: (AmountText | undefined)[] = [];

  /** The text of a vector, which stands in a column at an index. */
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

/** Bytes come in large round numbers: what is left of them without their last bits counts too. */
function mixed(hash: number, units: number): number {
  const next = Math.imul(hash ^ units ^ (units / 2 ** 20), 0x9e3779b1);
  return next ^ (next >>> 15);
}
