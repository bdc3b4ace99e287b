// Finds numbers by hash: a table of places, each empty (0) or taken by a number, with those that want one place in the
// places behind it. It holds nothing but numbers, so that a million keys cost no texts and no entries of a Map.

const SMALLEST = 64;
/** Whoever chooses names for many keys must not be able to choose their places. */
const SEED = Math.floor(Math.random() * 2 ** 32);

export class KeyIndex {
  /** Two numbers for each place: what has it, and its hash, so that looking along them is looking at one part of memory. */
  #places = new Uint32Array(2 * SMALLEST);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number with this hash that is the one looked for, else 0. */
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
    // Whatever stands behind and may not be found across a gap moves into it.
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

/** Where the place that a hash wants begins. */
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

// The last steps of MurmurHash3: every bit of the input reaches every bit of the result.
function mixed(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
