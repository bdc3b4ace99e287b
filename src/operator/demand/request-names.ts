// Names of CapacityRequests by slot of the table of pods, in one byte buffer: a name is read only when the operator writes
// to its request. Written by pod-records.ts.

import { Texts } from '../../collections/texts.ts';

/** Fewer removals than half of these are not worth a pass over the names. */
const MIN_REMOVED = 8192;

export class RequestNames {
  readonly #texts = new Texts();
  readonly #slots = new Set<number>();
  #removed = 0;

  set(slot: number, name: string): void {
    if (this.#slots.has(slot)) {
      if (this.#texts.has(slot, name)) return;
      this.remove(slot);
    }
    this.#texts.set(slot, name);
    this.#slots.add(slot);
  }

  remove(slot: number): void {
    if (!this.#slots.delete(slot)) return;
    this.#texts.remove(slot);
    if (++this.#removed * 2 <= this.#slots.size + MIN_REMOVED) return;
    this.#removed = 0;
    this.#texts.tidy(Uint32Array.from(this.#slots));
  }

  nameOf(slot: number): string {
    return this.#texts.textOf(slot);
  }

  /** Slots of all CapacityRequests. */
  slots(): Iterable<number> {
    return this.#slots;
  }
}
