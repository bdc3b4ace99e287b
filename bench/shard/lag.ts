// Lag of the event loop of a process, for the processes of `bench shard` and `bench hostile`.

import type { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Quantiles, rounded } from '../quantiles.ts';

/** Sampling interval; the histogram includes it in each delay. */
export const LAG_RESOLUTION_MS = 10;

export function lagOf(histogram: ReturnType<typeof monitorEventLoopDelay>): Quantiles {
  const at = (percentile: number): number =>
    rounded(Math.max(0, histogram.percentile(percentile) / 1e6 - LAG_RESOLUTION_MS));
  return { p50: at(50), p99: at(99), max: at(100) };
}
