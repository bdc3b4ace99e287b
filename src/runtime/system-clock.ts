// The clock of the operating system. Processes start with it; tests use virtual-clock.ts.

import type { Clock } from './clock.ts';

/** The real time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    // A negative delay is overdue and fires at once; Node would log a warning for it.
    const timer = setTimeout(run, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};
