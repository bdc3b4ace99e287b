// The properties of the definition, on random fleets, against the engine: what holds of any single decision. The
// closed loop has its own file (properties-loop.test.ts). A failing run prints its seed; BIGFLEET_SEED=n repeats it.
//
// Not here: P14 is a property of penalty buckets and is tested beside them (src/model/penalty.test.ts), as are the
// formulas of P10 (src/model/cost.test.ts). P17, the result of solving one by one, is equals-oracle.test.ts. P27 is
// about the cap on reclaims, which limits what is carried out and not what is decided. P30 is a report, not a gate.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  makeProfile,
  type Need,
  type Plan,
  type ResourceVector,
  sameKey,
  sameTermOf,
  strictSpreadOf,
} from '../../src/model/index.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { aMachine, aNeed, fleets, resources } from '../../testing/support/fleets.ts';
import { onEngine } from './compare.ts';
import { withoutGangs } from './loop-fleets.ts';
import { planProblems } from './plan-checks.ts';

function isPlain({ profile }: Need): boolean {
  return sameTermOf(profile) === undefined && strictSpreadOf(profile) === undefined;
}

function plainRowsOf(input: DecisionInput): DecisionInput {
  return { ...input, needs: input.needs.filter(isPlain) };
}

/** Priority above every row of the random fleets. */
const ABOVE_ALL = 2_000_000;

function actionsOf(plan: Plan): readonly string[] {
  return plan.actions.map(
    ({ kind, machine, cluster, need }) => `${kind} ${machine} ${cluster} ${need?.group}`,
  );
}

/** `npm run verify:seeds` sets more. */
const runs = (standard: number): number => Number(process.env['BIGFLEET_RUNS'] ?? standard);

describe('safety and accounting', () => {
  // P1–P13, P15 of the specification.
  it('given any fleet, then the plan has the properties of one decision', {
    timeout: 600_000,
  }, () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        expect(planProblems(input, onEngine(input))).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  // P28 of the specification.
  it('given no demand, then exactly the Configured machines of reported clusters are reclaimed', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const plan = onEngine({ ...input, needs: [] });
        const ready = input.options.readyClusters;
        const expected = input.machines
          .filter(({ state, cluster }) => state === MachineState.Configured && (ready?.has(cluster) ?? true))
          .map(({ id }) => id);
        const reclaimed = plan.actions.filter(({ kind }) => kind === 'Reclaim').map(({ machine }) => machine);
        expect(reclaimed.toSorted()).toEqual(expected.toSorted());
        expect(plan.actions.every(({ kind }) => kind === 'Reclaim' || kind === 'Delete')).toBe(true);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('priority', () => {
  // P16 of the specification.
  it('given a worse-ranked row that owns nothing, when it is added, then the claims of all other rows stay', () => {
    const newcomer = fc.record({
      cluster: fc.constantFrom('c1', 'c2', 'c9'),
      cpu: fc.constantFrom(2, 8, 64),
      group: fc.constantFrom('', 'late'),
    });
    fc.assert(
      fc.property(fleets(), newcomer, (input, { cpu, ...row }) => {
        const worse = aNeed({ ...row, priority: -5, aggregate: resources({ cpu }), minUnit: new Map() });
        const before = onEngine(input);
        const after = onEngine({ ...input, needs: [...input.needs, worse] });
        expect([...after.claims].filter(([, key]) => !sameKey(key, keyOf(worse)))).toEqual([
          ...before.claims,
        ]);
      }),
      { numRuns: runs(250) },
    );
  });

  // P18 of the specification.
  it('given plain rows, when one without machines in flight is raised above all, then it is not worse off', () => {
    fc.assert(
      fc.property(fleets().map(plainRowsOf), fc.nat(), (input, pick) => {
        fc.pre(input.needs.length > 0);
        const chosen = input.needs[pick % input.needs.length]!;
        const key = keyText(keyOf(chosen));
        fc.pre(!input.machines.some(({ target }) => target !== null && keyText(target) === key));
        const raised = { ...chosen, profile: makeProfile({ ...chosen.profile, priority: ABOVE_ALL }) };
        const isMet = (plan: Plan, need: Need): boolean =>
          plan.verdicts.find((verdict) => sameKey(verdict.key, keyOf(need)))!.satisfied;
        const before = isMet(onEngine(input), chosen);
        const needs = input.needs.map((need) => (need === chosen ? raised : need));
        expect(isMet(onEngine({ ...input, needs }), raised) || !before).toBe(true);
      }),
      { numRuns: runs(250) },
    );
  });

  // P26 of the specification.
  it('given one more Idle machine, then the best-ranked row, if plain, lacks no more than before', () => {
    const extra = fc.record({
      cpu: fc.constantFrom(2, 4, 16),
      price: fc.constantFrom(0, 1, 3),
      zone: fc.constantFrom('za', 'zb'),
    });
    fc.assert(
      fc.property(fleets(), extra, fc.constantFrom(4, 20, 60), (input, { cpu, price, zone }, wanted) => {
        const best = aNeed({
          priority: ABOVE_ALL,
          aggregate: resources({ cpu: wanted }),
          minUnit: new Map(),
        });
        const needs = [...input.needs, best];
        const machine = aMachine('extra', MachineState.Idle, {
          resources: resources({ cpu }),
          pricePerHour: price,
          zone,
        });
        const missing = (machines: readonly LedgerMachine[]): number =>
          onEngine({ ...input, needs, machines }).verdicts[0]!.deficit.get('cpu') ?? 0;
        expect(missing([...input.machines, machine])).toBeLessThanOrEqual(missing(input.machines));
      }),
      { numRuns: runs(250) },
    );
  });
});

describe('determinism', () => {
  // P19 of the specification.
  it('given the same fleet in another order, then the plan is the same to the byte', () => {
    const shuffled = fleets().chain((input) =>
      fc
        .record({
          machines: fc.shuffledSubarray([...input.machines], { minLength: input.machines.length }),
          needs: fc.shuffledSubarray([...input.needs], { minLength: input.needs.length }),
        })
        .map((parts): [DecisionInput, DecisionInput] => [input, { ...input, ...parts }]),
    );
    fc.assert(
      fc.property(shuffled, ([input, other]) => {
        expect(planText(onEngine(other))).toBe(planText(onEngine(input)));
      }),
      { numRuns: runs(250) },
    );
  });

  // P20 of the specification.
  it('given one fleet decided twice, then the second plan equals the first', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const fleet = fleetOf(input);
        const first = planText(decide(fleet, input.nowMs, input.options));
        expect(planText(decide(fleet, input.nowMs, input.options))).toBe(first);
      }),
      { numRuns: runs(150) },
    );
  });

  // P25 of the specification.
  it('given other ids in the same order, then the same machines are chosen', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const machines = input.machines.map((machine) => ({ ...machine, id: `x-${machine.id}-y` }));
        const renamed = planText(onEngine({ ...input, machines }));
        // Ids are quoted, and nothing else in a plan begins like one.
        const original = planText(onEngine(input)).replace(/"(m\d+)"/g, '"x-$1-y"');
        expect(renamed).toBe(original);
      }),
      { numRuns: runs(150) },
    );
  });

  // P29 of the specification.
  it('given rows without gangs, when quantities are scaled or resources renamed, then the choices are the same', () => {
    fc.assert(
      fc.property(fleets().map(withoutGangs), fc.constantFrom(2, 3, 1000), (input, factor) => {
        const largest = Math.max(0, ...input.machines.flatMap(({ resources: offer }) => [...offer.values()]));
        fc.pre(largest < 2 ** 40);
        const change = (vector: ResourceVector): ResourceVector =>
          new Map([...vector].map(([name, units]) => [`z.${name}`, units * factor]));
        const changed = {
          ...input,
          machines: input.machines.map((machine) => ({
            ...machine,
            resources: change(machine.resources),
            allocatable: change(machine.allocatable),
          })),
          needs: input.needs.map((need) => ({
            ...need,
            aggregate: change(need.aggregate),
            minUnit: change(need.minUnit),
          })),
        };
        const [before, after] = [onEngine(input), onEngine(changed)];
        expect(actionsOf(after)).toEqual(actionsOf(before));
        expect([...after.claims]).toEqual([...before.claims]);
      }),
      { numRuns: runs(150) },
    );
  });
});
