// Brings what the hands counted under the names of docs/metrics.md, when somebody asks.

import type { Hands } from './hands/hands.ts';
import type { HandsMetrics } from './metrics.ts';

/** How often the loop is looked at. */
export const LAG_RESOLUTION_MS = 10;

/** Nanoseconds from one look to the next, as `monitorEventLoopDelay` counts them. */
export interface LoopLag {
  percentile(percentile: number): number;
  reset(): void;
}

export function handsText(metrics: HandsMetrics, hands: Hands, lag: LoopLag): string {
  const { counters } = hands;
  metrics.activeSessions.set(hands.sessions.length);
  metrics.sessions.of({ event: 'installed' }).raiseTo(counters.sessionsOpened);
  metrics.sessions.of({ event: 'removed' }).raiseTo(counters.sessionsClosed);
  metrics.sessions.of({ event: 'replaced' }).raiseTo(counters.sessionsReplaced);
  metrics.identityRejected.raiseTo(counters.identityRejected);
  for (const { cluster, refusedRollups, held } of hands.reports) {
    if (refusedRollups > 0) metrics.rollupsRejected.of({ cluster }).raiseTo(refusedRollups);
    metrics.quarantined(cluster, held !== null);
  }
  for (const [quantile, name] of QUANTILES)
    metrics.eventLoopLag.of({ quantile: name }).set(secondsLate(lag.percentile(quantile)));
  lag.reset();
  return metrics.text();
}

/** Beyond the wait that was asked for. */
function secondsLate(nanos: number): number {
  return Math.max(0, nanos / NANOS_PER_SECOND - LAG_RESOLUTION_MS / 1000);
}

const QUANTILES = [
  [50, '0.5'],
  [99, '0.99'],
  [100, '1'],
] as const;
const NANOS_PER_SECOND = 1e9;
