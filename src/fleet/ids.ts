// Machine ids and their slots. A slot is a machine's place in the columns for as long as it is on record; the order of
// ids, by which ties are broken, is kept as a number per slot so that nobody compares texts in a cycle.

import { compareText } from '../model/index.ts';

export class IdTable {
  readonly #ids: string[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  /** Slots in id order, and those whose id came or went since that order was made. */
  #sorted: number[] = [];
  #added: number[] = [];
  readonly #removed = new Set<number>();

  /** Ids on record. */
  get count(): number {
    return this.#slots.size;
  }

  /** One more than the largest slot in use. */
  get size(): number {
    return this.#ids.length;
  }

  idOf(slot: number): string {
    return this.#ids[slot]!;
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id);
  }

  /** A slot for a new id; it has no place in the order before the next `settle`. */
  add(id: string): number {
    const slot = this.#free.pop() ?? this.#ids.length;
    this.#ids[slot] = id;
    this.#slots.set(id, slot);
    this.#added.push(slot);
    return slot;
  }

  /** Forgets an id. Its slot is not given out again before the next `settle`. */
  remove(id: string, slot: number): void {
    this.#slots.delete(id);
    this.#removed.add(slot);
  }

  /** Writes every id's place in id order into the column; the order among old ids does not change by it. */
  settle(ordinal: Uint32Array): void {
    if (this.#added.length + this.#removed.size === 0) return;
    const added = this.#added.filter((slot) => !this.#removed.has(slot));
    added.sort((a, b) => compareText(this.#ids[a]!, this.#ids[b]!));
    const merged: number[] = [];
    let next = 0;
    for (const slot of this.#sorted) {
      if (this.#removed.has(slot)) continue;
      while (next < added.length && compareText(this.#ids[added[next]!]!, this.#ids[slot]!) < 0) {
        merged.push(added[next++]!);
      }
      merged.push(slot);
    }
    while (next < added.length) merged.push(added[next++]!);
    for (let i = 0; i < merged.length; i++) ordinal[merged[i]!] = i;
    this.#sorted = merged;
    this.#added = [];
    // One by one: as arguments of a single call, the slots of a large loss overflow the stack.
    for (const slot of this.#removed) this.#free.push(slot);
    this.#removed.clear();
  }
}
