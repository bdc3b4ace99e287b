// Every limit of reconcile, with its default. Part of the controller's options (planning/options.ts).

import type { BackoffLimits } from '../../runtime/backoff.ts';

export interface ReconcileLimits {
  /** From the end of one reading of a provider to the start of the next. Lower values cost the provider more calls. */
  readonly changesMs: number;
  /** Interval of full Lists. */
  readonly fullMs: number;
  /** After a failed List or Get. */
  readonly retry: BackoffLimits;
}

export const RECONCILE_LIMITS: ReconcileLimits = {
  changesMs: 1000,
  fullMs: 60_000,
  retry: { baseMs: 1000, maxMs: 60_000 },
};
