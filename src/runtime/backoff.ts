// Exponential backoff with jitter, so that callers that failed together do not retry together. Used by the provider
// client and by the shard's actuation and reconcile.

import type { Random } from './random.ts';

/** How long to wait between attempts: delays double with each failure and are drawn at random. */
export interface BackoffLimits {
  /** The delay after the first failure is between half and all of this. */
  readonly baseMs: number;
  /** Upper bound of every delay. */
  readonly maxMs: number;
}

/** Upper bound of the delay after the n-th consecutive failure, n from 1: min(`maxMs`, `baseMs` · 2ⁿ⁻¹). */
export function longestBackoffMs({ baseMs, maxMs }: BackoffLimits, failures: number): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30));
}

/** The delay after the n-th consecutive failure: uniform in the upper half of the bound. Draws one random number. */
export function backoffMs(random: Random, limits: BackoffLimits, failures: number): number {
  const longest = longestBackoffMs(limits, failures);
  return Math.ceil(longest / 2) + random.below(Math.floor(longest / 2) + 1);
}
