// Tallies cache unchanged parts: after any changes they equal a tally computed from scratch.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fleets } from '../../../testing/support/fleets.ts';
import { Fleet } from '../../fleet/index.ts';
import { type DecisionInput, MachineState } from '../../model/index.ts';
import { DemandTally } from './demand-tally.ts';
import { SupplyTally } from './machine-tally.ts';

/** Classes per block. With few of them even a small fleet has several blocks. */
const BLOCK = 3;

const change = fc.record({
  from: fleets({ machines: 20, needs: 10 }),
  /** Selects machines to put (even) or remove (odd), and clusters whose rows are written. */
  picks: fc.array(fc.nat({ max: 40 }), { maxLength: 8 }),
});

function apply(fleet: Fleet, { machines, needs }: DecisionInput, picks: readonly number[]): void {
  for (const pick of picks) {
    const machine = machines[pick >> 1];
    if (machine !== undefined && pick % 2 === 0) fleet.machines.put(machine);
    else if (machine !== undefined) fleet.machines.remove(machine.id);
    const cluster = needs[pick >> 1]?.cluster ?? 'c1';
    const rows = needs.filter((need) => need.cluster === cluster);
    fleet.demand.replace(cluster, pick % 3 === 0 ? rows.slice(1) : rows);
  }
}

describe('tallies', () => {
  it('given any changes, then they equal a tally computed from scratch', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const fleet = new Fleet();
        const [demand, supply] = [new DemandTally(fleet), new SupplyTally(fleet, { block: BLOCK })];
        for (const { from, picks } of changes) {
          apply(fleet, from, picks);

          const recount = new DemandTally(fleet);
          expect(demand.wanted()).toEqual(recount.wanted());
          expect(demand.machines()).toEqual(recount.machines());
          expect(supply.total()).toEqual(new SupplyTally(fleet, { block: BLOCK }).total());
          const count = supply.total().byState.reduce((sum, machines) => sum + machines, 0);
          expect(count).toBe(fleet.machines.count);
        }
      }),
    );
  });

  it('given more changes than the change log of the ledger holds, then everything is counted again', () => {
    const fleet = new Fleet();
    const supply = new SupplyTally(fleet);
    fc.assert(
      fc.property(fleets({ machines: 20, needs: 1 }), ({ machines }) => {
        for (const machine of machines) fleet.machines.put(machine);
        const before = supply.total();
        fleet.machines.counted.restart();
        expect(supply.total()).toEqual(before);
        for (const { id } of machines) fleet.machines.remove(id);
        fleet.machines.counted.restart();
        expect(supply.total().byState[MachineState.Configured]).toBe(0);
      }),
      { numRuns: 20 },
    );
  });
});
