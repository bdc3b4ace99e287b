// Equal resource vectors as one object: rows of all clusters ask for the same few sizes of pods, and a map of its own
// takes more memory than everything else of a row. There is one place for all vectors of a hash, and the last one has
// it, so that the table does not grow with what has long gone.

import type { ResourceVector } from '../../model/index.ts';

/** A power of two. Few thousand sizes are in use at a time; full of other ones, the table takes some megabytes. */
const PLACES = 16_384;

/** From one place up to another: the number of a name, then units, and so on. */
interface Pairs {
  readonly names: readonly string[];
  readonly numbers: Float64Array;
  readonly from: number;
  readonly to: number;
}

export class VectorPool {
  readonly #places: (ResourceVector | undefined)[] = new Array<undefined>(PLACES).fill(undefined);

  /** The vector of some pairs of name and units: one that was given out before, if it is still known. */
  of(pairs: Pairs): ResourceVector {
    const place = placeOf(pairs);
    const known = this.#places[place];
    if (known !== undefined && hasPairs(known, pairs)) return known;
    const vector = new Map<string, number>();
    const { names, numbers, from, to } = pairs;
    for (let i = from; i < to; i += 2) vector.set(names[numbers[i]!]!, numbers[i + 1]!);
    this.#places[place] = vector;
    return vector;
  }
}

/** Amounts alone tell nearly all vectors apart, and texts would take longer. */
function placeOf({ numbers, from, to }: Pairs): number {
  let hash = to - from;
  for (let i = from; i < to; i += 2) {
    const amount = numbers[i + 1]!;
    // Both halves: amounts of bytes are multiples of large powers of two.
    hash = Math.imul(hash ^ (amount | 0) ^ Math.floor(amount / 2 ** 32), 0x9e3779b1);
    hash ^= hash >>> 16;
  }
  return hash & (PLACES - 1);
}

function hasPairs(vector: ResourceVector, { names, numbers, from, to }: Pairs): boolean {
  if (2 * vector.size !== to - from) return false;
  let i = from;
  for (const [name, amount] of vector) {
    if (amount !== numbers[i + 1] || name !== names[numbers[i]!]) return false;
    i += 2;
  }
  return true;
}
