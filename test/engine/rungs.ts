// Fleets of the scale ladder as inputs of a decision, for comparing the engine with the oracle. Used by rungs.test.ts,
// off-digests.test.ts and `npm run verify:oracle`.

import { loadProfile } from '../../bench/profiles/load.ts';
import { WORKLOAD_NOW_MS } from '../../src/demo/workload/rows.ts';
import type { DecisionInput, EconomyOptions, Need } from '../../src/model/index.ts';
import { DEFAULT_RELEASE_HOLD_SECONDS } from '../../src/scenario/scenario.ts';
import { anInput } from '../../testing/support/fleets.ts';
import { type Beginning, Workload } from '../../testing/workload/workload.ts';

export function rungInput(profile: string, beginning: Beginning, economy: EconomyOptions): DecisionInput {
  const seed = 1;
  const workload = new Workload(loadProfile(profile), seed, beginning);
  const needs: Need[] = [];
  for (let cluster = 0; cluster < workload.profile.clusters; cluster++)
    needs.push(...workload.needsOf(cluster));
  const { options, ...input } = anInput([...workload.machines()], needs, economy);
  const releaseHoldSeconds = DEFAULT_RELEASE_HOLD_SECONDS;
  return { ...input, nowMs: WORKLOAD_NOW_MS, options: { ...options, releaseHoldSeconds } };
}
