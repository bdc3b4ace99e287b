import { describe, expect, it } from 'vitest';
import type { Sessions } from '../sessions/sessions.ts';
import { SessionMetrics } from './metrics.ts';
import { LAG_RESOLUTION_MS, type LoopLag, type ScrapedValues, sessionsText } from './session-metrics.ts';

/** Percentile p is p/100 s late, except that the median is 1 ms early, as a timer may be. */
const LAG: LoopLag = {
  percentile: (percentile) => (percentile * 10 + (percentile === 50 ? -501 : LAG_RESOLUTION_MS)) * 1e6,
  reset: () => {},
};
const AROUND: ScrapedValues = {
  controller: { waiting: 0, waitingMs: 0 },
  paced: { waiting: 0, coalesced: 0 },
  readers: {},
};

function sessions(given: {
  readonly held?: boolean;
  readonly refused?: number;
  readonly opened?: number;
}): Sessions {
  const { held = false, refused = 0, opened = 0 } = given;
  return {
    sessions: [{}, {}],
    load: { rows: 0, bytes: 0, waiting: 0, waitingBytes: 0 },
    counters: { sessionsOpened: opened, sessionsClosed: 1, sessionsReplaced: 0, identityRejected: 3 },
    reports: [{ cluster: 'c1', refusedRollups: refused, held: held ? {} : null }],
  } as unknown as Sessions;
}

describe('sessionsText', () => {
  it('given counters of sessions, then they are exposed under the names of the metrics', () => {
    const text = sessionsText(
      new SessionMetrics(),
      sessions({ held: true, refused: 4, opened: 5 }),
      LAG,
      AROUND,
    );

    for (const line of [
      'active_sessions 2',
      'session_lifecycle_total{event="installed"} 5',
      'session_lifecycle_total{event="removed"} 1',
      'session_identity_rejected_total 3',
      'rollups_rejected_total{cluster="c1"} 4',
      'rollup_quarantined{cluster="c1"} 1',
      'event_loop_lag_seconds{quantile="0.5"} 0',
      'event_loop_lag_seconds{quantile="0.99"} 0.99',
      'event_loop_lag_seconds{quantile="1"} 1',
    ])
      expect(text).toContain(`bigfleet_shard_${line}\n`);
  });

  it('given two scrapes, then counters are not added twice, and a cluster that left quarantine has no series', () => {
    const metrics = new SessionMetrics();
    sessionsText(metrics, sessions({ held: true, opened: 5 }), LAG, AROUND);
    const text = sessionsText(metrics, sessions({ opened: 6 }), LAG, AROUND);

    expect(text).toContain('session_lifecycle_total{event="installed"} 6\n');
    expect(text).not.toContain('rollup_quarantined{');
  });
});
