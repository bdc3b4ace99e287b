// The oracle against the properties of the definition, on random small fleets. A failing run prints its seed;
// BIGFLEET_SEED=n repeats it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareRank,
  type DecisionInput,
  keyOf,
  keyText,
  machineProblems,
  type Need,
  sameTermOf,
} from '../../src/model/index.ts';
import { aNeed, fleets, resources, sharedFleets } from '../support/fleets.ts';
import { brokenProperties, planText } from './invariants.ts';
import { decide } from './oracle.ts';

const RUNS = { numRuns: 400 };

describe('the generator', () => {
  it('given any fleet, then its records are valid and ids are unique', () => {
    fc.assert(
      fc.property(fleets(), ({ machines }) => {
        expect(machines.flatMap((machine) => machineProblems(machine))).toEqual([]);
        expect(new Set(machines.map((machine) => machine.id)).size).toBe(machines.length);
      }),
    );
  });

  it('given many fleets, then every kind of outcome occurs', () => {
    const seen = new Set<string>();
    for (const input of fc.sample(fleets(), { numRuns: 600, seed: 7 })) {
      const plan = decide(input);
      for (const action of plan.actions) seen.add(action.reason);
      for (const verdict of plan.verdicts) {
        if (verdict.unmet !== null) seen.add(verdict.unmet.reason);
        if (verdict.foldedInto !== null) seen.add('folded');
        if (verdict.domain !== null && verdict.satisfied) seen.add('gang met');
        if (verdict.domain !== null && verdict.preempts.length > 0) seen.add('gang preempts');
      }
      if (plan.restamps.size > 0) seen.add('re-stamp');
    }
    expect([...seen].sort()).toEqual([
      'claimed-by-equals',
      'claimed-elsewhere',
      'cluster-disconnected',
      'folded',
      'gang met',
      'gang preempts',
      'insufficient-supply',
      'no-fitting-supply',
      'no-matching-supply',
      'phase1.idle',
      'phase1.speculative',
      'phase2.excess',
      'phase2.inversion',
      'phase3.excess',
      'phase3.release',
      'preempting',
      'preemption-exhausted',
      'priority-starved',
      're-stamp',
      'set-aside',
      'spread-unsatisfiable',
      'supply-blocked',
      'supply-failed',
      'topology-unsatisfiable',
    ]);
  });
});

describe('any plan of the oracle with sharing', () => {
  it('given many fleets, then shares, new targets and machines on hold occur', () => {
    const seen = new Map<string, number>();
    const see = (what: string, times: number): void => void seen.set(what, (seen.get(what) ?? 0) + times);
    for (const input of fc.sample(sharedFleets(), { numRuns: 800, seed: 7 })) {
      const plan = decide(input);
      see('shares', plan.verdicts.filter(({ shares }) => shares.length > 0).length);
      see('several shares', plan.verdicts.filter(({ shares }) => shares.length > 1).length);
      see(
        'shares and claims',
        plan.verdicts.filter((of) => of.shares.length > 0 && of.claimed.length > 0).length,
      );
      see('short with shares', plan.verdicts.filter((of) => of.shares.length > 0 && !of.satisfied).length);
      see('retargets', plan.retargets.size);
      see('on hold', plan.onHold.size);
      const preempting = plan.verdicts.filter(({ unmet }) => unmet?.reason === 'preempting');
      see('preempting without picks', preempting.filter(({ preempts }) => preempts.length === 0).length);
      const isHeld = (id: string): boolean => plan.onHold.has(id);
      see('held reclaims', plan.actions.filter((of) => of.kind === 'Reclaim' && isHeld(of.machine)).length);
    }
    expect([...seen].filter(([, times]) => times < 5)).toEqual([]);
  });

  it('given any fleet, then it has the properties of one decision', () => {
    fc.assert(
      fc.property(sharedFleets(), (input) => {
        expect(brokenProperties(input, decide(input))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('given a worse-ranked row that owns nothing, when it is added, then better-ranked rows keep claims and shares', () => {
    fc.assert(
      fc.property(sharedFleets({ machines: 30, needs: 10 }), fc.constantFrom(2, 8, 64), (input, cpu) => {
        const parts = { priority: -5, aggregate: resources({ cpu }), minUnit: new Map() };
        const worse = aNeed({ cluster: 'c1', ...parts });
        const outcome = (needs: DecisionInput['needs']): readonly unknown[] =>
          decide({ ...input, needs })
            .verdicts.filter(({ priority }) => priority !== -5)
            .map(({ key, claimed, shares, deficit }) => [keyText(key), claimed, shares, deficit]);
        expect(outcome([...input.needs, worse])).toEqual(outcome(input.needs));
      }),
      RUNS,
    );
  });

  it('given the demand of the worst row changes, then the Phase 1 outcome of all others does not', () => {
    fc.assert(
      fc.property(sharedFleets({ machines: 30, needs: 10 }), fc.constantFrom(0, 3, 50), (input, cpu) => {
        const plain = input.needs.filter((need) => sameTermOf(need.profile) === undefined);
        const worst = plain.toSorted(compareRank).at(-1);
        if (worst === undefined) return;
        const changed = { ...worst, aggregate: resources({ cpu }) };
        const outcome = (need: Need): readonly unknown[] =>
          decide({ ...input, needs: [...plain.filter((of) => of !== worst), need] })
            .verdicts.slice(0, -1)
            .map(({ key, claimed, shares, deficit }) => [keyText(key), claimed, shares, deficit]);
        expect(outcome(changed)).toEqual(outcome(worst));
      }),
      RUNS,
    );
  });
});

describe('any plan of the oracle', () => {
  // P1 to P4 and P7 to P11 of the specification.
  it('given any fleet, then it has the properties of one decision', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        expect(brokenProperties(input, decide(input))).toEqual([]);
      }),
      RUNS,
    );
  });

  // P16 of the specification.
  it('given a worse-ranked row that owns nothing, when it is added, then better-ranked rows keep their claims', () => {
    const newcomer = fc.record({
      cluster: fc.constantFrom('c1', 'c2'),
      cpu: fc.constantFrom(2, 8, 64),
      group: fc.constantFrom('', 'late'),
    });
    fc.assert(
      fc.property(fleets({ machines: 30, needs: 10 }), newcomer, (input, { cluster, cpu, group }) => {
        const worse = aNeed({
          cluster,
          group,
          priority: -5,
          aggregate: resources({ cpu }),
          minUnit: new Map(),
        });
        const before = decide(input);
        const after = decide({ ...input, needs: [...input.needs, worse] });
        const others = [...after.claims].filter(([, key]) => keyText(key) !== keyText(keyOf(worse)));
        expect(others).toEqual([...before.claims]);
      }),
      RUNS,
    );
  });

  // P19 of the specification.
  it('given the same machines and rows in another order, then it is the same', () => {
    const permuted = fleets().chain((input) =>
      fc
        .record({
          machines: fc.shuffledSubarray([...input.machines], { minLength: input.machines.length }),
          needs: fc.shuffledSubarray([...input.needs], { minLength: input.needs.length }),
        })
        .map((shuffled): [DecisionInput, DecisionInput] => [input, { ...input, ...shuffled }]),
    );
    fc.assert(
      fc.property(permuted, ([input, other]) => {
        expect(planText(decide(other))).toBe(planText(decide(input)));
      }),
      RUNS,
    );
  });
});
