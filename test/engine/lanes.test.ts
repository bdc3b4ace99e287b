// Rows served from the pools by several lanes at a time: the plan is byte-identical to the oracle's, however the lanes'
// steps interleave. The schedule of a run comes from its seed, so that a failure can be repeated.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conflictFraction, Engine, type EngineOptions } from '../../src/engine/index.ts';
import { Fleet, fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  type LedgerMachine,
  MachineState,
  type Need,
  Operator,
  type Plan,
  ZONE_KEY,
} from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import { aMachine, aNeed, anInput, anyFleets, resources, same } from '../../testing/support/fleets.ts';
import { replaceContent, threadsStarted } from './warm.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 1_000);

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
  it.each([2, 4])(
    'given %i lanes on threads, then every plan equals the oracle’s',
    { timeout: 600_000 },
    async (lanes) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now());
      const fleet = new Fleet();
      const engine = new Engine(fleet, { workers: lanes, lanes, eagerLanes: true, smallestStep: 1 });
      let before: DecisionInput | undefined;
      await threadsStarted(engine, lanes);
      try {
        for (const [i, input] of fc.sample(laneFleets, { numRuns: Number(process.env["BIGFLEET_THREAD_RUNS"] ?? 100), seed }).entries()) {
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
      seed: fc.nat(),
      schedule: fc.constantFrom(shuffled, inBursts),
    });
    fc.assert(
      fc.property(runs, ({ input, lanes, retries, seed, schedule }) => {
        const plan = planWith(input, { lanes, retries, eagerLanes: true, schedule: schedule(seed) });
        expect(planText(plan)).toBe(planText(oracle(input)));
      }),
      { numRuns: RUNS },
    );
  });
});

describe('the automatic number of lanes', () => {
  /** Gangs of two machines, `count` in each of the zones; no row outside a zone can use its racks. */
  function gangsIn(zones: readonly string[], count: number): DecisionInput {
    const machines: LedgerMachine[] = [];
    const needs: Need[] = [];
    for (const zone of zones) {
      for (let i = 0; i < count; i++) {
        const labels = new Map([['rack', `${zone}-${i >> 2}`]]);
        machines.push(aMachine(`${zone}-${i}a`, MachineState.Idle, { zone, labels }));
        machines.push(aMachine(`${zone}-${i}b`, MachineState.Idle, { zone, labels }));
        const requirements = [same('rack'), { key: ZONE_KEY, operator: Operator.In, values: [zone] }];
        const aggregate = resources({ cpu: 8 });
        needs.push(aNeed({ cluster: `c${i % 7}`, group: `${zone}-${i}`, requirements, aggregate }));
      }
    }
    return anInput(machines, needs);
  }

  it.each([
    ['two halves that share nothing', ['za', 'zb'], 300, 2],
    ['one part', ['za'], 600, 1],
    ['two halves with little to do', ['za', 'zb'], 20, 1],
  ])(
    'given %s, then several lanes run only where they pay, and the plan is that of one lane',
    {
      timeout: 600_000,
    },
    async (_, zones, count, lanes) => {
      const input = gangsIn(zones, count);
      const engine = new Engine(fleetOf(input), { workers: 2 });
      await threadsStarted(engine, 2);
      try {
        const plan = engine.decide(input.nowMs, input.options).plan();
        expect(engine.lastCycle.lanes).toBe(lanes);
        expect(planText(plan)).toBe(planText(planWith(input, { lanes: 1 })));
      } finally {
        await engine.close();
      }
    },
  );

  it('given lanes with many conflicts, then the next cycles have one', {
    timeout: 600_000,
  }, async () => {
    const input = gangsIn(['za', 'zb'], 300);
    const engine = new Engine(fleetOf(input), { workers: 2 });
    await threadsStarted(engine, 2);
    try {
      engine.decide(input.nowMs, input.options);
      const { allOrNothing } = engine.lastCycle.modes;
      engine.decide(input.nowMs, input.options);
      expect(engine.lastCycle.lanes).toBe(conflictFraction(allOrNothing) > 0.15 ? 1 : 2);
    } finally {
      await engine.close();
    }
  });
});
