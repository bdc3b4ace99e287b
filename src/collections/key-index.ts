// A hash table of numbers with linear probing; 0 marks an empty place. It stores numbers in one typed array, so a
// million keys create neither strings nor Map entries. Used by names.ts and ids.ts of the fleet.

const SMALLEST = 64;
/** Random, so that a client that chooses names cannot force hash collisions. */
const SEED = Math.floor(Math.random() * 2 ** 32);

export class KeyIndex {
  /** Two entries per place: the number and its hash, interleaved so that probing reads adjacent memory. */
  #places = new Uint32Array(2 * SMALLEST);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number with this hash that satisfies `isIt`, else 0. */
  find(hash: number, isIt: (number: number) => boolean): number {
    const places = this.#places;
    const mask = places.length - 1;
    for (let at = placeOf(hash, mask); places[at] !== 0; at = (at + 2) & mask) {
      if (places[at + 1] === hash && isIt(places[at]!)) return places[at]!;
    }
    return 0;
  }

  add(number: number, hash: number): void {
    if (++this.#count * 4 > this.#places.length) this.#grow();
    this.#put(number, hash);
  }

  remove(number: number, hash: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let gap = placeOf(hash, mask);
    while (places[gap] !== number) gap = (gap + 2) & mask;
    // Backward-shift deletion: entries whose probe sequence would be broken by the gap move into it.
    for (let at = (gap + 2) & mask; places[at] !== 0; at = (at + 2) & mask) {
      const wanted = placeOf(places[at + 1]!, mask);
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
      places[gap] = places[at]!;
      places[gap + 1] = places[at + 1]!;
      gap = at;
    }
    places[gap] = 0;
    this.#count--;
  }

  #put(number: number, hash: number): void {
    const places = this.#places;
    const mask = places.length - 1;
    let at = placeOf(hash, mask);
    while (places[at] !== 0) at = (at + 2) & mask;
    places[at] = number;
    places[at + 1] = hash;
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0) this.#put(old[at]!, old[at + 1]!);
  }
}

/** Index of the first place in the probe sequence of a hash. */
function placeOf(hash: number, mask: number): number {
  return (hash << 1) & mask;
}

/** The hash of a key of two numbers and a text. */
export function hashOf(a: number, b: number, text: string): number {
  let hash = mixed(mixed(SEED ^ a) ^ b);
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) ^ (hash >>> 15);
  return mixed(hash);
}

// The finalizer of MurmurHash3: every input bit affects every output bit.
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
