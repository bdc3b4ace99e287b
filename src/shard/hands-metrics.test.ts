// What the hands counted, as Prometheus reads it.

import { describe, expect, it } from 'vitest';
import { bench } from './hands/testkit.ts';
import { handsText, LAG_RESOLUTION_MS } from './hands-metrics.ts';
import { HandsMetrics } from './metrics.ts';

const NANOS_PER_MS = 1e6;

describe('the lag of the event loop', () => {
  it('is what a turn was late, without the wait between two looks', async () => {
    const { hands } = await bench();
    const intervalMs = new Map([
      [50, LAG_RESOLUTION_MS],
      [99, LAG_RESOLUTION_MS + 25],
      // Timers may come a little early.
      [100, LAG_RESOLUTION_MS - 1],
    ]);
    const lag = { percentile: (at: number) => intervalMs.get(at)! * NANOS_PER_MS, reset: () => {} };

    const text = handsText(new HandsMetrics(), hands, lag);

    expect(text).toContain('event_loop_lag_seconds{quantile="0.5"} 0\n');
    expect(text).toMatch(/event_loop_lag_seconds\{quantile="0\.99"\} 0\.025\d*\n/);
    expect(text).toContain('event_loop_lag_seconds{quantile="1"} 0\n');
  });
});
