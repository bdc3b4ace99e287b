import { describe, expect, it } from 'vitest';
import type { CostBreakdown, CostGroups } from './cost-breakdown.ts';
import { CostHistory } from './cost-history.ts';

const MINUTE = 60_000;

function groups(dollars: Readonly<Record<string, number>>): CostGroups {
  return new Map(
    Object.entries(dollars).map(([name, amount]) => [
      name,
      { machines: 1, cost: Float64Array.of(amount * 1e6) },
    ]),
  );
}

function historyOf(dollars: Readonly<Record<string, number>>): CostHistory {
  return new CostHistory({ by: () => groups(dollars) } as unknown as CostBreakdown, 0);
}

describe('cost over time', () => {
  it('given a cycle every second, then there is a point every minute, and of a day at most', () => {
    const history = historyOf({ a: 1 });
    for (let ms = 0; ms < 26 * 60 * MINUTE; ms += 10_000) history.sample({ nowMs: ms, costPerHour: 1 });
    const points = history.points('zone', 0);
    expect(points).toHaveLength(24 * 60);
    expect(points[1]!.atMs - points[0]!.atMs).toBe(MINUTE);
    expect(history.points('zone', points.at(-3)!.atMs)).toHaveLength(2);
  });

  it('given more names than a point has, then it has the most expensive and the sum of the others', () => {
    const many = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`n${i}`, i + 1]));
    const history = historyOf(many);
    history.sample({ nowMs: 1, costPerHour: 91 });
    const [point] = history.points('cluster', 0);
    expect(Object.keys(point!.byName)).toHaveLength(11);
    expect(point!.byName).toMatchObject({ n12: 13, n3: 4, other: 6 });
  });

  it('given a rate for an hour and twice the rate for half an hour, then their dollars are counted', () => {
    const history = historyOf({});
    for (let minute = 0; minute <= 90; minute++)
      history.sample({ nowMs: minute * MINUTE, costPerHour: minute < 60 ? 4 : 8 });
    expect(history.sinceStart.fromMs).toBe(0);
    expect(history.sinceStart.dollars).toBeCloseTo(8, 9);
  });

  it('given a clock that is set back, then points go on from there', () => {
    const history = historyOf({ a: 1 });
    history.sample({ nowMs: 100 * MINUTE, costPerHour: 1 });
    history.sample({ nowMs: 50 * MINUTE, costPerHour: 1 });
    expect(history.points('zone', 0).map(({ atMs }) => atMs)).toEqual([50 * MINUTE]);
  });
});
