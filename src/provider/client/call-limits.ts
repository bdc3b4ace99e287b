// Limits of a call to a provider and their defaults: plain data that settings of a shard name too.

/** How long to wait, and for how long to try. */
export interface CallLimits {
  /** A call with all its attempts and waits. Default 30 s; the shard gives an action no more. */
  readonly callMs: number;
  /** One attempt of a call other than List. Default 10 s: a lost answer then leaves time for two more. */
  readonly attemptMs: number;
  /** A List with all its attempts; one may take all of it. Default 2 min: 150 MB over a busy link. */
  readonly listMs: number;
  /** Attempts of one call, the first included. Default 4. */
  readonly attempts: number;
  /** The wait after the n-th attempt is between half and all of `backoffMs` · 2ⁿ⁻¹, at most `maxBackoffMs`. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}

export const DEFAULT_LIMITS: CallLimits = {
  callMs: 30_000,
  attemptMs: 10_000,
  listMs: 120_000,
  attempts: 4,
  backoffMs: 200,
  maxBackoffMs: 5_000,
};
