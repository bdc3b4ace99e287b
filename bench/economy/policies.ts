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
  releaseHoldSeconds: DEFAULT_RELEASE_HOLD_SECONDS,
  weights: DEFAULT_SCORE_WEIGHTS,
};

/** The first is the one that an old fleet was bought under, and that others are compared with. */
export const POLICIES: Readonly<Record<string, DecisionOptions>> = {
  today: { ...COMMON, ...UNSHARED_OPTIONS },
  shared: { ...COMMON, ...SHARED_OPTIONS },
};
