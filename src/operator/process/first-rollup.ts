// Holds the first roll-up of a session back until the shard has said which nodes are its machines. A node that is known to
// the shard by provider id or name alone is not managed before that, its pods count for nothing, and a roll-up without them
// would withdraw the demand that keeps it. Used by cluster-parts.ts.

import type { Clock } from '../../runtime/clock.ts';

/** The shard reports its machines right after the hello, each within this time of the one before. */
const QUIET_MS = 1_000;
/** At most: a cluster of 5,000 nodes takes some seconds. New pods wait meanwhile. */
const LONGEST_MS = 10_000;

export class FirstRollup {
  readonly #clock: Clock;
  readonly #release: () => void;
  #startMs = 0;
  #lastMs = 0;
  #cancel: (() => void) | null = null;

  /** `release` is called when the hold ends by itself. */
  constructor(clock: Clock, release: () => void) {
    this.#clock = clock;
    this.#release = release;
  }

  get isHeld(): boolean {
    return this.#cancel !== null;
  }

  hold(): void {
    this.end();
    this.#startMs = this.#clock.now();
    this.#lastMs = this.#startMs;
    this.#wait(QUIET_MS);
  }

  /** The shard has reported a machine. */
  reported(): void {
    this.#lastMs = this.#clock.now();
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #wait(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const leftMs = Math.min(this.#lastMs + QUIET_MS, this.#startMs + LONGEST_MS) - this.#clock.now();
      if (leftMs > 0) {
        this.#wait(leftMs);
        return;
      }
      this.#cancel = null;
      this.#release();
    });
  }
}
