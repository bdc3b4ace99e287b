// The real time.

import type { Clock } from '../../model/index.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    // What is overdue by the time it is asked for is due now; Node warns of less than nothing.
    const timer = setTimeout(run, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};
