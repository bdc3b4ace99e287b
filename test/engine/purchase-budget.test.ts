// The ceiling on spending: engine against oracle on fleets with budgets, and an engine that keeps state while budgets
// change from cycle to cycle.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import type { PurchaseBudget } from '../../src/model/index.ts';
import { brokenProperties, planText } from '../../testing/oracle/invariants.ts';
import { budgetedFleets } from '../../testing/support/fleets.ts';
import { difference, onEngine } from './compare.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 500);

describe('a ceiling on spending', () => {
  it('given any budgets, then engine and oracle agree and no budget is exceeded', {
    timeout: 1_200_000,
  }, () => {
    let stopped = 0;
    fc.assert(
      fc.property(budgetedFleets(), (input) => {
        expect(difference(input)).toBeNull();
        const plan = onEngine(input);
        expect(brokenProperties(input, plan)).toEqual([]);
        if (plan.verdicts.some(({ unmet }) => unmet?.reason === 'spend-limit')) stopped++;
      }),
      { numRuns: RUNS },
    );
    expect(stopped).toBeGreaterThan(RUNS / 100);
  });

  it('given budgets that change while the engine keeps its state, then each plan is that of a new engine', () => {
    const NOTHING: PurchaseBudget = { shard: 0, clusters: new Map() };
    fc.assert(
      fc.property(budgetedFleets(), (input) => {
        const engine = new Engine(fleetOf(input), { lanes: 3, schedule: () => 0, checkEvery: 0 });
        const { purchaseBudget: given, ...others } = input.options;
        for (const purchaseBudget of [undefined, given, NOTHING, undefined, given]) {
          const options = { ...others, purchaseBudget };
          const plan = engine.decide(input.nowMs, options).plan();
          expect(planText(plan)).toBe(planText(onEngine({ ...input, options })));
          if (purchaseBudget !== undefined) expect(engine.lastCycle.lanes).toBe(1);
        }
      }),
      { numRuns: RUNS / 5 },
    );
  });
});
