// The clock of the operating system. Processes start with it; tests use virtual-clock.ts.

import type { MonotonicClock } from './clock.ts';

/** The real time. */
export const systemClock: MonotonicClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, run) => {
    // A negative delay is overdue and fires at once; Node would log a warning for it.
    const timer = setTimeout(run, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};
