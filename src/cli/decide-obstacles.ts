// The obstacles of a Need for `bigfleet decide --explain`, from the engine alone: a scenario records that a machine is
// blocked, not why.

import {
  adviceFor,
  CLAIMED_CAUSES,
  type Explanation,
  type NeedKey,
  OBSTACLE_CAUSES,
  type Obstacle,
  obstacleText,
  sortedObstacles,
  type Verdict,
  whyUnused,
} from '../model/index.ts';

/** Sentences, the cause with most machines first. */
export function obstacleSentences(
  verdict: Verdict,
  { obstacles }: Explanation,
  nameOf: (key: NeedKey) => string,
): readonly string[] {
  return sortedObstacles(obstaclesOf(verdict, obstacles, nameOf)).map(obstacleText);
}

/** What would help a Need that is not met; `highest` is the highest priority of all Needs. */
export function adviceOn(
  verdict: Verdict,
  { obstacles }: Explanation,
  highest: number,
  nameOf: (key: NeedKey) => string,
): readonly string[] {
  const { unmet, priority } = verdict;
  if (unmet === null) return [];
  const missing = unmet.extraSupply?.count;
  const need = { priority, isHighest: priority >= highest, reason: unmet.reason, missing };
  return adviceFor(need, obstaclesOf(verdict, obstacles, nameOf));
}

function obstaclesOf(
  verdict: Verdict,
  { machines, claimants, claimantsTotal }: Explanation['obstacles'],
  nameOf: (key: NeedKey) => string,
): readonly Obstacle[] {
  return OBSTACLE_CAUSES.map((cause) => {
    const claimed = CLAIMED_CAUSES.find((of) => of === cause);
    if (cause === 'unused') return { cause, machines: machines[cause], error: whyUnused(verdict) };
    if (claimed === undefined) return { cause, machines: machines[cause] };
    const rows = claimants
      .filter((claimant) => claimant.cause === claimed)
      .map(({ key, priority, machines: count }) => ({ id: nameOf(key), priority, machines: count }));
    return { cause, machines: machines[cause], rows, rowsTotal: claimantsTotal[claimed] };
  });
}
