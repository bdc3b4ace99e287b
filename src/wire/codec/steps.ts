// Cooperative scheduling of long work: generators that yield every fraction of a millisecond, so that the caller can
// read the clock and yield to other clusters. Used by intake.ts and rollup.ts; the shard runs the steps
// (process/demand-codec.ts).

/** Bytes of rows walked, compared or decoded between two yields: a few tenths of a millisecond. */
const STEP_BYTES = 16 * 1024;
const STEP_ROWS = 32;

/** Counts work and reports when a yield is due. */
export class Steps {
  #rows = 0;
  #bytes = 0;

  isOver(bytes: number): boolean {
    this.#bytes += bytes;
    if (++this.#rows < STEP_ROWS && this.#bytes < STEP_BYTES) return false;
    this.#rows = this.#bytes = 0;
    return true;
  }
}

/** Runs a step-by-step computation to its end. */
export function finished<R>(steps: Generator<undefined, R>): R {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
