// The engine's self-check: periodically a full solve of the same fleet, and what happens when its plan differs from the
// incremental one.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, Engine, type EngineOptions, type PlanDifference } from '../../src/engine/index.ts';
import { type Fleet, fleetOf } from '../../src/fleet/index.ts';
import { type DecisionInput, keyOf, MachineState } from '../../src/model/index.ts';
import { incrementalDecider } from '../../testing/loop/incremental-decider.ts';
import { runLoop, startLoop } from '../../testing/loop/loop.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import { aMachine, aNeed, anInput, fleets, resources, stampOf } from '../../testing/support/fleets.ts';
import { unevenDelays } from './rest.ts';

const X = aNeed({ cluster: 'x', aggregate: resources({ cpu: 8 }) });

/** A row with two machines, and a third one Idle. */
function aPair(): DecisionInput {
  const bound = ['m1', 'm2'].map((id) => {
    return aMachine(id, MachineState.Configured, { cluster: 'x', stamp: stampOf(X) });
  });
  return anInput([...bound, aMachine('spare', MachineState.Idle)], [X]);
}

/** The row wants half as much again, written directly into its column: no watcher is notified. */
function growUnseen(fleet: Fleet): void {
  const { aggregate, key } = fleet.demand;
  const row = key.indexOf(fleet.keys.find(keyOf(X)));
  for (let d = 0; d < fleet.dimensions.count; d++) aggregate.data[row * fleet.dimensions.stride + d]! *= 1.5;
}

/** An engine that records reported differences, and a function that runs one cycle. */
function engineOn(input: DecisionInput, options: EngineOptions) {
  const differences: PlanDifference[] = [];
  const fleet = fleetOf(input);
  const engine = new Engine(fleet, { onDifference: (found) => differences.push(found), ...options });
  return { differences, fleet, engine, cycle: () => engine.decide(input.nowMs, input.options) };
}

describe('the incremental check', () => {
  it('given a change that was not published, when the check is due, then both plans are reported and the full one is used', () => {
    const { cycle, differences, engine, fleet } = engineOn(aPair(), { checkEvery: 3 });
    cycle();
    growUnseen(fleet);
    expect(cycle().actions()).toEqual([]);
    expect(engine.metrics).toMatchObject({ cycles: 2, checks: 0, differences: 0 });

    const decision = cycle();
    expect(decision.actions()).toMatchObject([{ kind: 'Bootstrap', machine: 'spare', need: keyOf(X) }]);
    expect(engine.metrics).toMatchObject({ cycles: 3, checks: 1, differences: 1 });
    expect(differences).toHaveLength(1);
    const [{ cycle: number, full, incremental }] = differences as [PlanDifference];
    expect({ number, before: incremental.actions, after: full.actions.length }).toEqual({
      number: 3,
      before: [],
      after: 1,
    });
    expect(planText(full)).toBe(planText(decision.plan()));
  });

  it('given a difference, then the next cycles solve everything and are right without a check', () => {
    const { cycle, differences, fleet } = engineOn(aPair(), { checkEvery: 2 });
    cycle();
    growUnseen(fleet);
    for (let i = 2; i <= 7; i++) expect(cycle().actions(), `cycle ${i}`).toHaveLength(1);
    expect(differences).toHaveLength(1);
  });

  it.each([
    ['it is off', { checkEvery: 0 }, 0],
    ['it is not due', { checkEvery: 5 }, 0],
    ['every cycle solves everything', { checkEvery: 1, incremental: false }, 1],
  ])('given a change that was not published, if %s, then no cycle is checked', (_, options, actions) => {
    const { cycle, differences, engine, fleet } = engineOn(aPair(), options);
    cycle();
    growUnseen(fleet);
    for (let i = 0; i < 3; i++) expect(cycle().actions()).toHaveLength(actions);
    expect({ differences, checks: engine.metrics.checks }).toEqual({ differences: [], checks: 0 });
  });

  it('given no options, then every hundredth cycle is checked', () => {
    const { cycle, engine } = engineOn(aPair(), {});
    for (let i = 0; i < 200; i++) cycle();
    expect(engine.metrics).toMatchObject({ cycles: 200, checks: 2, differences: 0 });
  });

  it('given any sequence of changes, then an incremental engine never differs', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fleets(), fc.nat(1e6), (input, seed) => {
        const found: PlanDifference[] = [];
        const decider = incrementalDecider({ checkEvery: 1, onDifference: (one) => found.push(one) });
        const rules = { delays: unevenDelays(seed, 3), cycleMs: 60_000 };
        const { steps } = runLoop(startLoop(input), { decide: decider.decide, ...rules }, 6);
        expect(found).toEqual([]);
        expect(decider.metrics).toMatchObject({ cycles: 6, checks: 6, differences: 0 });
        for (const step of steps) expect(planText(step.plan)).toBe(planText(oracle(step.input)));
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 100) },
    );
  });
});

describe('the coverage of the check', () => {
  it('given any write that was not published, then it finds every plan that differs, and continues with the right one', {
    timeout: 600_000,
  }, () => {
    let differing = 0;
    fc.assert(
      fc.property(fleets({ machines: 30, needs: 15 }), fc.infiniteStream(fc.nat(99)), (input, dice) => {
        const throws = (sides: number): boolean => (dice.next().value as number) % sides === 0;
        const { cycle, engine, fleet } = engineOn(input, { checkEvery: 2 });
        const unchecked = new Engine(fleet, { checkEvery: 0 });
        cycle();
        unchecked.decide(input.nowMs, input.options);
        const { demand, machines } = fleet;
        for (let slot = 0; slot < machines.size; slot++) if (throws(20)) machines.blocked[slot] = 1;
        for (let i = 0; i < demand.aggregate.data.length; i++) if (throws(40)) demand.aggregate.data[i]! *= 2;
        for (let row = 0; row < demand.size; row++) if (throws(40)) demand.firstSeenMs[row]! += 1;
        const plan = planText(unchecked.decide(input.nowMs, input.options).plan());
        const full = planText(decide(fleet, input.nowMs, input.options));
        if (plan !== full) differing++;
        expect(planText(cycle().plan())).toBe(full);
        // A cache may also be stale without an effect on this plan.
        if (plan !== full) expect(engine.metrics.differences).toBe(1);
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 300) },
    );
    expect(differing).toBeGreaterThan(0);
  });
});
