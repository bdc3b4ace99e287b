// Rows served from the pools by several lanes at a time: the plan is byte-identical to the oracle's, however the lanes'
// steps interleave. The schedule of a run comes from its seed, so that a failure can be repeated.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine, type EngineOptions } from '../../src/engine/index.ts';
import { Fleet, fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  type DecisionOptions,
  type LedgerMachine,
  MachineState,
  type Need,
  Operator,
  type Plan,
} from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import { aMachine, aNeed, anInput, anyFleets, resources, same } from '../../testing/support/fleets.ts';
import { replaceContent, threadsStarted } from './warm.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 1_000);
const THREAD_RUNS = Number(process.env['BIGFLEET_THREAD_RUNS'] ?? 100);

/** Fleets with any rules. */
const laneFleets = anyFleets();

function planWith(input: DecisionInput, options: EngineOptions): Plan {
  return new Engine(fleetOf(input), options).decide(input.nowMs, input.options).plan();
}

/** Which lane takes the next step: any of them, from a seed. */
function shuffled(seed: number): (lanes: number) => number {
  const random = new Random(seed);
  return (lanes) => random.below(lanes);
}

/** Stays on one lane for a while: the others fall far behind and find their reads stale. */
function inBursts(seed: number): (lanes: number) => number {
  const random = new Random(seed);
  let lane = 0;
  let left = 0;
  return (lanes) => {
    if (left-- > 0) return lane;
    left = random.below(30);
    lane = random.below(lanes);
    return lane;
  };
}

describe('lanes on threads', () => {
  it.each([
    [2, 'parts'],
    [4, 'parts'],
    [2, 'clusters'],
    [4, 'clusters'],
  ] as const)(
    'given %i lanes on threads that divide %s, then every plan equals the oracle’s',
    { timeout: 600_000 },
    async (lanes, eagerLanes) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now());
      const fleet = new Fleet();
      const engine = new Engine(fleet, { workers: lanes, lanes, eagerLanes, smallestStep: 1 });
      let before: DecisionInput | undefined;
      await threadsStarted(engine, lanes);
      try {
        for (const [i, input] of fc.sample(laneFleets, { numRuns: THREAD_RUNS, seed }).entries()) {
          replaceContent(fleet, before, input);
          before = input;
          const plan = engine.decide(input.nowMs, input.options).plan();
          expect(planText(plan), `fleet ${i} of BIGFLEET_SEED=${seed}`).toBe(planText(oracle(input)));
        }
        expect(engine.threadFailures).toEqual([]);
      } finally {
        await engine.close();
      }
    },
  );
});

describe('lanes, their steps interleaved on one thread', () => {
  it('given any fleet, any number of lanes and retries and any schedule, then the plan equals the oracle’s', {
    timeout: 1_200_000,
  }, () => {
    const runs = fc.record({
      input: laneFleets,
      lanes: fc.integer({ min: 2, max: 6 }),
      retries: fc.constantFrom(1, 2, 10),
      eagerLanes: fc.constantFrom('parts' as const, 'clusters' as const),
      seed: fc.nat(),
      schedule: fc.constantFrom(shuffled, inBursts),
    });
    fc.assert(
      fc.property(runs, ({ input, lanes, retries, eagerLanes, seed, schedule }) => {
        const plan = planWith(input, { lanes, retries, eagerLanes, schedule: schedule(seed) });
        expect(planText(plan)).toBe(planText(oracle(input)));
      }),
      { numRuns: RUNS },
    );
  });
});

/** Rows in regions: `count` clusters in each, ten rows a cluster, some of which may go anywhere. */
function rowsIn(
  regions: readonly string[],
  count: number,
  roaming = 0,
  sharing: DecisionOptions['sharing'] = 'off',
): DecisionInput {
  const machines: LedgerMachine[] = [];
  const needs: Need[] = [];
  for (const [r, region] of regions.entries()) {
    for (let i = 0; i < count * 10; i++) {
      machines.push(
        aMachine(`m${i}-${region}`, MachineState.Idle, { labels: new Map([['region', region]]) }),
      );
      const isFree = (i * regions.length + r) % 100 < roaming;
      const here = { key: 'region', operator: Operator.In, values: [region] };
      const requirements = isFree ? [] : [here];
      const priority = 1_000 - (i % 17);
      needs.push(
        aNeed({ cluster: `${region}-${Math.floor(i / 10)}`, group: `g${i}`, requirements, priority }),
      );
    }
  }
  return anInput(machines, needs, { sharing });
}

describe('the automatic number of lanes', () => {
  it.each([
    ['two regions that share nothing', ['ra', 'rb'], 110, 0, 'off', 2],
    ['two regions and some rows that may go anywhere', ['ra', 'rb'], 110, 4, 'off', 2],
    ['two regions and many rows that may go anywhere', ['ra', 'rb'], 110, 30, 'off', 1],
    ['one region', ['ra'], 220, 0, 'off', 1],
    ['one region and rows that share machines', ['ra'], 1_700, 0, 'on', 2],
    ['one region and few rows that share machines', ['ra'], 220, 0, 'on', 1],
    ['two regions with little to do', ['ra', 'rb'], 10, 0, 'off', 1],
  ] as const)(
    'given %s, then several lanes run only where they pay, and the plan is that of one lane',
    { timeout: 600_000 },
    async (_, regions, count, roaming, sharing, lanes) => {
      const input = rowsIn(regions, count, roaming, sharing);
      // Busy cores do not decide the test.
      const engine = new Engine(fleetOf(input), { workers: 2, lanePatienceMs: 600_000 });
      await threadsStarted(engine, 2);
      try {
        const plan = engine.decide(input.nowMs, input.options).plan();
        expect(engine.lastCycle).toMatchObject({ lanes, laneThreads: lanes });
        expect(planText(plan)).toBe(planText(planWith(input, { lanes: 1 })));
      } finally {
        await engine.close();
      }
    },
  );
});

describe('lanes that are given up when they wait', () => {
  it.each(['parts', 'clusters'] as const)(
    'given no patience and lanes that divide %s and wait for each other, then all rows are served in one lane, and the plan is its',
    async (eagerLanes) => {
      const input = rowsIn(['ra', 'rb'], 110, 30, 'on');
      const engine = new Engine(fleetOf(input), {
        workers: 2,
        lanes: 2,
        retries: 0,
        lanePatienceMs: 0,
        eagerLanes,
      });
      await threadsStarted(engine, 2);
      try {
        const plan = engine.decide(input.nowMs, input.options).plan();
        expect(engine.lastCycle).toMatchObject({ lanes: 1, laneThreads: 1 });
        expect(planText(plan)).toBe(planText(planWith(input, { lanes: 1 })));
      } finally {
        await engine.close();
      }
    },
  );
});

describe('a forced number of lanes', () => {
  it.each([
    ['three regions', ['ra', 'rb', 'rc'], 0, 'off', 3],
    ['three regions and rows that may go anywhere', ['ra', 'rb', 'rc'], 5, 'off', 3],
    ['three regions and rows that share machines', ['ra', 'rb', 'rc'], 5, 'on', 3],
    ['one region and rows that share machines', ['ra'], 0, 'on', 4],
    ['one region and one row per machine', ['ra'], 0, 'off', 1],
  ] as const)(
    'given %s and one thread, then each lane that can have rows of its own has some, and the plan is that of one lane',
    (_, regions, roaming, sharing, lanes) => {
      const input = rowsIn(regions, 8, roaming, sharing);
      const engine = new Engine(fleetOf(input), { lanes: 4 });
      const plan = engine.decide(input.nowMs, input.options).plan();
      expect(engine.lastCycle).toMatchObject({ lanes, laneThreads: 1 });
      expect(planText(plan)).toBe(planText(planWith(input, { lanes: 1 })));
    },
  );

  it('given a lane far ahead, then rows that cross wait for it and count as conflicts', () => {
    const input = rowsIn(['ra', 'rb'], 8, 5);
    // The second lane takes a step only where the first must wait.
    const engine = new Engine(fleetOf(input), { lanes: 2, schedule: () => 0 });
    const plan = engine.decide(input.nowMs, input.options).plan();
    const { conflicts, exhausted, commits } = engine.lastCycle.modes.incremental;
    expect(conflicts).toBeGreaterThan(0);
    expect(exhausted).toBe(0);
    expect(commits).toBe(160);
    expect(planText(plan)).toBe(planText(oracle(input)));
  });

  it('given rows that share machines and cluster lanes far behind, then the acquiring lane waits and counts conflicts', () => {
    const input = rowsIn(['ra'], 16, 0, 'on');
    // Cluster lanes take a step only where the acquiring lane must wait.
    const engine = new Engine(fleetOf(input), { lanes: 3, schedule: () => 0, eagerLanes: 'clusters' });
    const plan = engine.decide(input.nowMs, input.options).plan();
    const { conflicts, exhausted, commits } = engine.lastCycle.modes.incremental;
    expect(conflicts).toBeGreaterThan(0);
    expect(exhausted).toBe(0);
    expect(commits).toBe(160);
    expect(planText(plan)).toBe(planText(oracle(input)));
  });

  it('given a fold that cannot host all its members, then all rows are served again in one lane, and later in lanes', () => {
    const here = (region: string) => ({ key: 'region', operator: Operator.In, values: [region] });
    const gangs = ['g1', 'g2', 'g3'].map((group) => {
      const requirements = [here('ra'), same('region')];
      return aNeed({
        cluster: 'c1',
        group,
        requirements,
        aggregate: resources({ cpu: 4 }),
        minUnit: resources({ cpu: 2 }),
      });
    });
    const machines = [
      ['ra', 4],
      ['ra', 2],
      ['ra', 2],
      ['rb', 1],
    ].map(([region, cpu], i) =>
      aMachine(`m${i}`, MachineState.Idle, {
        labels: new Map([['region', String(region)]]),
        resources: resources({ cpu: Number(cpu) }),
      }),
    );
    const others = Array.from({ length: 40 }, (_, i) =>
      aNeed({
        cluster: 'c2',
        group: `x${i}`,
        priority: 5,
        requirements: [here('rb')],
        aggregate: resources({ cpu: 1 }),
        minUnit: resources({ cpu: 1 }),
      }),
    );
    const input = anInput(machines, [...gangs, ...others]);
    const engine = new Engine(fleetOf(input), { lanes: 2 });
    const expected = planText(oracle(input));

    const lanes = [1, 2, 3].map(() => {
      expect(planText(engine.decide(input.nowMs, input.options).plan())).toBe(expected);
      return engine.lastCycle.lanes;
    });

    expect(lanes).toEqual([1, 2, 2]);
  });
});
