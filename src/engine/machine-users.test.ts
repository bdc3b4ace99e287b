// Who uses a machine, compared with the claims and shares of the same decision.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayLend, takenByLender } from '../../testing/oracle/invariants-economy.ts';
import {
  aMachine,
  aNeed,
  anInput,
  anyFleets,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../../testing/support/fleets.ts';
import { fleetOf } from '../fleet/index.ts';
import {
  type DecisionInput,
  effectiveAllocatable,
  formatResources,
  keyOf,
  keyText,
  MachineState,
  SHARED_OPTIONS,
} from '../model/index.ts';
import { type Decision, Engine } from './engine.ts';

function decided(input: DecisionInput): Decision {
  return new Engine(fleetOf(input)).decide(input.nowMs, input.options);
}

describe('the users of a machine', () => {
  it('given any fleet, then they are its claimant and its borrowers by rank, and take no more than it has', () => {
    fc.assert(
      fc.property(anyFleets({ machines: 20, needs: 10 }), (input) => {
        const decision = decided(input);
        const { claims, verdicts } = decision.plan();
        const needs = new Map(input.needs.map((need) => [keyText(keyOf(need)), need]));
        const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
        const verdictOf = new Map(verdicts.map((verdict) => [keyText(verdict.key), verdict]));
        for (const machine of input.machines) {
          const users = decision.usersOf(machine.id);
          const claimant = claims.get(machine.id);
          const borrowers = verdicts.flatMap(({ key, shares }) =>
            shares
              .filter(({ machine: id }) => id === machine.id)
              .map(({ amount }) => ({ key: keyText(key), amount: formatResources(amount) })),
          );
          const [first, ...others] = users;
          expect(first === undefined ? undefined : keyText(first.key)).toBe(
            claimant === undefined ? undefined : keyText(claimant),
          );
          expect(
            others.map(({ key, amount }) => ({ key: keyText(key), amount: formatResources(amount!) })),
          ).toEqual(borrowers);
          expect(users.map(({ isShare }) => isShare)).toEqual(users.map((_, i) => i > 0));
          for (const [name, units] of effectiveAllocatable(machine)) {
            const taken = users.reduce((sum, { amount }) => sum + BigInt(amount?.get(name) ?? 0), 0n);
            expect(taken <= BigInt(units)).toBe(true);
          }
          const need = claimant === undefined ? undefined : needs.get(keyText(claimant));
          if (need === undefined || input.options.sharing === 'off' || !mayLend(need)) continue;
          const verdict = verdictOf.get(keyText(claimant!))!;
          const claimed = verdict.claimed.map((id) => machines.get(id)!);
          const part = takenByLender(need, verdict, claimed).find(({ id }) => id === machine.id)!;
          expect(formatResources(first!.amount!)).toEqual(formatResources(part.amount));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('given a row of unknown size, then it has the machine, and how much of it is not known', () => {
    const need = aNeed({ setAside: true });
    const machine = aMachine('m', MachineState.Configured, { stamp: stampOf(need) });
    expect(decided(anInput([machine], [need], SHARED_OPTIONS)).usersOf('m')).toMatchObject([
      { key: keyOf(need), isShare: false, amount: null },
    ]);
  });

  it('given a gang, then it takes what it wants of its machines, in the order it claims them', () => {
    const need = aNeed({
      ...{ group: 'g', requirements: [same(RACK_KEY)] },
      ...{ aggregate: resources({ cpu: 6 }), minUnit: resources({ cpu: 2 }) },
    });
    const labels = new Map([[RACK_KEY, 'r1']]);
    const machines = ['a', 'b'].map((id) =>
      aMachine(id, MachineState.Configured, { labels, stamp: stampOf(need) }),
    );
    const decision = decided(anInput(machines, [need], SHARED_OPTIONS));
    expect(['a', 'b', 'unknown'].map((id) => decision.usersOf(id).map(({ amount }) => amount))).toEqual([
      [resources({ cpu: 4 })],
      [resources({ cpu: 2 })],
      [],
    ]);
  });
});
