// The smallest extra supply of a verdict, checked against decisions: it is about the Need alone, with the machines that it
// has and the amounts that it borrows. Other Needs may acquire extra machines first, and may release others instead.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  keyOf,
  keyText,
  MachineState,
  type Need,
  type Plan,
  strictSpreadOf,
  type Verdict,
} from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, anyFleets, resources } from '../../testing/support/fleets.ts';

const decided = (input: DecisionInput): Plan => decide(fleetOf(input), input.nowMs, input.options);

/** A larger supply would only make the test slow. */
const MOST_MACHINES = 60;

/** Whether a Need is met if it is alone with its machines and extra Idle ones that are like a known one. */
function isMetAlone(input: DecisionInput, verdict: Verdict, extraMachines: number): boolean {
  const need = input.needs.find((of) => keyText(keyOf(of)) === keyText(verdict.key))!;
  const like = input.machines.find(({ id }) => id === verdict.unmet!.extraSupply!.like)!;
  const extra = Array.from({ length: extraMachines }, (_, i) =>
    aMachine(`extra-${i}`, MachineState.Idle, {
      ...{ instanceType: like.instanceType, zone: like.zone, capacityType: like.capacityType },
      ...{ resources: like.resources, allocatable: like.allocatable, labels: like.labels },
    }),
  );
  const claimed = new Set(verdict.claimed);
  const own = input.machines.filter(({ id }) => claimed.has(id));
  const alone = { ...input, needs: [withoutBorrowed(need, verdict)], machines: [...own, ...extra] };
  return decided(alone).verdicts[0]!.satisfied;
}

function withoutBorrowed(need: Need, { shares }: Verdict): Need {
  const borrowed = (name: string): number =>
    shares.reduce((sum, { amount }) => sum + (amount.get(name) ?? 0), 0);
  const left = Array.from(need.aggregate, ([name, units]) => [name, units - borrowed(name)] as const);
  return { ...need, aggregate: new Map(left) };
}

describe('the smallest extra supply of a verdict', () => {
  it('given a Need alone with its machines, then the extra supply meets it, and one machine less does not', () => {
    fc.assert(
      fc.property(anyFleets({ machines: 25, needs: 8 }), (input) => {
        for (const verdict of decided(input).verdicts) {
          const extra = verdict.unmet?.extraSupply ?? null;
          // A gang with a domain counts on everything that the domain could provide, on machines that drain too.
          if (extra === null || extra.count > MOST_MACHINES || verdict.domain !== null) continue;
          const need = input.needs.find((of) => keyText(keyOf(of)) === keyText(verdict.key))!;
          expect(isMetAlone(input, verdict, extra.count - 1)).toBe(false);
          // All of the extra machines are in one domain, which strict spread may forbid.
          if (strictSpreadOf(need.profile) === undefined)
            expect(isMetAlone(input, verdict, extra.count)).toBe(true);
        }
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 200) },
    );
  });

  it('given a cluster that cannot bind, then no machines would meet its Need and there is none', () => {
    const need = aNeed({ aggregate: resources({ cpu: 8 }) });
    const machines = [aMachine('m', MachineState.Idle)];
    const unmetOf = (cannotBind: ReadonlySet<string>) =>
      decided(anInput(machines, [need], { cannotBind })).verdicts[0]!.unmet!;
    expect(unmetOf(new Set()).extraSupply).toEqual({ count: 1, like: 'm' });
    expect(unmetOf(new Set(['c1']))).toMatchObject({ reason: 'cluster-disconnected', extraSupply: null });
  });
});
