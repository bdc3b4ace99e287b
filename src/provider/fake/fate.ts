// The outcome of one transition of the fake cloud, drawn by cloud.ts before it begins. All draws are always made, so
// that changing one setting does not shift the random stream of the others.

import { CapacityType } from '../../model/index.ts';
import type { Random } from '../../runtime/random.ts';
import type { TransitionKind } from '../kit/transitions.ts';
import { logNormal } from './draws.ts';
import type { FakeSettings } from './settings.ts';

export interface Fate {
  readonly ending: 'success' | 'permanent error' | 'hangs' | 'never ready' | 'slow';
  /** Time until the transition ends, successfully or not. */
  readonly latencyMs: number;
  /** Attempts that fail before one succeeds; at `MAX_ATTEMPTS` the transition fails. */
  readonly failedAttempts: number;
}

/** Attempts that the backend makes, including the first. */
export const MAX_ATTEMPTS = 4;

export function drawFate(
  random: Random,
  kind: TransitionKind,
  capacityType: CapacityType,
  { latency, operations }: Pick<FakeSettings, 'latency' | 'operations'>,
): Fate {
  const { medianMs, spread } = latency[kind];
  const usualMs = logNormal(random, medianMs, spread) * factorOf(capacityType, latency.factor);
  const isPermanent = random.chance(operations.permanentError);
  const hangs = random.chance(operations.hang);
  const isNeverReady = random.chance(operations.neverReady) && kind === 'configure';
  const isSlow = random.chance(operations.slow);
  let failedAttempts = 0;
  while (failedAttempts < MAX_ATTEMPTS && random.chance(operations.transientError)) failedAttempts++;
  if (isPermanent) return { ending: 'permanent error', latencyMs: usualMs / 4, failedAttempts: 0 };
  if (hangs) return { ending: 'hangs', latencyMs: usualMs, failedAttempts: 0 };
  if (isNeverReady) return { ending: 'never ready', latencyMs: usualMs, failedAttempts: 0 };
  if (isSlow) return { ending: 'slow', latencyMs: usualMs * operations.slowFactor, failedAttempts: 0 };
  return { ending: 'success', latencyMs: usualMs, failedAttempts };
}

function factorOf(type: CapacityType, factor: FakeSettings['latency']['factor']): number {
  switch (type) {
    case CapacityType.BareMetal:
      return factor.bareMetal;
    case CapacityType.Reserved:
      return factor.reserved;
    case CapacityType.Spot:
      return factor.spot;
    case CapacityType.OnDemand:
    case CapacityType.Unspecified:
      return factor.onDemand;
  }
}
