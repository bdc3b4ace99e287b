import { describe, expect, it } from 'vitest';
import {
  aMachine,
  aNeed,
  anInput,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../../testing/support/fleets.ts';
import { Histogram } from '../collections/histogram.ts';
import { fleetOf } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import { Engine } from './engine.ts';
import { CycleStats, conflictFraction, EngineMetrics, retriesOf } from './stats.ts';

/** A clock that advances by 1 ms with each read. */
function ticking(): () => number {
  let ms = 1000;
  return () => ms++;
}

/** Three rows: one has its machine, one gets the Idle one, the third gets none. */
function threeWays() {
  const rows = ['has', 'gets', 'lacks'].map((cluster, i) =>
    aNeed({ cluster, priority: 10 - i, aggregate: resources({ cpu: 4 }) }),
  );
  const bound = aMachine('bound', MachineState.Configured, { cluster: 'has', stamp: stampOf(rows[0]!) });
  return anInput([bound, aMachine('idle', MachineState.Idle)], rows);
}

describe('statistics of a cycle', () => {
  it('given rows that go each its own way, then each way counts its rows', () => {
    const input = threeWays();
    const engine = new Engine(fleetOf(input));
    engine.decide(input.nowMs, input.options);
    const { clusters, lanes, needs, paths } = engine.lastCycle;
    expect({ clusters, lanes, needs }).toEqual({ clusters: 3, lanes: 1, needs: 3 });
    expect(paths).toEqual({
      absorb: { rows: 3, ms: 0 },
      shortfall: { rows: 1, ms: 0 },
      score: { rows: 1, ms: 0 },
    });
  });

  it('given members that no machine of their fold hosts, then each goes its own way too', () => {
    const gangs = ['a', 'b', 'c'].map((group) =>
      aNeed({ cluster: 'x', group, aggregate: resources({ cpu: 4 }), requirements: [same(RACK_KEY)] }),
    );
    const rack = { labels: new Map([[RACK_KEY, 'r1']]) };
    const input = anInput([aMachine('idle', MachineState.Idle, rack)], gangs);
    const engine = new Engine(fleetOf(input));
    engine.decide(input.nowMs, input.options);
    // The fold takes the one machine; two members are served again by themselves.
    expect(engine.lastCycle.paths).toMatchObject({
      absorb: { rows: 1 },
      score: { rows: 1 },
      shortfall: { rows: 2 },
    });
  });

  it('given a second cycle in which nothing changed, then nothing is credited and the pools are served again', () => {
    const input = threeWays();
    const engine = new Engine(fleetOf(input));
    for (let i = 0; i < 2; i++) engine.decide(input.nowMs, input.options);
    expect(engine.lastCycle).toMatchObject({ clusters: 0, paths: { absorb: { rows: 0 } } });
    expect(engine.metrics.paths).toMatchObject({
      absorb: { rows: 3 },
      shortfall: { rows: 2 },
      score: { rows: 2 },
    });
  });

  it('given a clock, then the parts of a cycle add up to it', () => {
    const input = threeWays();
    const engine = new Engine(fleetOf(input), { clock: ticking() });
    engine.decide(input.nowMs, input.options);
    const { cycleMs, perNeedUs, phaseMs } = engine.lastCycle;
    expect(phaseMs).toEqual({ normalise: 1, credit: 1, acquire: 1, preempt: 1, reclaim: 1, plan: 1 });
    expect({ cycleMs, perNeedUs }).toEqual({ cycleMs: 6, perNeedUs: 1000 });
    expect(engine.metrics.cycleMs).toMatchObject({ count: 1, sum: 6 });
    expect(engine.metrics.phaseMs.acquire).toMatchObject({ count: 1, sum: 1 });
  });

  it('given that rows are timed, then rows that go to the pools have a time too', () => {
    const input = threeWays();
    const engine = new Engine(fleetOf(input), { clock: ticking() });
    engine.decide(input.nowMs, input.options, { timesRows: true });
    expect(engine.lastCycle.paths).toMatchObject({ shortfall: { ms: 1 }, score: { ms: 1 } });
  });

  it('given a checked cycle, then the check has a time of its own', () => {
    const input = threeWays();
    const engine = new Engine(fleetOf(input), { clock: ticking(), checkEvery: 1 });
    engine.decide(input.nowMs, input.options);
    expect(engine.lastCycle).toMatchObject({ cycleMs: 6, checkMs: 1, checkedEqual: true });
    expect(engine.metrics.checkMs).toMatchObject({ count: 1, sum: 1 });
  });

  it('given one lane, then whatever is proposed is committed at once', () => {
    const input = threeWays();
    const engine = new Engine(fleetOf(input));
    engine.decide(input.nowMs, input.options);
    expect(engine.metrics.modes.incremental.commits).toBeGreaterThan(0);
    for (const mode of Object.values(engine.metrics.modes)) {
      expect(mode).toMatchObject({ proposals: mode.commits, conflicts: 0, exhausted: 0 });
      expect(conflictFraction(mode)).toBe(0);
    }
  });
});

describe('sums over cycles', () => {
  it('given two cycles, then what rows waited for adds up by mode', () => {
    const metrics = new EngineMetrics();
    for (const conflicts of [1, 2]) {
      const stats = new CycleStats();
      Object.assign(stats.modes.incremental, { proposals: 10, commits: 8, conflicts });
      Object.assign(stats.modes.allOrNothing, { conflicts: 1, exhausted: 1 });
      stats.modes.allOrNothing.proposalMs.add(0.5);
      stats.lanes = 4;
      metrics.add(stats);
    }
    const { incremental, allOrNothing } = metrics.modes;
    expect(incremental).toMatchObject({ proposals: 20, commits: 16, conflicts: 3 });
    expect(retriesOf(incremental)).toEqual({ committed: 3, exhausted: 0 });
    expect(retriesOf(allOrNothing)).toEqual({ committed: 0, exhausted: 2 });
    expect(allOrNothing).toMatchObject({ exhausted: 2, proposalMs: { count: 2, sum: 1 } });
    expect(conflictFraction(incremental)).toBe(3 / 16);
    expect(metrics.lanes).toBe(4);
  });

  it('given conflicts and no commit, then the fraction is their number', () => {
    expect(conflictFraction({ ...new CycleStats().modes.incremental, conflicts: 2 })).toBe(2);
  });
});

describe('a histogram', () => {
  it('given values, then each is counted in the first bucket whose bound it does not exceed', () => {
    const histogram = new Histogram();
    for (const value of [0, 1, 1.5, 2, 1e9]) histogram.add(value);
    const filled = histogram.counts.flatMap((count, i) =>
      count === 0 ? [] : [[histogram.bounds[i] ?? 'more', count]],
    );
    expect(filled).toEqual([
      [2 ** -10, 1],
      [1, 1],
      [2, 2],
      ['more', 1],
    ]);
    expect({ count: histogram.count, sum: histogram.sum }).toEqual({ count: 5, sum: 1e9 + 4.5 });
  });
});
