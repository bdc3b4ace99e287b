// Regimes: the situation in which a cycle is measured, given by the initial fleet and the changes between two cycles.
// Used by `bench ladder` and its gate (bench/gate.ts); scale-profile.ts checks the names in thresholds.

import type { Change, ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import type { Beginning } from './workload.ts';

/**
 *  cold    nothing bound, everything unmet
 *  full    everything bound, with losses, surpluses, shortfalls and priority inversions planted; every cycle solves all of it
 *  steady  everything bound and fitting; nothing changes
 *  churn   steady, and between cycles the everyday changes of the profile
 *  burst   steady, and between cycles the deploy burst of the profile
 */
export type Regime = (typeof REGIMES)[number];

export const REGIMES = ['cold', 'full', 'steady', 'churn', 'burst'] as const;

export function isRegime(name: string): name is Regime {
  return (REGIMES as readonly string[]).includes(name);
}

/** The initial fleet of a regime (see `Beginning`). */
export function beginningOf(regime: Regime): Beginning {
  return regime === 'cold' || regime === 'full' ? regime : 'quiet';
}

/** Changes between two cycles; null: none. */
export function changeOf(regime: Regime, profile: ScaleProfile): Change | null {
  return regime === 'churn' || regime === 'burst' ? profile[regime] : null;
}
