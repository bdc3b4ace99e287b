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

  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /** Puts keys of one cluster, some of them named twice, in order. `before` are keys whose order is known; 0 is none. */
  arrange(before: Uint32Array, wanted: Uint32Array): void {
    if (this.#place.length < this.#keys.size) {
      const capacity = grownCapacity(this.#place.length, this.#keys.size);
      this.#place = extended(this.#place, new Uint32Array(capacity));
    }
    const place = this.#place;
    for (const key of wanted) place[key] = WANTED;
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
    const rank = this.#fingerprintRanks(old, fresh);
    const compare = (a: number, b: number): number =>
      rank.get(this.#keys.fingerprintOf(a))! - rank.get(this.#keys.fingerprintOf(b))! ||
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
  #fingerprintRanks(old: Uint32Array, fresh: Uint32Array): ReadonlyMap<number, number> {
    // Keys in whose place their fingerprint can be read, in order.
    const known: number[] = [];
    const rank = new Map<number, number>();
    let last = 0;
    for (const key of old) {
      const fingerprint = this.#keys.fingerprintOf(key);
      if (fingerprint === last) continue;
      rank.set(fingerprint, known.length);
      known.push(key);
      last = fingerprint;
    }
    const unknown = new Map<number, string>();
    for (const key of fresh) {
      const fingerprint = this.#keys.fingerprintOf(key);
      if (!rank.has(fingerprint)) unknown.set(fingerprint, this.#textOf(key));
    }
    const sorted = [...unknown].sort(([, a], [, b]) => compareText(a, b));
    let next = 0;
    for (const [i, [fingerprint, text]] of sorted.entries()) {
      next = firstFrom(next, known.length, (at) => compareText(this.#textOf(known[at]!), text) > 0);
      // Between the known ones at next - 1 and next, and behind the unknown ones before it.
      rank.set(fingerprint, next - 1 + (i + 1) / (sorted.length + 1));
    }
    return rank;
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
