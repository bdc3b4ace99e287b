// Which CapacityRequests were returned for acknowledgement and are not acknowledged yet. The status of the request, as the
// watch shows it, is the only proof that the write has happened: it waits for the shard and for the API server, and ends with
// the term of this leader. So a request is returned again after a while, and at once in a new term.

/** Longer than a write with its repetitions takes; shorter than a producer of requests waits before it calls a person. */
const AGAIN_MS = 5 * 60_000;

export class Acknowledgements {
  /** By slot of the table of pods. */
  readonly #takenMs = new Map<number, number>();

  /** Whether the request is to be acknowledged now; it is not again for a while. */
  take(slot: number, nowMs: number): boolean {
    const takenMs = this.#takenMs.get(slot);
    if (takenMs !== undefined && nowMs - takenMs < AGAIN_MS) return false;
    this.#takenMs.set(slot, nowMs);
    return true;
  }

  /** The request is acknowledged, or gone. */
  forget(slot: number): void {
    this.#takenMs.delete(slot);
  }

  /** This replica leads again: what an earlier term returned may never have been written. */
  newTerm(): void {
    this.#takenMs.clear();
  }
}
