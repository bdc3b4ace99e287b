// Exponential back-off with jitter, so that callers that failed together do not retry together.

import type { Random } from './random.ts';

export interface BackoffLimits {
  /** The wait after the n-th consecutive failure is between half and all of `baseMs` · 2ⁿ⁻¹, at most `maxMs`. */
  readonly baseMs: number;
  readonly maxMs: number;
}

export function waitMs(random: Random, { baseMs, maxMs }: BackoffLimits, failures: number): number {
  const most = Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30));
  return Math.ceil(most / 2) + random.below(Math.floor(most / 2) + 1);
}
