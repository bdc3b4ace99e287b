// Time, as everything outside the engine sees it. Nothing but an adapter reads the real clock or starts a timer, so that
// whole systems run on a virtual clock, where a day takes a second and every run repeats.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs something after so many milliseconds; the returned function calls it off. */
  after(ms: number, run: () => void): () => void;
}
