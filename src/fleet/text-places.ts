// Places of rows in the order of their keys' texts, by which ties in rank are broken.

import { withRoom } from './columns.ts';
import { KeyOrder } from './key-order.ts';
import type { KeyTable } from './names.ts';

/** In place of a key's place among others: it has none yet. */
export const UNPLACED = 2 ** 32 - 1;

/** The columns of the demand ledger that it reads, and the two that it writes: `text` and `foldText`. */
interface Rows {
  readonly ranked: Uint32Array;
  readonly key: Uint32Array;
  readonly same: Uint8Array;
  readonly foldKey: Uint32Array;
  readonly precedence: Float64Array;
  readonly firstSeenMs: Float64Array;
  readonly text: Uint32Array;
  readonly foldText: Uint32Array;
}

export class TextPlaces {
  readonly #order: KeyOrder;
  /** Keys in the order of their places, for rows that are being arranged; 0 in between is none. */
  #arranged = new Uint32Array(0);

  constructor(keys: KeyTable) {
    this.#order = new KeyOrder(keys);
  }

  /**
   * Gives keys of rows, and of their folds, that have none yet their places in the order of texts, among those of the same
   * precedence and age if any of them may fold. Ties in rank are broken by it; comparing texts here, once, leaves numbers
   * to the cycle.
   */
  settle(rows: Rows, { offset, length }: { readonly offset: number; readonly length: number }): void {
    const { firstSeenMs, foldText, precedence, ranked, same, text } = rows;
    const end = offset + length;
    for (let from = offset, to = from; from < end; from = to) {
      const first = ranked[from]!;
      let folds = false;
      let placed = true;
      for (; to < end; to++) {
        const row = ranked[to]!;
        if (precedence[row] !== precedence[first] || firstSeenMs[row] !== firstSeenMs[first]) break;
        folds ||= same[row] === 1;
        placed &&= text[row] !== UNPLACED && (same[row] === 0 || foldText[row] !== UNPLACED);
      }
      if (folds && !placed) this.#arrange(rows, from, to);
    }
  }

  /** Arranges the keys of rows that stand in rank order from one place up to another. */
  #arrange({ foldKey, foldText, key, ranked, same, text }: Rows, from: number, to: number): void {
    const wanted: number[] = [];
    let end = 0;
    for (let i = from; i < to; i++) {
      const row = ranked[i]!;
      wanted.push(key[row]!);
      end = this.#list(text[row]!, key[row]!, end);
      if (same[row] === 0) continue;
      wanted.push(foldKey[row]!);
      end = this.#list(foldText[row]!, foldKey[row]!, end);
    }
    this.#order.arrange(this.#arranged.subarray(0, end), wanted);
    this.#arranged.fill(0, 0, end);
    for (let i = from; i < to; i++) {
      const row = ranked[i]!;
      text[row] = this.#order.placeOf(key[row]!);
      if (same[row] === 1) foldText[row] = this.#order.placeOf(foldKey[row]!);
    }
  }

  /** Lists a key if it has a place; returns where the list ends, which it did at `end`. */
  #list(place: number, key: number, end: number): number {
    if (place === UNPLACED) return end;
    this.#arranged = withRoom(this.#arranged, place + 1);
    this.#arranged[place] = key;
    return Math.max(end, place + 1);
  }
}
