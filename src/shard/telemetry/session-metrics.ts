// Copies the counters of the sessions into the metrics of docs/reference/metrics.md on each scrape. Called by
// process/shard.ts.

import type { Sessions } from '../sessions/sessions.ts';
import { type ReaderEnd, type SessionMetrics, snakeCase } from './metrics.ts';

/** Sampling interval of the event loop's delay. */
export const LAG_RESOLUTION_MS = 10;

/** Nanoseconds between two samples, as `monitorEventLoopDelay` counts them: the interval is included. */
export interface LoopLag {
  percentile(percentile: number): number;
  reset(): void;
}

/** Other values that are read on each scrape. */
export interface ScrapedValues {
  readonly controller: { readonly waiting: number; readonly waitingMs: number };
  readonly paced: { readonly waiting: number; readonly coalesced: number };
  readonly readers: Readonly<Partial<Record<ReaderEnd, number>>>;
}

export function sessionsText(
  metrics: SessionMetrics,
  sessions: Sessions,
  lag: LoopLag,
  { controller, paced, readers }: ScrapedValues,
): string {
  const { counters, load } = sessions;
  for (const [name, count] of Object.entries(counters) as [string, number][])
    metrics.events.of({ event: snakeCase(name) }).raiseTo(count);
  metrics.demandRows.set(load.rows);
  metrics.demandBytes.set(load.bytes);
  metrics.rollupsWaiting.set(load.waiting);
  metrics.rollupsWaitingBytes.set(load.waitingBytes);
  metrics.controllerWaiting.set(controller.waiting);
  metrics.controllerWaitingSeconds.set(controller.waitingMs / 1000);
  metrics.demandsWaiting.set(paced.waiting);
  metrics.demandsCoalesced.raiseTo(paced.coalesced);
  for (const [reason, count] of Object.entries(readers) as [ReaderEnd, number][])
    metrics.readers.of({ reason }).raiseTo(count);
  metrics.activeSessions.set(sessions.sessions.length);
  metrics.sessions.of({ event: 'installed' }).raiseTo(counters.sessionsOpened);
  metrics.sessions.of({ event: 'removed' }).raiseTo(counters.sessionsClosed);
  metrics.sessions.of({ event: 'replaced' }).raiseTo(counters.sessionsReplaced);
  metrics.identityRejected.raiseTo(counters.identityRejected);
  for (const { cluster, refusedRollups, held } of sessions.reports) {
    if (refusedRollups > 0) metrics.rollupsRejected.of({ cluster }).raiseTo(refusedRollups);
    metrics.quarantined(cluster, held !== null);
  }
  for (const [quantile, name] of QUANTILES)
    metrics.eventLoopLag.of({ quantile: name }).set(secondsLate(lag.percentile(quantile)));
  lag.reset();
  return metrics.text();
}

/** Delay beyond the sampling interval. */
function secondsLate(nanos: number): number {
  return Math.max(0, nanos / NANOS_PER_SECOND - LAG_RESOLUTION_MS / 1000);
}

const QUANTILES = [
  [50, '0.5'],
  [99, '0.99'],
  [100, '1'],
] as const;
const NANOS_PER_SECOND = 1e9;
