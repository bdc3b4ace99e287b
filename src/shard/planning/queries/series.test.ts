import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { aCost } from '../../../../testing/support/costs.ts';
import { aNeed } from '../../../../testing/support/fleets.ts';
import { MachineState } from '../../../model/index.ts';
import type { SeriesPoint, StatusView } from '../../views.ts';
import { DEFAULT_CONTROLLER } from '../options.ts';
import { COARSE, FINE, Series } from './series.ts';

const { Speculative, Idle } = MachineState;

function statusAt(nowMs: number, unmet = 0, costPerHour = 1): StatusView {
  return {
    nowMs,
    costPerHour,
    cost: aCost({ serving: costPerHour }),
    machinesByState: {},
    hardware: [
      {
        kind: 'general',
        resources: {
          cpu: { offered: 8, used: 4 },
          memory: { offered: 8, used: 6 },
          gpu: { offered: 0, used: 0 },
        },
      },
    ],
    needs: 9,
    cycle: { unmet, durationMs: unmet + 2 },
  } as unknown as StatusView;
}

/** `count` cycles, one per second, from `fromMs`. */
function cycles(series: Series, fromMs: number, count: number, unmet = 0): number {
  for (let i = 0; i < count; i++) series.hear({ kind: 'cycle', status: statusAt(fromMs + i * 1000, unmet) });
  return fromMs + count * 1000;
}

describe('the last hour of a shard', () => {
  it('given an hour of cycles with an outage, then a later reader sees when it began', () => {
    const series = new Series();
    const began = cycles(series, 0, 1800);
    const now = cycles(series, began, 1801, 3);
    const { points, fromMs } = series.view(now, 0);

    expect(points.find(({ unmet }) => unmet > 0)?.atMs).toBe(began);
    expect(fromMs).toBeLessThanOrEqual(COARSE.stepMs);
    expect(points.map(({ atMs }) => atMs)).toEqual(points.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
    expect(series.view(now, now - 5_500).points).toHaveLength(5);
  });

  it('given days of cycles, then it is bounded, with the last two minutes second by second', () => {
    const series = new Series();
    const now = cycles(series, 0, 20_000);
    const { points } = series.view(now, 0);

    expect(points.length).toBeLessThanOrEqual(COARSE.points + FINE.points);
    expect(now - points[0]!.atMs).toBeGreaterThan(3_590_000);
    expect(points.slice(-FINE.points).map(({ atMs }) => now - atMs)).toEqual(
      Array.from({ length: FINE.points }, (_, i) => (FINE.points - i) * 1000),
    );
  });

  it('given an outage of a second, then the point of its ten seconds still has it', () => {
    const series = new Series();
    let now = cycles(series, 0, 14);
    now = cycles(series, now, 1, 7);
    now = cycles(series, now, 300);
    expect(Math.max(...series.view(now, 0).points.map(({ unmet }) => unmet))).toBe(7);
  });

  it('given cycles, then a point has the longest since the one before, and the share of the resource used most', () => {
    const series = new Series();
    let now = cycles(series, 0, 14);
    now = cycles(series, now, 1, 7);
    now = cycles(series, now, 300);
    const { points } = series.view(now, 0);
    expect(Math.max(...points.map(({ cycleMs }) => cycleMs ?? 0))).toBe(9);
    expect(points.at(-1)).toMatchObject({ cycleMs: 2, usedShare: { general: 0.75 } });
  });

  it('given a clock that is set back, then no point is in the future', () => {
    const series = new Series();
    cycles(series, 100_000, 60);
    const now = cycles(series, 120_000, 3);
    const { points } = series.view(now, 0);
    expect(Math.max(...points.map(({ atMs }) => atMs))).toBe(122_000);
    expect(points.at(-2)!.atMs).toBe(121_000);
  });

  it('given actions that begin and fail, then each is counted once', () => {
    const actuation = { ...DEFAULT_CONTROLLER.actuation, attempts: 1 };
    const scene = new ControllerScene({ actuation })
      .open('c1')
      .list([record('m', Speculative), record('i', Idle)]);
    scene
      .demand('c1', NEED, aNeed({ cluster: 'c1', group: 'two', priority: 100 }))
      .tick()
      .blobs();
    scene.answer('create', { kind: 'stock-out', message: 'none left' });
    scene.answer('get', { kind: 'found', machine: record('m', Speculative) });
    for (let i = 0; i < 30; i++) scene.tick();
    const { points, nowMs } = scene.controller.ask('series', { sinceMs: 0 });

    const sum = (what: 'begun' | 'failed') => points.reduce((total, point) => total + point[what], 0);
    const { items } = scene.controller.ask('actions', { limit: 100 }).actions;
    expect(sum('begun')).toBe(items.length);
    expect(sum('failed')).toBe(items.filter(({ outcome }) => (outcome ?? 'success') !== 'success').length);
    expect(sum('failed')).toBeGreaterThan(0);
    expect(nowMs).toBe(scene.hand.now());
    expect(points.at(-1)).toMatchObject({ needs: 2, machinesByState: expect.anything() });
  });

  it('given points of an earlier process, then those of the last hour come first', () => {
    const series = new Series();
    const old = (atMs: number): SeriesPoint => {
      const { nowMs: _, cycle: __, ...rest } = statusAt(atMs);
      return { ...rest, atMs, costByPart: {}, unmet: 4, begun: 0, failed: 0 };
    };
    const now = 10_000_000;
    series.fill([old(now - 4_000_000), old(now - 60_000), old(now - 50_000), old(now + 5)], now);
    cycles(series, now, 2);
    expect(series.view(now, 0).points.map(({ atMs }) => now - atMs)).toEqual([60_000, 50_000, 0, -1000]);
  });
});
