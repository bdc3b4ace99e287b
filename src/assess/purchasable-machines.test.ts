// The machines that a simulated fleet may buy: their number is bounded, and a decision has enough of them all the same.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aNeed, resources, same, strictSpread } from '../../testing/support/fleets.ts';
import { CapacityType, MachineState, type Need, ZONE_KEY } from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import { PurchasableMachines } from './purchasable-machines.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

const NOW = Date.UTC(2026, 0, 1);
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

function offering(name: string, cpu: number, pricePerHour: number): CatalogueEntry {
  return {
    ...{ name, instanceType: name, capacityType: CapacityType.OnDemand, pricePerHour },
    ...{ interruptionProbability: 0, resources: resources({ cpu }), allocatable: new Map() },
    ...{ zones: ZONES, racksPerZone: 1, labels: new Map(), weight: 1, isOwned: false },
  };
}

/** What a fleet buys for the Needs after each cycle, and how many machines exist at its end. */
function settled(catalogue: readonly CatalogueEntry[], needs: readonly Need[], firstMachines?: number) {
  const purchasable = new PurchasableMachines(catalogue, firstMachines);
  const fleet = new SimulatedFleet(NOW, purchasable);
  fleet.add(purchasable.forNeeds(needs));
  fleet.report(needs);
  const bought = () =>
    [...fleet.machines]
      .filter(({ state }) => state !== MachineState.Speculative)
      .map(({ instanceType, cluster }) => `${cluster} ${instanceType}`)
      .sort();
  const cycles: (readonly string[])[] = [];
  fleet.settle(() => cycles.push(bought()));
  const unmet = fleet.plan!.verdicts.filter(({ satisfied }) => !satisfied).length;
  return { cycles, bought: bought(), unmet, machines: [...fleet.machines].length };
}

describe('machines that may be bought', () => {
  it('given thousands of offerings and large Needs, then their number is bounded, and the cheapest are bought', () => {
    // In three zones each.
    const catalogue = Array.from({ length: 700 }, (_, i) => {
      const cpu = 2 ** (1 + (i % 6));
      return offering(`type-${i}`, cpu, cpu * (1 + i / 1000));
    });
    const needs = Array.from({ length: 900 }, (_, i) =>
      aNeed({
        ...{ cluster: `c${i % 5}`, group: `g${i}`, priority: i },
        ...{ aggregate: resources({ cpu: 10 + (i % 35) }), minUnit: resources({ cpu: 2 }) },
      }),
    );
    const { bought, machines, unmet } = settled(catalogue, needs);
    expect(unmet).toBe(0);
    // Without a bound there are 11 million.
    expect(machines).toBeLessThan(20_000 + 10 * bought.length);
    const types = new Set(bought.map((each) => Number(/type-(\d+)/.exec(each)![1])));
    expect([...types].filter((type) => type > 12)).toEqual([]);
  });

  it('given few machines at first, then each cycle buys the same types as with all of them', () => {
    const need = fc.record({
      cluster: fc.constantFrom('c1', 'c2'),
      priority: fc.integer({ min: 0, max: 3 }),
      cpu: fc.integer({ min: 1, max: 100 }),
      unit: fc.constantFrom(1, 2, 8, 32),
      shape: fc.constantFrom('plain', 'gang', 'spread'),
    });
    const shapes = {
      plain: {},
      gang: { requirements: [same(ZONE_KEY)] },
      spread: { spreads: [strictSpread(ZONE_KEY)] },
    };
    const catalogue = [
      ...[offering('tiny', 1, 1.2), offering('small', 4, 4.1), offering('large', 16, 16)],
      ...[offering('huge', 64, 65), offering('dear', 16, 30)],
    ];
    fc.assert(
      fc.property(fc.array(need, { minLength: 1, maxLength: 5 }), (drawn) => {
        const needs = drawn.map(({ cpu, unit, shape, ...rest }, i) =>
          aNeed({
            ...{ ...rest, ...shapes[shape], group: `g${i}` },
            ...{ aggregate: resources({ cpu: Math.max(cpu, unit) }), minUnit: resources({ cpu: unit }) },
          }),
        );
        const all = settled(catalogue, needs, Number.MAX_SAFE_INTEGER);
        const few = settled(catalogue, needs, 1);
        expect(few.cycles).toEqual(all.cycles);
        expect(few.unmet).toBe(all.unmet);
        expect(few.machines).toBeLessThanOrEqual(all.machines);
      }),
      { numRuns: 60 },
    );
  });

  it('given a Need that no offering serves, then there is no machine for it', () => {
    const purchasable = new PurchasableMachines([offering('small', 4, 4)]);
    expect(purchasable.forNeeds([aNeed({ minUnit: resources({ cpu: 5 }) })])).toEqual([]);
    expect(purchasable.afterDecision([])).toEqual([]);
  });
});
