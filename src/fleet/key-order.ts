// The order of keys by text, as a place for each key: a few new ones are put into the order of the many old ones.

import { withRoom } from './columns.ts';
import type { KeyTable } from './names.ts';

/** In the place of a key that is wanted and has none yet, and of one that is about to get one. */
const WANTED = 2 ** 32 - 1;
const LISTED = 2 ** 32 - 2;

export class KeyOrder {
  readonly #keys: KeyTable;
  /** By key. What was put there another time is never read. */
  #place = new Uint32Array(0);
  /** Keys being arranged that have their order already. */
  #old = new Uint32Array(0);

  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /** Puts keys of one cluster, some of them named twice, in order. `before` are keys whose order is known; 0 is none. */
  arrange(before: Uint32Array, wanted: readonly number[]): void {
    this.#place = withRoom(this.#place, this.#keys.size);
    const place = this.#place;
    for (let i = 0; i < wanted.length; i++) place[wanted[i]!] = WANTED;
    this.#old = withRoom(this.#old, before.length);
    let old = 0;
    for (let i = 0; i < before.length; i++) {
      const key = before[i]!;
      if (place[key] !== WANTED) continue;
      place[key] = LISTED;
      this.#old[old++] = key;
    }
    this.#merge(old, this.#fresh(wanted));
  }

  /** The place of a key among those last arranged. */
  placeOf(key: number): number {
    return this.#place[key]!;
  }

  /** Keys that are wanted and have no order yet, in theirs. */
  #fresh(wanted: readonly number[]): number[] {
    const place = this.#place;
    const fresh: number[] = [];
    for (let i = 0; i < wanted.length; i++) {
      const key = wanted[i]!;
      if (place[key] !== WANTED) continue;
      place[key] = LISTED;
      fresh.push(key);
    }
    return fresh.sort((a, b) => this.#keys.compare(a, b));
  }

  /** Gives the old keys, of which there are so many, and fresh ones their places. */
  #merge(count: number, fresh: readonly number[]): void {
    const place = this.#place;
    const old = this.#old;
    let placed = 0;
    for (let i = 0; i < fresh.length; i++) {
      const end = this.#firstBehind(fresh[i]!, placed, count);
      while (placed < end) place[old[placed]!] = placed++ + i;
      place[fresh[i]!] = placed + i;
    }
    while (placed < count) place[old[placed]!] = placed++ + fresh.length;
  }

  /** The first of the old keys, from one on and below another, that comes behind a key; else that other. */
  #firstBehind(key: number, from: number, to: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys.compare(this.#old[middle]!, key) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
