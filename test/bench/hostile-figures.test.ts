// The figures of an attack: acks count in the phase in which they were sent, counters are differences, the table is
// aligned.

import { describe, expect, it } from 'vitest';
import { figuresOf, type Look } from '../../bench/hostile/figures.ts';
import { tableOf } from '../../bench/hostile/report.ts';
import type { Settings } from '../../bench/hostile/settings.ts';

const LAG = { p50: 0, p99: 1, max: 2 };
const SETTINGS: Settings = {
  neighbours: 20,
  everyMs: 50,
  machines: 1,
  settleMs: 1,
  seconds: 1,
  times: 10,
  seed: 1,
  niceness: 0,
};

const usageAt = (cpuSeconds: number) => ({ cpuSeconds, rssMiB: 1, peakRssMiB: 1, threads: new Map() });

function look(second: number, malformed: number): Look {
  const metrics = [
    'bigfleet_shard_event_loop_lag_seconds{quantile="0.99"} 0.004',
    `bigfleet_shard_session_events_total{event="frames_malformed"} ${malformed}`,
    `bigfleet_shard_session_events_total{event="rollups_accepted"} ${second * 400}`,
    'bigfleet_shard_readers_cut_total{reason="requests"} 7',
  ].join('\n');
  return { atMs: second * 1000, metrics, idleLagMs: LAG, usage: new Map([['shard', usageAt(second / 2)]]) };
}

const ack = (sentMs: number, tookMs: number) => ({ sentMs, ackMs: sentMs + tookMs, isChanged: true });

const cycle = (endedMs: number, durationMs: number) => ({
  ...{ beganMs: endedMs - durationMs, endedMs, durationMs },
  ...{ unmet: 0, decided: {} },
});

/** Three phases of a second each, one roll-up in each of them and one without an ack. */
function figures(outcomes: ReadonlyMap<string, number>) {
  return figuresOf({
    attack: 'malformed',
    looks: [look(0, 1), look(1, 1), look(2, 41), look(3, 42)],
    ended: { kind: 'ended', attempts: 40, heldBack: 0, outcomes },
    cycles: [cycle(900, 10), cycle(1_900, 15), cycle(1_950, 40), cycle(2_900, 10)],
    report: {
      kind: 'report',
      // The second is acknowledged in the phase after its own; the last is sent after the end.
      acks: [ack(500, 10), ack(1_500, 800), ack(2_500, 20), ack(3_500, 1)],
      sentMs: [500, 1_500, 2_500, 2_600, 3_500],
      lost: new Map(),
      lagMs: LAG,
    },
  });
}

describe('the figures of an attack', () => {
  it('given acks that come late, then they count in the phase of their roll-up', () => {
    const { before, during, after, ratio, unacknowledged } = figures(new Map());
    expect([before, during, after].map(({ ackMs }) => [ackMs.p99, ackMs.samples])).toEqual([
      [10, 1],
      [800, 1],
      [20, 1],
    ]);
    expect({ ratio, unacknowledged }).toEqual({ ratio: 80, unacknowledged: 1 });
  });

  it('given cycles, then they count in the phase they ended in', () => {
    const { before, during, cycleRatio } = figures(new Map());
    expect([before.cycleMs.samples, during.cycleMs.samples]).toEqual([1, 2]);
    expect(cycleRatio).toBe(during.cycleMs.p50 / 10);
  });

  it('given counters, then what grew since the attack began is told, and not what good clusters do', () => {
    expect(figures(new Map()).counted).toEqual({ frames_malformed: 41 });
  });

  it('given more outcomes than fit, then no line is longer than 100 columns', () => {
    const outcomes = new Map(Array.from({ length: 30 }, (_, i) => [`OUTCOME_NUMBER_${i}`, 1_000_000]));
    const lines = tableOf(SETTINGS, [figures(outcomes)]).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
  });
});
