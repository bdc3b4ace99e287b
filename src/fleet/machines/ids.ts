// Machine ids and their slots. A slot is a machine's index in the columns for as long as it is on record. The order of
// ids, which breaks ties, is stored as a number per slot, so that a cycle never compares texts. Part of
// machine-table.ts.

import { hashOf, KeyIndex } from '../../collections/key-index.ts';
import { Texts } from '../../collections/texts.ts';

export class IdTable {
  readonly #texts = new Texts();
  /** Stores slot + 1, because 0 means empty. */
  readonly #index = new KeyIndex();
  #size = 0;
  readonly #free: number[] = [];
  /** Slots in id order, and the slots added and removed since the last `settle`. */
  #sorted: Uint32Array = new Uint32Array(0);
  #added: number[] = [];
  readonly #removed = new Set<number>();

  /** Ids on record. */
  get count(): number {
    return this.#index.count;
  }

  /** One more than the largest slot in use. */
  get size(): number {
    return this.#size;
  }

  idOf(slot: number): string {
    return this.#texts.textOf(slot);
  }

  slotOf(id: string): number | undefined {
    const number = this.#index.find(hashOf(0, 0, id), (found) => this.#texts.has(found - 1, id));
    return number === 0 ? undefined : number - 1;
  }

  /** Assigns a slot to a new id; its ordinal is undefined until the next `settle`. */
  add(id: string): number {
    const slot = this.#free.pop() ?? this.#size++;
    this.#texts.set(slot, id);
    this.#index.add(slot + 1, hashOf(0, 0, id));
    this.#added.push(slot);
    return slot;
  }

  /** Removes an id. Its slot is not reused before the next `settle`. */
  remove(slot: number): void {
    this.#index.remove(slot + 1, hashOf(0, 0, this.idOf(slot)));
    this.#removed.add(slot);
  }

  /** Writes the position of every id into `ordinal`; the relative order of old ids does not change. */
  settle(ordinal: Uint32Array): void {
    if (this.#added.length + this.#removed.size === 0) return;
    const removed = this.#removed;
    const kept = removed.size === 0 ? this.#sorted : this.#sorted.filter((slot) => !removed.has(slot));
    const added = this.#added.filter((slot) => !removed.has(slot));
    this.#sorted = this.#merged(kept, Uint32Array.from(added));
    for (let i = 0; i < this.#sorted.length; i++) ordinal[this.#sorted[i]!] = i;
    this.#added = [];
    // A loop instead of `push(...removed)`: after a large loss, the arguments would overflow the stack.
    for (const slot of removed) {
      this.#texts.remove(slot);
      this.#free.push(slot);
    }
    removed.clear();
    this.#texts.tidy(this.#sorted);
  }

  /** Merges `added`, in any order, into the sorted slots. */
  #merged(sorted: Uint32Array, added: Uint32Array): Uint32Array {
    if (added.length === 0) return sorted;
    added.sort((a, b) => this.#texts.compare(a, b));
    if (sorted.length === 0) return added;
    const merged = new Uint32Array(sorted.length + added.length);
    let copied = 0;
    for (let i = 0; i < added.length; i++) {
      const end = this.#placeOf(added[i]!, sorted, copied);
      merged.set(sorted.subarray(copied, end), copied + i);
      merged[end + i] = added[i]!;
      copied = end;
    }
    merged.set(sorted.subarray(copied), copied + added.length);
    return merged;
  }

  /** Lower bound of a slot's id among the sorted slots, starting at `from`. */
  #placeOf(slot: number, sorted: Uint32Array, from: number): number {
    let low = from;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#texts.compare(sorted[middle]!, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
