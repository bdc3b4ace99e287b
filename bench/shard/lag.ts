// How late the event loop of a process was.

import type { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Quantiles, rounded } from '../quantiles.ts';

/** Between two looks; a histogram counts it as part of each delay. */
export const LAG_RESOLUTION_MS = 10;

export function lagOf(histogram: ReturnType<typeof monitorEventLoopDelay>): Quantiles {
  const at = (percentile: number): number =>
    rounded(Math.max(0, histogram.percentile(percentile) / 1e6 - LAG_RESOLUTION_MS));
  return { p50: at(50), p99: at(99), max: at(100) };
}
