import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ActionView, SeriesPoint } from '../views.ts';
import { readPast } from './past.ts';
import { aCycleView, fileAt, Recorded, withPath } from './testkit.ts';

const ACTION = { id: '1-1', machine: 'm', cluster: 'c', need: null, outcome: null } as unknown as ActionView;

function pointAt(atMs: number): SeriesPoint {
  const counts = { needs: 1, unmet: 1, begun: 0, failed: 0 };
  return { atMs, costPerHour: 2, costByPart: {}, machinesByState: {}, ...counts };
}

describe('what a new process knows of the time before it', () => {
  it('given a journal, then the points of the last hour, and ended actions and log lines in their order', () =>
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
      recorder.news({ kind: 'action-started', action: ACTION });
      recorder.news({ kind: 'action-ended', action: { ...ACTION, outcome: 'success' } });
      recorder.news({ kind: 'log', level: 'error', event: 'provider-breaker', fields: { provider: 'p' } });
      cycle(null);
      const last = pointAt(recorded.nowMs);
      cycle(last);
      recorder.flush();
      file.close();

      const past = readPast(path, recorded.nowMs);
      expect(past?.points).toEqual([first, last]);
      expect(past?.events).toMatchObject([
        { news: { kind: 'action-ended', action: { outcome: 'success' } } },
        { news: { kind: 'log', event: 'provider-breaker' }, atMs: expect.any(Number) },
      ]);
    }));

  it('given none, or one that cannot be read, then nothing', () =>
    withPath((path) => {
      expect(readPast(path, 0)).toBeUndefined();
      writeFileSync(path, 'no journal at all');
      expect(readPast(path, 0)).toBeUndefined();
    }));
});
