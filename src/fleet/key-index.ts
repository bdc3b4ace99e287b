// Finds numbers by hash: a table of places, each empty (0) or taken by a number, with those that want one place in the
// places behind it. It holds nothing but numbers, so that a million keys cost no texts and no entries of a Map.

import { withRoom } from './columns.ts';

const SMALLEST = 64;
/** Whoever chooses names for many keys must not be able to choose their places. */
const SEED = Math.floor(Math.random() * 2 ** 32);

export class KeyIndex {
  #places = new Uint32Array(SMALLEST);
  /** By number. */
  #hashes = new Uint32Array(SMALLEST);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number with this hash that is the one looked for, else 0. */
  find(hash: number, isIt: (number: number) => boolean): number {
    const places = this.#places;
    const mask = places.length - 1;
    for (let at = hash & mask; places[at] !== 0; at = (at + 1) & mask) {
      const number = places[at]!;
      if (this.#hashes[number] === hash && isIt(number)) return number;
    }
    return 0;
  }

  add(number: number, hash: number): void {
    if (++this.#count * 2 > this.#places.length) this.#grow();
    this.#hashes = withRoom(this.#hashes, number + 1);
    this.#hashes[number] = hash;
    this.#put(number);
  }

  remove(number: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let gap = this.#hashes[number]! & mask;
    while (places[gap] !== number) gap = (gap + 1) & mask;
    // Whatever stands behind and may not be found across a gap moves into it.
    for (let at = (gap + 1) & mask; places[at] !== 0; at = (at + 1) & mask) {
      const wanted = this.#hashes[places[at]!]! & mask;
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
      places[gap] = places[at]!;
      gap = at;
    }
    places[gap] = 0;
    this.#count--;
  }

  #put(number: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let at = this.#hashes[number]! & mask;
    while (places[at] !== 0) at = (at + 1) & mask;
    places[at] = number;
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Uint32Array(old.length * 2);
    for (const number of old) if (number !== 0) this.#put(number);
  }
}

/** The hash of a key of two numbers and a text. */
export function hashOf(a: number, b: number, text: string): number {
  let hash = mixed(mixed(SEED ^ a) ^ b);
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) ^ (hash >>> 15);
  return mixed(hash);
}

// The last steps of MurmurHash3: every bit of the input reaches every bit of the result.
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
