// The smallest extra supply of a verdict, checked against decisions: it is about the Need alone, with the machines that it
// has and the amounts that it borrows. Other Needs may acquire extra machines first, and may release others instead. The
// cheapest purchase is checked the same way, by trying every machine that can be bought in growing numbers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, Engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  isPurchased,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  microsOf,
  type Need,
  type Plan,
  sameTermOf,
  strictSpreadOf,
  type Verdict,
} from '../../src/model/index.ts';
import { aMachine, aNeed, anInput, anyFleets, resources } from '../../testing/support/fleets.ts';

const decided = (input: DecisionInput): Plan => decide(fleetOf(input), input.nowMs, input.options);

/** A larger supply would only make the test slow. */
const MOST_MACHINES = 60;

/** The machine that the extra supply of a verdict is like. */
function likeOf({ machines }: DecisionInput, { unmet }: Verdict): LedgerMachine {
  return machines.find(({ id }) => id === unmet!.extraSupply!.like)!;
}

/** Whether a Need is met if it is alone with its machines and extra Idle ones that are like a known one. */
function isMetAlone(
  input: DecisionInput,
  verdict: Verdict,
  like: LedgerMachine,
  extraMachines: number,
): boolean {
  const need = input.needs.find((of) => keyText(keyOf(of)) === keyText(verdict.key))!;
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
          const like = likeOf(input, verdict);
          expect(isMetAlone(input, verdict, like, extra.count - 1)).toBe(false);
          // All of the extra machines are in one domain, which strict spread may forbid.
          if (strictSpreadOf(need.profile) === undefined)
            expect(isMetAlone(input, verdict, like, extra.count)).toBe(true);
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

interface Purchase {
  readonly machines: number;
  readonly micros: number;
}

/** The fewest of the machines at the lowest price that meet a Need that is alone; nothing where no number of any does. */
function cheapestAlone(input: DecisionInput, verdict: Verdict): Purchase {
  let best: Purchase = { machines: 0, micros: Number.POSITIVE_INFINITY };
  for (const like of input.machines) {
    if (!isPurchased(like.capacityType) || !isMetAlone(input, verdict, like, MOST_MACHINES)) continue;
    let [tooFew, enough] = [0, MOST_MACHINES];
    while (enough - tooFew > 1) {
      const count = Math.floor((tooFew + enough) / 2);
      if (isMetAlone(input, verdict, like, count)) enough = count;
      else tooFew = count;
    }
    const micros = enough * microsOf(like.pricePerHour);
    if (micros < best.micros || (micros === best.micros && enough < best.machines))
      best = { machines: enough, micros };
  }
  return best.micros === Number.POSITIVE_INFINITY ? { machines: 0, micros: 0 } : best;
}

describe('the cheapest purchase for all unmet Needs', () => {
  it('given any fleet, then it meets each Need by itself, and nothing cheaper does', () => {
    let unmetNeeds = 0;
    fc.assert(
      fc.property(anyFleets({ machines: 10, needs: 5 }), (random) => {
        // Given machines of many prices that are not interrupted, so that the price is all that counts, no gangs, no spread
        const input: DecisionInput = {
          ...random,
          machines: random.machines.map((machine, i) => {
            const pricePerHour = 1 + ((i * 7) % 10) / 8;
            return { ...machine, pricePerHour, interruptionProbability: 0 };
          }),
          needs: random.needs.filter(
            ({ profile }) => profile.spread.length === 0 && sameTermOf(profile) === undefined,
          ),
        };
        // When
        const decision = new Engine(fleetOf(input)).decide(input.nowMs, input.options);
        const purchase = decision.cheapestPurchase();
        // Then
        fc.pre(purchase.machines <= MOST_MACHINES);
        const each = decision.unmet.map((verdict) => cheapestAlone(input, verdict));
        unmetNeeds += each.length;
        expect(purchase).toEqual({
          machines: each.reduce((sum, { machines }) => sum + machines, 0),
          micros: each.reduce((sum, { micros }) => sum + micros, 0),
        });
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 300) },
    );
    expect(unmetNeeds).toBeGreaterThan(0);
  });

  it('given a cluster that cannot bind, then nothing is to be bought for it', () => {
    const input = anInput([aMachine('m', MachineState.Idle)], [aNeed({ aggregate: resources({ cpu: 8 }) })], {
      cannotBind: new Set(['c1']),
    });
    const decision = new Engine(fleetOf(input)).decide(input.nowMs, input.options);
    expect(decision.cheapestPurchase()).toEqual({ machines: 0, micros: 0 });
  });
});
