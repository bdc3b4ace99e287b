// Every limit of reconcile, with its default.

import type { BackoffLimits } from '../backoff.ts';

export interface ReconcileLimits {
  /** From the end of one reading of a provider to the next. Lower finds changes sooner and costs the provider more. */
  readonly changesMs: number;
  /** How often everything is read, which alone shows what is gone. */
  readonly fullMs: number;
  /** After a reading that failed, and after a Get that did. */
  readonly retry: BackoffLimits;
}

export const RECONCILE_LIMITS: ReconcileLimits = {
  changesMs: 1000,
  fullMs: 60_000,
  retry: { baseMs: 1000, maxMs: 60_000 },
};
