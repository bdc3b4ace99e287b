// The order of a cluster's keys by text: ties in rank are broken by it. It is kept as a place for each key, so that a
// cycle compares numbers, and a few new keys are put into the order of the many old ones.

import { compareText } from '../model/index.ts';
import { extended, grownCapacity } from './columns.ts';
import type { KeyTable } from './names.ts';

/** In the place of a key that is wanted and has none yet, and of one that is about to get one. */
const WANTED = 2 ** 32 - 1;
const LISTED = 2 ** 32 - 2;

export class KeyOrder {
  readonly #keys: KeyTable;
  /** By key. What was put there for another cluster is never read. */
  #place = new Uint32Array(0);
  /** By fingerprint: its rank among those being arranged, if `#rankedFor` says that it has one in this round. */
  #rank = new Float64Array(0);
  #rankedFor = new Uint32Array(0);
  #round = 0;

  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /** Puts keys of one cluster, some of them named twice, in order. `before` are keys whose order is known; 0 is none. */
  arrange(before: Uint32Array, wanted: Uint32Array): void {
    if (this.#place.length < this.#keys.size) {
      const capacity = grownCapacity(this.#place.length, this.#keys.size);
      this.#place = extended(this.#place, capacity);
    }
    const place = this.#place;
    for (let i = 0; i < wanted.length; i++) place[wanted[i]!] = WANTED;
    const old = this.#list(before);
    const order = this.#merged(old, this.#list(wanted));
    for (let i = 0; i < order.length; i++) place[order[i]!] = i;
  }

  /** The place of a key among those last arranged. */
  placeOf(key: number): number {
    return this.#place[key]!;
  }

  /** Those of the keys that are wanted and not listed yet. */
  #list(keys: Uint32Array): Uint32Array {
    const place = this.#place;
    const listed = new Uint32Array(keys.length);
    let count = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (place[key] !== WANTED) continue;
      place[key] = LISTED;
      listed[count++] = key;
    }
    return listed.subarray(0, count);
  }

  #merged(old: Uint32Array, fresh: Uint32Array): Uint32Array {
    if (fresh.length === 0) return old;
    this.#rankFingerprints(old, fresh);
    const rank = this.#rank;
    const compare = (a: number, b: number): number =>
      rank[this.#keys.fingerprintOf(a)]! - rank[this.#keys.fingerprintOf(b)]! ||
      compareText(this.#keys.groupOf(a), this.#keys.groupOf(b));
    fresh.sort(compare);
    const merged = new Uint32Array(old.length + fresh.length);
    let copied = 0;
    for (let i = 0; i < fresh.length; i++) {
      const key = fresh[i]!;
      const end = firstFrom(copied, old.length, (at) => compare(old[at]!, key) > 0);
      while (copied < end) merged[copied + i] = old[copied++]!;
      merged[copied + i] = key;
    }
    while (copied < old.length) merged[copied + fresh.length] = old[copied++]!;
    return merged;
  }

  /** Fingerprints are long: only one that none of the old keys has is compared with others. */
  #rankFingerprints(old: Uint32Array, fresh: Uint32Array): void {
    const { fingerprints } = this.#keys;
    if (this.#rank.length < fingerprints) {
      const capacity = grownCapacity(this.#rank.length, fingerprints);
      this.#rank = extended(this.#rank, capacity);
      this.#rankedFor = extended(this.#rankedFor, capacity);
    }
    this.#round++;
    // Keys in whose place their fingerprint can be read, in order.
    const known: number[] = [];
    let last = 0;
    for (let i = 0; i < old.length; i++) {
      const fingerprint = this.#keys.fingerprintOf(old[i]!);
      if (fingerprint === last) continue;
      this.#setRank(fingerprint, known.length);
      known.push(old[i]!);
      last = fingerprint;
    }
    const unknown = new Map<number, string>();
    for (const key of fresh) {
      const fingerprint = this.#keys.fingerprintOf(key);
      if (this.#rankedFor[fingerprint] !== this.#round) unknown.set(fingerprint, this.#textOf(key));
    }
    const sorted = [...unknown].sort(([, a], [, b]) => compareText(a, b));
    let next = 0;
    for (const [i, [fingerprint, text]] of sorted.entries()) {
      next = firstFrom(next, known.length, (at) => compareText(this.#textOf(known[at]!), text) > 0);
      // Between the known ones at next - 1 and next, and behind the unknown ones before it.
      this.#setRank(fingerprint, next - 1 + (i + 1) / (sorted.length + 1));
    }
  }

  #setRank(fingerprint: number, rank: number): void {
    this.#rank[fingerprint] = rank;
    this.#rankedFor[fingerprint] = this.#round;
  }

  #textOf(key: number): string {
    return this.#keys.keyOf(key).fingerprint;
  }
}

/** The first number from `low` on, and below `high`, of which something holds that holds of all behind it; else `high`. */
function firstFrom(low: number, high: number, holds: (i: number) => boolean): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
