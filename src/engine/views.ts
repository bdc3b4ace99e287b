// What rows found when they were served, for Phase 2 and for verdicts. Types of what cycle-result.ts and unmet.ts keep.

import type { DomainCandidate } from '../model/index.ts';

export interface GangView {
  /** Domains that it chose from and that could ever complete it, best first; computed only if it is short. */
  readonly order: readonly number[];
  /** NONE for none. */
  readonly domain: number;
  readonly satisfiable: boolean;
  readonly candidates: readonly DomainCandidate[];
  /** What is missing in its domain even with everything free there; null if nothing is. */
  readonly missing: Float64Array | null;
}

/** State of a strict-spread row when it was left short: machines per domain, and the classes it could use. */
export interface SpreadView {
  readonly counts: ReadonlyMap<number, number>;
  /** Classes with the key that had free fitting machines when the row was served, including those on their way to it. */
  readonly offers: ReadonlySet<number>;
  /** Classes with the key that still had free Idle or Speculative machines. */
  readonly free: ReadonlySet<number>;
}
