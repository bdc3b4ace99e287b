// Verdicts of a shard, for tests of the operator's parts that read them.

import type { NeedVerdicts_Verdict } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';

export function verdict(
  profileFingerprint: string,
  group: string,
  more: Partial<NeedVerdicts_Verdict> = {},
): NeedVerdicts_Verdict {
  return {
    profileFingerprint,
    group,
    satisfied: false,
    unmetReason: '',
    cause: '',
    sentence: '',
    rowsAhead: 0,
    machines: [],
    sharedMachines: [],
    machineTotal: 0,
    notConfigured: 0,
    removed: false,
    ...more,
  };
}
