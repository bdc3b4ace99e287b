// The four flows that describe Phase 1 as optimistic concurrency: the happy path, a conflict, exhausted retries and a
// cold start. Each runs the real engine with its lanes forced and their steps in a given order.

import { describe, expect, it } from 'vitest';
import { Engine, type EngineOptions } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import { type DecisionInput, MachineState, type Need } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import { aMachine, aNeed, anInput, resources } from '../../testing/support/fleets.ts';

/** One cycle with lanes; the plan must be the oracle's in any case. */
function run(input: DecisionInput, options: EngineOptions) {
  const engine = new Engine(fleetOf(input), options);
  const decision = engine.decide(input.nowMs, input.options);
  const plan = decision.plan();
  expect(planText(plan)).toBe(planText(oracle(input)));
  return { plan, stats: engine.lastCycle };
}

/** Every lane takes one step after the other: all read before any of them commits. */
function inTurn(): (lanes: number) => number {
  let next = 0;
  return (lanes) => next++ % lanes;
}

const idle = (count: number) =>
  Array.from({ length: count }, (_, i) => aMachine(`m${String(i).padStart(4, '0')}`, MachineState.Idle));

const need = (group: string, priority: number, machines = 1): Need =>
  aNeed({ cluster: `c-${group}`, group, priority, aggregate: resources({ cpu: 4 * machines }) });

describe('the flows of Phase 1', () => {
  it('happy path: given ample supply and one Need, then one proposal is committed and binds the machine', () => {
    const { plan, stats } = run(anInput(idle(3), [need('a', 1_000)]), { lanes: 2, schedule: inTurn() });
    expect(plan.actions).toMatchObject([{ kind: 'Bootstrap', machine: 'm0000', cluster: 'c-a' }]);
    expect(stats.modes.incremental).toMatchObject({ proposals: 1, commits: 1, conflicts: 0 });
  });

  it('conflict: given two Needs that race for one machine, then the better-ranked one gets it', () => {
    const input = anInput(idle(1), [need('low', 100), need('high', 10_000)]);
    // The worse-ranked lane runs ahead and commits first; the better-ranked one finds its version numbers stale, reads
    // again, and displaces it.
    const steps = [0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0];
    const { plan, stats } = run(input, { lanes: 2, schedule: () => steps.shift() ?? 1 });
    expect(plan.actions).toMatchObject([{ kind: 'Bootstrap', machine: 'm0000', cluster: 'c-high' }]);
    expect(stats.modes.incremental.conflicts).toBe(1);
    expect(stats.modes.incremental.displacements).toBe(1);
    expect(plan.verdicts.find(({ key }) => key.group === 'low')).toMatchObject({ satisfied: false });
  });

  it('conflict: given a second machine, then both Needs are met, the better-ranked one by the first machine', () => {
    const input = anInput(idle(2), [need('low', 100), need('high', 10_000)]);
    const { plan, stats } = run(input, { lanes: 2, schedule: inTurn() });
    expect(plan.actions.map(({ machine, cluster }) => [machine, cluster])).toEqual([
      ['m0000', 'c-high'],
      ['m0001', 'c-low'],
    ]);
    expect(stats.modes.incremental.conflicts).toBeGreaterThan(0);
  });

  it('exhaustion: given nothing left for a Need, then all of it is unmet and no other row loses anything', () => {
    const holders = Array.from({ length: 10 }, (_, i) => need(`h${i}`, 1_000));
    const { plan } = run(anInput(idle(10), [...holders, need('n8', 100)]), { lanes: 4, schedule: inTurn() });
    expect(plan.actions).toHaveLength(10);
    const verdict = plan.verdicts.find(({ key }) => key.group === 'n8');
    expect(verdict).toMatchObject({ satisfied: false, deficit: new Map([['cpu', 4]]) });
  });

  it('exhaustion: given one retry and endless contention, then rows are settled at the barrier, and none is lost', () => {
    const rows = Array.from({ length: 12 }, (_, i) => need(`r${i}`, 1_000 - i));
    const { plan, stats } = run(anInput(idle(12), rows), { lanes: 6, retries: 1, schedule: inTurn() });
    expect(stats.modes.incremental.exhausted).toBeGreaterThan(0);
    expect(plan.actions).toHaveLength(12);
    expect(plan.verdicts.every(({ satisfied }) => satisfied)).toBe(true);
  });

  it('cold start: given 1,000 Needs at three priorities and 5,000 Idle machines, then all are met in rank order', {
    timeout: 600_000,
  }, () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => need(`n${i}`, [100, 1_000, 10_000][i % 3]!));
    const random = new Random(1);
    const schedule = (lanes: number): number => random.below(lanes);
    const { plan, stats } = run(anInput(idle(5_000), rows), { lanes: 8, schedule });
    expect(plan.actions).toHaveLength(1_000);
    expect(plan.verdicts.every(({ satisfied }) => satisfied)).toBe(true);
    // The best-ranked third has the first machines of the pool.
    const best = new Set(plan.actions.slice(0, 333).map(({ machine }) => machine));
    expect(best.has('m0000') && best.has('m0332')).toBe(true);
    expect(stats.lanes).toBe(8);
  });
});
