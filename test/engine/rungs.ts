// Fleets of the scale ladder as inputs of a decision, for comparing the engine with the oracle.

import { loadProfile } from '../../bench/profiles/load.ts';
import type { DecisionInput, Need } from '../../src/model/index.ts';
import {
  type Beginning,
  DEFAULT_RELEASE_HOLD_SECONDS,
  WORKLOAD_NOW_MS,
  Workload,
} from '../../src/sim/index.ts';
import { anInput } from '../fleets.ts';

export function rungInput(profile: string, beginning: Beginning, seed = 1): DecisionInput {
  const workload = new Workload(loadProfile(profile), seed, beginning);
  const needs: Need[] = [];
  for (let cluster = 0; cluster < workload.profile.clusters; cluster++)
    needs.push(...workload.needsOf(cluster));
  const { options, ...input } = anInput([...workload.machines()], needs);
  const releaseHoldSeconds = DEFAULT_RELEASE_HOLD_SECONDS;
  return { ...input, nowMs: WORKLOAD_NOW_MS, options: { ...options, releaseHoldSeconds } };
}
