// Interns equal resource vectors: rows of all clusters ask for the same few pod sizes, and a separate map takes more
// memory than the rest of a row. A direct-mapped cache: each hash has one place, and a new vector replaces the one in
// it, so the table does not grow with vectors that are no longer used. Used by demand-codec.ts.

import type { ResourceVector } from '../../model/index.ts';

/** A power of two. A few thousand sizes are in use at a time; a full table takes some megabytes. */
const PLACES = 16_384;

/** Alternating name indexes and units in `numbers`, from `from` up to but not including `to`. */
interface Pairs {
  readonly names: readonly string[];
  readonly numbers: Float64Array;
  readonly from: number;
  readonly to: number;
}

export class VectorPool {
  readonly #places: (ResourceVector | undefined)[] = new Array<undefined>(PLACES).fill(undefined);

  /** The vector of these pairs: the cached object, if it has not been replaced. */
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

/** Hashes the amounts only: they distinguish nearly all vectors, and hashing names would take longer. */
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
