// Options of renewal in a shard, apart from cluster-renewals.ts, so that printing the settings loads no engine.

import { DEFAULT_RENEWAL_LIMITS, type RenewalLimits } from '../../model/index.ts';

export interface RenewalOptions extends RenewalLimits {
  /** Without sharing nothing is replaced, whatever this is: most savings are those of shared machines. */
  readonly isOn: boolean;
}

export const DEFAULT_RENEWAL: RenewalOptions = { ...DEFAULT_RENEWAL_LIMITS, isOn: true };
