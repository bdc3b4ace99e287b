// The policies that `bench economy` compares: the engine with different options.

import {
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  type EconomyOptions,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
} from '../../src/model/index.ts';
import { DEFAULT_RELEASE_HOLD_SECONDS } from '../../src/scenario/scenario.ts';

const COMMON: Omit<DecisionOptions, keyof EconomyOptions> = {
  readyClusters: null,
  cannotBind: new Set(),
  retiring: new Set(),
  releaseHoldSeconds: DEFAULT_RELEASE_HOLD_SECONDS,
  weights: DEFAULT_SCORE_WEIGHTS,
};

export interface Policy extends DecisionOptions {
  /** Whether machines are replaced by others that cost less. */
  readonly renews: boolean;
}

/**
 * The first is the one that an old fleet was bought under, and that others are compared with. The last one has all rules, and
 * goals are compared with it.
 */
export const POLICIES: Readonly<Record<string, Policy>> = {
  today: { ...COMMON, ...UNSHARED_OPTIONS, renews: false },
  shared: { ...COMMON, ...SHARED_OPTIONS, renews: false },
  renewed: { ...COMMON, ...SHARED_OPTIONS, renews: true },
};
