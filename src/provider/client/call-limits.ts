// Limits of a call to a provider and their defaults: plain data, also used by the settings of a shard.

/** Timeouts and backoff of calls. */
export interface CallLimits {
  /** A call with all its attempts and backoffs. Default 30 s, which is all the shard allows an action. */
  readonly callMs: number;
  /** One attempt of a call other than List. Default 10 s: a lost answer then leaves time for two more. */
  readonly attemptMs: number;
  /** A List with all its attempts; one may take all of it. Default 2 min: 150 MB over a busy link. */
  readonly listMs: number;
  /** Attempts of one call, the first included. Default 4. */
  readonly attempts: number;
  /** The backoff after attempt n is drawn between half and all of min(`backoffMs` · 2ⁿ⁻¹, `maxBackoffMs`). */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}

/** The limits of a client that sets none. */
export const DEFAULT_LIMITS: CallLimits = {
  callMs: 30_000,
  attemptMs: 10_000,
  listMs: 120_000,
  attempts: 4,
  backoffMs: 200,
  maxBackoffMs: 5_000,
};
