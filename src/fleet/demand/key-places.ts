// Sort positions of rows by the text of their keys, the last tie-breaker of rank. Used by demand-ledger.ts when the
// rows of a cluster change.

import { withRoom } from '../../collections/columns.ts';
import type { KeyTable } from '../tables/names.ts';
import { KeyOrder } from './key-order.ts';

/** The key has no position yet. */
export const UNPLACED = 2 ** 32 - 1;

/** Columns of the demand ledger. `KeyPlaces` writes `keyPlace` and `foldKeyPlace` and only reads the others. */
interface Rows {
  readonly ranked: Uint32Array;
  readonly key: Uint32Array;
  readonly same: Uint8Array;
  readonly foldKey: Uint32Array;
  readonly precedence: Float64Array;
  readonly firstSeenMs: Float64Array;
  readonly keyPlace: Uint32Array;
  readonly foldKeyPlace: Uint32Array;
}

export class KeyPlaces {
  readonly #order: KeyOrder;
  /** Scratch array: keys by known position, for the rows being arranged; 0 where no key has the position. */
  #arranged = new Uint32Array(0);

  constructor(keys: KeyTable) {
    this.#order = new KeyOrder(keys);
  }

  /**
   * Assigns positions to keys of rows and folds that have none, among rows of the same precedence and `firstSeenMs`, if any
   * of these rows has `Same`. Texts are compared once, here; the cycle compares numbers.
   */
  settle(rows: Rows, { offset, length }: { readonly offset: number; readonly length: number }): void {
    const { firstSeenMs, foldKeyPlace, precedence, ranked, same, keyPlace } = rows;
    const end = offset + length;
    for (let from = offset, to = from; from < end; from = to) {
      const first = ranked[from]!;
      let folds = false;
      let placed = true;
      for (; to < end; to++) {
        const row = ranked[to]!;
        if (precedence[row] !== precedence[first] || firstSeenMs[row] !== firstSeenMs[first]) break;
        folds ||= same[row] === 1;
        placed &&= keyPlace[row] !== UNPLACED && (same[row] === 0 || foldKeyPlace[row] !== UNPLACED);
      }
      if (folds && !placed) this.#arrange(rows, from, to);
    }
  }

  /** Assigns positions to the keys of `ranked[from … to − 1]` and of their folds. */
  #arrange({ foldKey, foldKeyPlace, key, ranked, same, keyPlace }: Rows, from: number, to: number): void {
    const wanted: number[] = [];
    let end = 0;
    for (let i = from; i < to; i++) {
      const row = ranked[i]!;
      wanted.push(key[row]!);
      end = this.#list(keyPlace[row]!, key[row]!, end);
      if (same[row] === 0) continue;
      wanted.push(foldKey[row]!);
      end = this.#list(foldKeyPlace[row]!, foldKey[row]!, end);
    }
    this.#order.arrange(this.#arranged.subarray(0, end), wanted);
    this.#arranged.fill(0, 0, end);
    for (let i = from; i < to; i++) {
      const row = ranked[i]!;
      keyPlace[row] = this.#order.placeOf(key[row]!);
      if (same[row] === 1) foldKeyPlace[row] = this.#order.placeOf(foldKey[row]!);
    }
  }

  /** Adds a key to `#arranged` if it has a position; returns the new end of the list. */
  #list(place: number, key: number, end: number): number {
    if (place === UNPLACED) return end;
    this.#arranged = withRoom(this.#arranged, place + 1);
    this.#arranged[place] = key;
    return Math.max(end, place + 1);
  }
}
