// Sort positions of keys by text: merges a few new keys into the known order of many old ones. Used by key-places.ts.

import { withRoom } from '../../collections/columns.ts';
import type { KeyTable } from '../tables/names.ts';

/** Markers in `#place`: requested and not yet listed; listed, with its position assigned by `#merge`. */
const WANTED = 2 ** 32 - 1;
const LISTED = 2 ** 32 - 2;

export class KeyOrder {
  readonly #keys: KeyTable;
  /** By key. Values of earlier calls are never read. */
  #place = new Uint32Array(0);
  /** Requested keys whose order is known. */
  #old = new Uint32Array(0);

  constructor(keys: KeyTable) {
    this.#keys = keys;
  }

  /** Sorts keys of one cluster; `wanted` may have duplicates. `before` lists keys in known order, with 0 for gaps. */
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

  /** The position of a key among those of the last `arrange`. */
  placeOf(key: number): number {
    return this.#place[key]!;
  }

  /** Requested keys whose order is not known, sorted. */
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

  /** Assigns positions to the first `count` keys of `#old` and to the fresh ones. */
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

  /** Upper bound: index of the first old key in `[from, to)` that sorts after `key`, else `to`. */
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
