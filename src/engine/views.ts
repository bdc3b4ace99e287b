// What rows saw at their turn, kept for whoever serves them further or explains them.

import type { DomainCandidate } from '../model/index.ts';

/** What a gang saw and chose. */
export interface GangView {
  /** Domains it chose from and in which it could ever be whole, best first; worked out where it is short. */
  readonly order: readonly number[];
  /** Number of the domain; NONE for none. */
  readonly domain: number;
  readonly satisfiable: boolean;
  readonly candidates: readonly DomainCandidate[];
  /** What is missing in its domain even with everything free there; null where nothing is. */
  readonly missing: Float64Array | null;
}

/** Where a strict-spread row stands: machines per domain, and what it could take. */
export interface SpreadView {
  readonly counts: ReadonlyMap<number, number>;
  /** Classes with the key that had free fitting machines when the row was served, coming ones included. */
  readonly offers: ReadonlySet<number>;
  /** Classes with the key of which Idle or Speculative machines were left free. */
  readonly free: ReadonlySet<number>;
}
