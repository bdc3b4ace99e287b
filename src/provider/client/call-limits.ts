// Limits of a call to a provider and their defaults: plain data, applied by attempts.ts and also used by the settings
// of a shard (shard/config/settings.ts).

import type { BackoffLimits } from '../../runtime/backoff.ts';

/** Timeouts and retries of calls. */
export interface CallLimits {
  /** A call other than List, with all its attempts and backoffs. Default 30 s. */
  readonly callMs: number;
  /** One attempt of a call other than List. Default 10 s: a lost answer then leaves time for two more. */
  readonly attemptMs: number;
  /** A List with all its attempts; one may take all of it. Default 2 min: 150 MB over a busy link. */
  readonly listMs: number;
  /** Attempts of one Get or List, the first included. Default 4. */
  readonly readAttempts: number;
  /**
   * Attempts of one Create, Configure, Drain or Delete, the first included. Default 4. 1 for a caller that retries by
   * itself, as a shard does: two nested loops would multiply their attempts.
   */
  readonly mutationAttempts: number;
  /** Between two attempts. Default 200 ms to 5 s. */
  readonly backoff: BackoffLimits;
}

/** The limits of a client that sets none. */
export const DEFAULT_LIMITS: CallLimits = {
  callMs: 30_000,
  attemptMs: 10_000,
  listMs: 120_000,
  readAttempts: 4,
  mutationAttempts: 4,
  backoff: { baseMs: 200, maxMs: 5_000 },
};
