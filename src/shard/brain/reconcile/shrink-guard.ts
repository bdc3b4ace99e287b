// An inventory that has all but vanished is more often a provider's mistake than the truth. Its losses are held; the
// third full List in a row that says the same is believed, and so is a person.

/** Inventories smaller than this may vanish at once. */
const LEAST_KNOWN = 10;
/** Of what was known, the part that must be left. */
const LEAST_LEFT = 0.1;
const CONVINCING = 3;

export class ShrinkGuard {
  /** Machines that are said to be gone. */
  readonly #missing = new Set<string>();
  #suspicions = 0;

  /** Full Lists in a row that were not believed. */
  get suspicions(): number {
    return this.#suspicions;
  }

  get missing(): number {
    return this.#missing.size;
  }

  gone(ids: Iterable<string>): void {
    for (const id of ids) this.#missing.add(id);
  }

  /** The provider has it after all. */
  isThere(id: string): void {
    this.#missing.delete(id);
  }

  /**
   * A full List has ended. Returns what is gone, as far as it is believed; null: it is not. `isAllKnown` is false after
   * a restart: more may have been there than is remembered, so that an empty List is never that of a small inventory.
   */
  listEnded(known: number, isAllKnown: boolean): readonly string[] | null {
    const left = Math.max(0, known - this.#missing.size);
    const isSmall = known < LEAST_KNOWN && (isAllKnown || left > 0);
    if (isSmall || left >= known * LEAST_LEFT) return this.accept();
    this.#suspicions++;
    return this.#suspicions >= CONVINCING ? this.accept() : null;
  }

  /** Believes it. */
  accept(): readonly string[] {
    const gone = [...this.#missing];
    this.#missing.clear();
    this.#suspicions = 0;
    return gone;
  }
}
