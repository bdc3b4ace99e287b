// Guards against Lists that lack most of an inventory, which are more often a provider's error than real. The missing
// machines are kept until three full Lists in a row lack them, or until a person accepts the List. Used by
// reconcile.ts, one per provider.

/** Machines; smaller inventories are not guarded. */
const LEAST_KNOWN = 10;
/** Fraction of the known machines that must remain for a List to be accepted at once. */
const LEAST_LEFT = 0.1;
const CONVINCING = 3;

export class ShrinkGuard {
  /** Machines missing from the Lists. */
  readonly #missing = new Set<string>();
  #suspicions = 0;

  /** Full Lists in a row that were not accepted. */
  get suspicions(): number {
    return this.#suspicions;
  }

  get missing(): number {
    return this.#missing.size;
  }

  gone(ids: Iterable<string>): void {
    for (const id of ids) this.#missing.add(id);
  }

  /** A List contains the machine again. */
  isThere(id: string): void {
    this.#missing.delete(id);
  }

  /**
   * A full List has ended. Returns the machines to remove; null: the List is not accepted. `isAllKnown` is false after a
   * restart: `known` may then be too low, so an empty List does not count as that of a small inventory.
   */
  listEnded(known: number, isAllKnown: boolean): readonly string[] | null {
    const left = Math.max(0, known - this.#missing.size);
    const isSmall = known < LEAST_KNOWN && (isAllKnown || left > 0);
    if (isSmall || left >= known * LEAST_LEFT) return this.accept();
    this.#suspicions++;
    return this.#suspicions >= CONVINCING ? this.accept() : null;
  }

  /** Returns all missing machines for removal and resets the guard. */
  accept(): readonly string[] {
    const gone = [...this.#missing];
    this.#missing.clear();
    this.#suspicions = 0;
    return gone;
  }
}
