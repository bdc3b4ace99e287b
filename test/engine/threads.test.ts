// The engine with several worker threads: the plan is byte-identical to the oracle's, on one warm worker pool that sees
// one fleet after the other.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { Fleet, fleetOf } from '../../src/fleet/index.ts';
import { type DecisionInput, type LedgerMachine, MachineState, type Need } from '../../src/model/index.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import {
  aMachine,
  aNeed,
  anInput,
  anyFleets,
  resources,
  same,
  stampOf,
} from '../../testing/support/fleets.ts';
import { blend, diceThrow, replaceContent, threadsStarted, updateFleet } from './warm.ts';

const FLEETS = 60;

describe('worker threads', () => {
  it.each([2, 3, 8])(
    'given %i workers, then every plan equals the oracle’s',
    { timeout: 600_000 },
    async (workers) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now());
      const fleet = new Fleet();
      const engine = new Engine(fleet, { workers, smallestStep: 1 });
      let before: DecisionInput | undefined;
      await threadsStarted(engine, workers);
      try {
        for (const [i, input] of fc.sample(anyFleets(), { numRuns: FLEETS, seed }).entries()) {
          replaceContent(fleet, before, input);
          before = input;
          const plan = engine.decide(input.nowMs, input.options).plan();
          expect(planText(plan), `fleet ${i} of BIGFLEET_SEED=${seed}`).toBe(planText(oracle(input)));
        }
      } finally {
        await engine.close();
      }
    },
  );

  it.each([2, 3])(
    'given %i workers that serve clusters in overlap, then every plan equals the oracle’s',
    {
      timeout: 120_000,
    },
    async (workers) => {
      const seed = Number(process.env['BIGFLEET_SEED'] ?? Date.now());
      const story = fc.tuple(
        fc.array(anyFleets({ machines: 30, needs: 15 }), { minLength: 4, maxLength: 4 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
      );
      const fleet = new Fleet();
      const engine = new Engine(fleet, { workers, smallestStep: 1 });
      let input = anInput([], []);
      await threadsStarted(engine, workers);
      try {
        for (const [i, [inputs, dice]] of fc.sample(story, { numRuns: FLEETS, seed }).entries()) {
          for (const next of [...inputs, ...inputs]) {
            const before = input;
            input = blend(before, next, diceThrow(dice));
            updateFleet(fleet, before, input, engine);
            const plan = engine.decide(input.nowMs, input.options).plan();
            expect(planText(plan), `story ${i} of BIGFLEET_SEED=${seed}`).toBe(planText(oracle(input)));
          }
        }
      } finally {
        await engine.close();
      }
    },
  );

  it('given a thread that fails, then the others do its work and the plan is right', {
    timeout: 600_000,
  }, async () => {
    const fleet = new Fleet();
    const engine = new Engine(fleet, { workers: 2, smallestStep: 1 });
    await threadsStarted(engine, 2);
    const [input] = fc.sample(anyFleets({ machines: 40, needs: 20 }), { numRuns: 1, seed: 7 });
    replaceContent(fleet, undefined, input!);
    // Tables that no thread can attach: it fails before it has done any work.
    Object.defineProperty(fleet.dimensions, 'names', { get: () => 5 });
    try {
      const expected = planText(oracle(input!));
      const decision = engine.decide(input!.nowMs, input!.options, { everything: true });
      expect(planText(decision.plan())).toBe(expected);
      expect(engine.threadFailures).toEqual([expect.stringContaining('TypeError')]);
      expect(engine.threads).toBe(1);
      expect(planText(engine.decide(input!.nowMs, input!.options).plan())).toBe(expected);
    } finally {
      await engine.close();
    }
  });

  it.each([
    ['an update that a thread cannot apply', () => 5],
    [
      'an update that cannot be sent to it',
      () => {
        throw new TypeError('no names');
      },
    ],
  ])(
    'given %s while it serves in overlap, then the writer continues, and the plan is right',
    {
      timeout: 60_000,
    },
    async (_, names) => {
      const needs = ['c1', 'c2', 'c3', 'c4'].map((cluster) => aNeed({ cluster }));
      const bound = (id: string, need: Need): LedgerMachine =>
        aMachine(id, MachineState.Configured, { cluster: need.cluster, stamp: stampOf(need) });
      const input = anInput([bound('a1', needs[0]!), bound('a2', needs[1]!)], needs);
      const fleet = fleetOf(input);
      const engine = new Engine(fleet, { workers: 2, smallestStep: 1 });
      await threadsStarted(engine, 2);
      try {
        engine.decide(input.nowMs, input.options);
        // Only machines of c1 and c2 change, and one class that the threads have copied.
        const more = { ...bound('b1', needs[0]!), pricePerHour: 9 };
        fleet.machines.load([more]);
        fleet.machines.update(fleet.machines.slotOf('a2')!, { blocked: true });
        const machines = [more, input.machines[0]!, { ...input.machines[1]!, blocked: true }];
        const known = fleet.dimensions.names;
        Object.defineProperty(fleet.dimensions, 'names', { get: names, configurable: true });
        const end = engine.overlap(new Set([fleet.clusters.find('c4')]));
        fleet.demand.replace('c4', []);
        end();
        Object.defineProperty(fleet.dimensions, 'names', { get: () => known });
        const plan = engine.decide(input.nowMs, input.options).plan();
        expect(planText(plan)).toBe(planText(oracle({ ...input, machines, needs: needs.slice(0, 3) })));
        expect(engine.threadFailures).toEqual([expect.stringContaining('TypeError')]);
      } finally {
        await engine.close();
      }
    },
  );

  it('given threads that fail halfway through a parallel step, then the plan is right', {
    timeout: 600_000,
  }, async () => {
    const needs = Array.from({ length: 400 }, (_, i) => {
      return aNeed({ cluster: `c${i}`, requirements: i % 2 === 0 ? [same('rack')] : [] });
    });
    const machines = needs.map((need, i) => {
      const bound = { cluster: need.cluster, stamp: stampOf(need), labels: new Map([['rack', 'r1']]) };
      return aMachine(`m${i}`, MachineState.Configured, bound);
    });
    const input = anInput(machines, needs);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet, { workers: 3, smallestStep: 1 });
    await threadsStarted(engine, 3);
    // Without profiles a thread serves clusters until it encounters a gang.
    Object.defineProperty(fleet.demand.profiles, 'entries', { get: () => [] });
    try {
      const expected = planText(oracle(input));
      for (let round = 0; round < 3; round++) {
        const decision = engine.decide(input.nowMs, input.options, { everything: true });
        expect(planText(decision.plan())).toBe(expected);
      }
    } finally {
      await engine.close();
    }
  });

  it('given a closed engine, then it continues with one thread', { timeout: 600_000 }, async () => {
    const [input] = fc.sample(anyFleets(), { numRuns: 1, seed: 11 });
    const engine = new Engine(fleetOf(input!), { workers: 2, smallestStep: 1 });
    await threadsStarted(engine, 2);
    await engine.close();
    expect(engine.threads).toBe(1);
    expect(planText(engine.decide(input!.nowMs, input!.options).plan())).toBe(planText(oracle(input!)));
  });

  it('given machines that keep being added, then threads read the columns at their new place', {
    timeout: 600_000,
  }, async () => {
    const CLUSTERS = 80;
    const needs = Array.from({ length: CLUSTERS }, (_, i) => {
      return aNeed({ cluster: `c${i}`, aggregate: resources({ cpu: 400 }) });
    });
    const batch = (from: number, count: number): LedgerMachine[] => {
      return Array.from({ length: count }, (_, i) => {
        return aMachine(`m${from + i}`, MachineState.Configured, {
          cluster: `c${i % CLUSTERS}`,
          stamp: stampOf(needs[0]!),
        });
      });
    };
    const input = anInput(batch(0, CLUSTERS), needs);
    const fleet = fleetOf(input);
    const engine = new Engine(fleet, { workers: 2, smallestStep: 1 });
    try {
      await threadsStarted(engine, 2);
      for (let round = 1; round < 12; round++) {
        fleet.machines.load(batch(round * 800, 800));
        const claims = engine.decide(input.nowMs, input.options).claims().size;
        expect(claims).toBe(Math.min(8_000, CLUSTERS + round * 800));
      }
    } finally {
      await engine.close();
    }
  });
});
