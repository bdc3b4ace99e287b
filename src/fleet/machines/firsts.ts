// The machine with the smallest id of every class, in any state. Maintained as machines join classes; when the first of
// a class leaves, its successor is computed lazily, on the next read. Part of machine-table.ts.

const NONE = -1;
const UNKNOWN = -2;

export class Firsts {
  readonly #firsts: number[] = [];

  /** Called when a machine is placed in a class, whether or not it was in it before. Ordinals must be settled. */
  join(slot: number, classNumber: number, ordinal: Uint32Array): void {
    const first = this.#firsts[classNumber] ?? NONE;
    if (first === NONE || (first !== UNKNOWN && ordinal[slot]! < ordinal[first]!)) {
      this.#firsts[classNumber] = slot;
    }
  }

  /** Called when a machine has left a class; `empty` if the class has no machines left. */
  leave(slot: number, classNumber: number, empty: boolean): void {
    if (empty) this.#firsts[classNumber] = NONE;
    else if (this.#firsts[classNumber] === slot) this.#firsts[classNumber] = UNKNOWN;
  }

  /** Called when the marked machines have left a class. */
  leaveMarked(marked: Uint8Array, classNumber: number, empty: boolean): void {
    const first = this.#firsts[classNumber] ?? NONE;
    if (empty) this.#firsts[classNumber] = NONE;
    else if (first >= 0 && marked[first] === 1) this.#firsts[classNumber] = UNKNOWN;
  }

  /** The first machine of a non-empty class. One scan of all slots recomputes every class whose first has left. */
  of(
    classNumber: number,
    state: Uint8Array,
    classOf: Uint32Array,
    ordinal: Uint32Array,
    size: number,
  ): number {
    if (this.#firsts[classNumber] !== UNKNOWN) return this.#firsts[classNumber]!;
    const lost = new Uint8Array(this.#firsts.length);
    for (const [c, first] of this.#firsts.entries()) {
      if (first !== UNKNOWN) continue;
      lost[c] = 1;
      this.#firsts[c] = NONE;
    }
    for (let slot = 0; slot < size; slot++) {
      if (state[slot] !== 0 && lost[classOf[slot]!] === 1) this.join(slot, classOf[slot]!, ordinal);
    }
    return this.#firsts[classNumber]!;
  }
}
