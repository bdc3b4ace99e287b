import { describe, expect, it } from 'vitest';
import type { Point } from './feed.ts';
import { moment, timeOfDay } from './figures.ts';
import { resampled, steps, stretches, unmetHistoryText, unmetSinceText, withPoints } from './series.ts';

function at(second: number, change: Partial<Point> = {}): Point {
  const counts = { needs: 9, unmet: 0, begun: 1, failed: 0 };
  return { atMs: second * 1000, costPerHour: second, machinesByState: {}, ...counts, ...change };
}

const seconds = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => at(from + i));

describe('the last hour of a view', () => {
  it('given a view that is open for hours, then it keeps one hour, with the last two minutes second by second', () => {
    let series: readonly Point[] = [];
    for (const point of seconds(0, 10_800)) {
      series = withPoints(series, [point]);
    }
    expect(series.length).toBeLessThanOrEqual(360 + 120 + 1);
    expect(10_799 - series[0]!.atMs / 1000).toBeGreaterThan(3_580);
    expect(series.slice(-120).map(({ atMs }) => atMs / 1000)).toEqual(
      Array.from({ length: 120 }, (_, i) => 10_680 + i),
    );
    expect(series.reduce((sum, { begun }) => sum + begun, 0)).toBeGreaterThan(3_580);
  });

  it('given points again, then they are kept once; given old points of one step, then the worst stays', () => {
    const series = withPoints(seconds(0, 10), [...seconds(5, 10), at(300)]);
    expect(series.map(({ atMs }) => atMs / 1000)).toEqual([9, 300]);
    expect(series[0]!.begun).toBe(10);
    const outage = withPoints([at(1), at(2, { unmet: 7 }), at(3)], [at(300)]);
    expect(outage[0]!.unmet).toBe(7);
  });

  it('given more points than columns, then each column has its highest; given a time without points, then blanks', () => {
    expect(resampled(seconds(0, 100), 4, ({ costPerHour }) => costPerHour)).toEqual([24, 49, 74, 99]);
    const broken = [...seconds(0, 10), ...seconds(100, 110)];
    const values = resampled(broken, 20, () => 1);
    expect(values.filter(Number.isNaN).length).toBeGreaterThan(10);
    expect([values[0], values.at(-1)]).toEqual([1, 1]);
    expect(stretches(broken).map(({ length }) => length)).toEqual([10, 10]);
    expect(resampled([], 10, () => 1)).toEqual([]);
  });

  it('given counts, then they are summed in complete steps of ten seconds', () => {
    expect(steps(seconds(0, 25)).map(({ begun }) => begun)).toEqual([10, 10]);
  });

  it('given unmet Needs, then the text has the time since when, or that it is older than the series', () => {
    const outage = [at(0), at(10), at(20, { unmet: 3 }), at(30, { unmet: 2 })];
    expect(unmetSinceText(outage, 80_000)).toBe(`since ${timeOfDay(20_000)} (1 min)`);
    expect(unmetSinceText(outage.slice(2), 80_000)).toBe(`since ${timeOfDay(20_000)} or before`);
    expect(unmetSinceText(seconds(0, 5), 80_000)).toBe('');
    const restarted = [...outage, at(500, { unmet: 2 }), at(510, { unmet: 2 })];
    expect(unmetSinceText(restarted, 520_000)).toBe(`since ${timeOfDay(500_000)} or before`);
    expect(unmetHistoryText([...outage, at(40)], { nowMs: 80_000, cycle: null })).toBe(
      `none now; highest 3, the last at ${timeOfDay(30_000)}`,
    );
  });

  it('given a time on another day, then the text has its date', () => {
    const noon = Date.UTC(2026, 10, 16, 12, 5);
    expect(moment(noon, noon + 1000)).toBe('12:05:00Z');
    expect(moment(noon, noon + 86_400_000)).toBe('2026-11-16T12:05Z');
  });
});
