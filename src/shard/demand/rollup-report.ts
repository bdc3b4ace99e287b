// The report to an operator on its roll-up: the frame `rollup_report`, for operators that announced the feature. Made
// by cluster-demand.ts.

import { excerpt } from '../../model/index.ts';
import {
  type RollupReport,
  RollupReport_Effect,
  RollupReport_Outcome,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { RollupProblem, RollupProblems } from '../../wire/index.ts';

const OUTCOMES = {
  accepted: RollupReport_Outcome.OUTCOME_ACCEPTED,
  held: RollupReport_Outcome.OUTCOME_HELD,
  refused: RollupReport_Outcome.OUTCOME_REFUSED,
} as const;

const EFFECTS: Readonly<Record<RollupProblem['effect'], RollupReport_Effect>> = {
  'set-aside': RollupReport_Effect.EFFECT_SET_ASIDE,
  saturated: RollupReport_Effect.EFFECT_SATURATED,
  zeroed: RollupReport_Effect.EFFECT_ZEROED,
  refused: RollupReport_Effect.EFFECT_REFUSED,
};

export function rollupReport(
  outcome: keyof typeof OUTCOMES,
  timestampUnixNanos: bigint,
  { first, total }: RollupProblems,
): RollupReport {
  return {
    timestampUnixNanos,
    outcome: OUTCOMES[outcome],
    total,
    problems: first.map(({ index, code, path, message, effect }) => ({
      needIndex: index,
      code,
      path: excerpt(path),
      message: excerpt(message),
      effect: EFFECTS[effect],
    })),
  };
}
