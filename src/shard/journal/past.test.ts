import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { aCycleView, fileAt, Recorded, withPath } from '../../../testing/support/journal.ts';
import type { ActionView, LossesView, LossView, SeriesPoint } from '../views.ts';
import { readPast } from './past.ts';

const ACTION = { id: '1-1', machine: 'm', cluster: 'c', need: null, outcome: null } as unknown as ActionView;

function pointAt(atMs: number): SeriesPoint {
  const counts = { needs: 1, unmet: 1, begun: 0, failed: 0 };
  return { atMs, costPerHour: 2, costByPart: {}, machinesByState: {}, ...counts };
}

function aLoss(given: Partial<LossView>): LossView {
  return {
    ...{ atMs: 1, loss: 'failed', machine: 'm', provider: 'p', zone: 'za', capacityType: 'SPOT' },
    ...{ was: 'CONFIGURED', cluster: 'c', need: null, errorClass: 'host-failed', error: 'the host died' },
    ...given,
  };
}

const SOME_LOSSES: LossesView = {
  ...{ atMs: 104, sinceMs: 100, provider: 'p', zone: 'za', isDark: true, count: 5, of: 5, clusters: [] },
  ...{ errorClass: 'host-failed', error: 'the host died' },
};

describe('the history of a new process', () => {
  it('given a journal, then it has the points of the last hour, and ended actions and log lines in order', () =>
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded({ behindBytes: 0, put: (message) => file.write([message]) });
      const { recorder } = recorded;
      const cycle = (point: SeriesPoint | null): void => {
        recorded.cycle([]);
        recorder.outcome({ digest: 'd', hasClaims: false }, aCycleView(1, recorded.nowMs), [], point);
      };
      cycle(pointAt(recorded.nowMs));
      recorded.nowMs += 4_000_000;
      const first = pointAt(recorded.nowMs);
      cycle(first);
      recorder.event({ kind: 'action-started', action: ACTION });
      recorder.event({ kind: 'action-ended', action: { ...ACTION, outcome: 'success' } });
      recorder.event({ kind: 'log', level: 'error', event: 'provider-breaker', fields: { provider: 'p' } });
      cycle(null);
      const last = pointAt(recorded.nowMs);
      cycle(last);
      recorder.flush();
      file.close();

      const past = readPast(path, recorded.nowMs);
      expect(past?.points).toEqual([first, last]);
      expect(past?.events).toMatchObject([
        { event: { kind: 'action-ended', action: { outcome: 'success' } } },
        { event: { kind: 'log', event: 'provider-breaker' }, atMs: expect.any(Number) },
      ]);
    }));

  it('given losses with a summary, then the summary replaces them', () =>
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded({ behindBytes: 0, put: (message) => file.write([message]) });
      const { recorder } = recorded;
      recorded.cycle([]);
      for (let i = 0; i < 5; i++) recorder.loss(aLoss({ machine: `m-${i}`, zone: 'za', atMs: 100 + i }));
      recorder.loss(aLoss({ machine: 'n', zone: 'zb', atMs: 102 }));
      recorder.event({ kind: 'losses', losses: SOME_LOSSES });
      recorder.flush();
      file.close();

      expect(readPast(path, recorded.nowMs)?.events.map(({ event }) => event)).toMatchObject([
        { kind: 'loss', loss: { machine: 'n' } },
        { kind: 'losses', losses: { zone: 'za', count: 5 } },
      ]);
    }));

  it('given no journal or an unreadable one, then it is empty', () =>
    withPath((path) => {
      expect(readPast(path, 0)).toBeUndefined();
      writeFileSync(path, 'no journal at all');
      expect(readPast(path, 0)).toBeUndefined();
    }));
});
