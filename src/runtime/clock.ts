// The clock of everything outside the engine. Only an adapter reads the real clock or starts a timer, so that whole
// systems can run on a virtual clock, where a day takes a second and every run is reproducible. Adapters:
// system-clock.ts and, for tests, virtual-clock.ts.

/** The time and its timers: `systemClock`, or a clock that a test advances. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` after `ms` milliseconds; the returned function cancels the timer. */
  after(ms: number, run: () => void): () => void;
}

/** For intervals that a correction of the system's time must not stretch or cut short, such as leases. */
export interface MonotonicClock extends Clock {
  /** Milliseconds since an arbitrary moment. Never steps, unlike `now`. */
  monotonic(): number;
}
