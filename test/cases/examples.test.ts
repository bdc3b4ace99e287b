// The comments of the example scenarios are true: the plan, and the effect of the suggested changes.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type PlanJson, planJson } from '../../src/scenario/plan-json.ts';
import { parseScenario } from '../../src/scenario/scenario.ts';
import { DECIDERS, type Decider } from './deciders.ts';

/** The plan for an example, after replacing texts in its file. */
function planOf(
  name: string,
  { decide }: Decider,
  ...edits: readonly (readonly [string, string])[]
): PlanJson {
  const file = `${import.meta.dirname}/../../examples/scenarios/${name}.yaml`;
  const text = edits.reduce(
    (before, [from, to]) => {
      expect(before).toContain(from);
      return before.replace(from, to);
    },
    readFileSync(file, 'utf8'),
  );
  const scenario = parseScenario(text);
  if (!scenario.ok) throw new Error(JSON.stringify(scenario.problems));
  return planJson(decide(scenario.value.input), scenario.value.input);
}

function actionsOf({ actions }: PlanJson): readonly string[] {
  return actions.map(({ kind, machine }) => `${kind} ${machine}`);
}

for (const decider of DECIDERS) {
  describe(`examples, ${decider.name}`, () => {
    it('given first-look, then idle machines are bound, others bought, one reclaimed and one released', () => {
      const plan = planOf('first-look', decider);
      expect(actionsOf(plan)).toEqual([
        'Bootstrap metal-1',
        'Bootstrap metal-2',
        'Provision on-demand-1',
        'Provision spot-1',
        'Provision spot-2',
        'Reclaim shop-2',
        'Delete rented-1',
      ]);
      expect(plan.cost).toEqual({ before: 2.85, after: 3.85, risk: 0 });
    });

    it('given gang-and-tenant, then the tenant is preempted in the rack that becomes complete', () => {
      const plan = planOf('gang-and-tenant', decider);
      expect(actionsOf(plan)).toEqual(['Preempt r2-3', 'Preempt r2-4']);
      expect(plan.actions.map(({ graceSeconds }) => graceSeconds)).toEqual([30, 30]);
    });

    it('given gang-and-tenant with equal priority, a repaired machine or a larger gang, then nothing is preempted', () => {
      expect(actionsOf(planOf('gang-and-tenant', decider, ['priority: 50000', 'priority: 900000']))).toEqual(
        [],
      );
      const repaired = planOf('gang-and-tenant', decider, [
        'state: failed, lastError: fan broken',
        'state: idle',
      ]);
      expect(actionsOf(repaired)).toEqual([1, 2, 3, 4].map((i) => `Bootstrap r1-${i}`));
      const huge = planOf('gang-and-tenant', decider, ['nvidia.com/gpu: 32', 'nvidia.com/gpu: 48']);
      expect(huge.actions).toEqual([]);
      expect(huge.needs[0]?.reason).toBe('topology-unsatisfiable');
    });

    it('given spread-over-zones, then seven machines are in balance and one is missing', () => {
      const plan = planOf('spread-over-zones', decider);
      expect(actionsOf(plan)).toEqual([
        'Bootstrap b-1',
        'Provision c-1',
        'Provision b-2',
        'Provision c-2',
        'Bootstrap a-3',
      ]);
      expect(plan.needs[0]).toMatchObject({ reason: 'spread-unsatisfiable', deficit: { cpu: '8' } });
    });

    it('given shared-machines, then four Needs live on two machines, and the third one is on hold', () => {
      const plan = planOf('shared-machines', decider);
      expect(plan.actions).toEqual([]);
      expect(plan.needs.map(({ claimed, shares = [] }) => [claimed, shares])).toEqual([
        [['shop-1'], []],
        [['shop-2'], [{ machine: 'shop-1', amount: { cpu: '2' } }]],
        [[], [{ machine: 'shop-2', amount: { cpu: '1500m' } }]],
        [[], [{ machine: 'shop-2', amount: { cpu: '3' } }]],
      ]);
      expect(Object.keys(plan.onHold ?? {})).toEqual(['shop-3']);
    });

    it('given shared-machines, when the hold has run out, a pod is too large or sharing is off, then the third one is used or leaves', () => {
      const actionsWith = (from: string, to: string) =>
        actionsOf(planOf('shared-machines', decider, [from, to]));
      expect(actionsWith('T11:56', 'T11:50')).toEqual(['Reclaim shop-3']);
      expect(actionsWith('\nneeds:', '\noptions: { sharing: off }\nneeds:')).toEqual(['Provision more-1']);
      const large = planOf('shared-machines', decider, ['minUnit: { cpu: 3 }', 'minUnit: { cpu: 4 }']);
      expect(large.needs[3]).toMatchObject({ claimed: ['shop-3'], satisfied: true });
      expect(large).not.toHaveProperty('onHold');
    });

    it('given spread-over-zones, when maxSkew is 2, then it is met, and a soft term is ignored', () => {
      expect(planOf('spread-over-zones', decider, ['maxSkew: 1', 'maxSkew: 2']).needs[0]?.satisfied).toBe(
        true,
      );
      const soft = planOf('spread-over-zones', decider, ['DoNotSchedule }', 'ScheduleAnyway }']);
      expect(actionsOf(soft).slice(0, 3)).toEqual(['Bootstrap a-3', 'Bootstrap a-4', 'Bootstrap b-1']);
    });
  });
}
