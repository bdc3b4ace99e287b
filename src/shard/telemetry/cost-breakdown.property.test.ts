// Costs by any aspect add up to the cost of the fleet, which another part computes in another way.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fleets } from '../../../testing/support/fleets.ts';
import { Fleet } from '../../fleet/index.ts';
import { CostBreakdown, type CostGroups } from './cost-breakdown.ts';
import { COST_ASPECTS } from './cost-history.ts';
import { SupplyTally } from './machine-tally.ts';

const NONE = { byClass: new Map<number, number>() };

function sumOf(groups: CostGroups): readonly number[] {
  const sums = new Array<number>(7).fill(0);
  for (const { cost } of groups.values()) for (const [part, micros] of cost.entries()) sums[part]! += micros;
  return sums;
}

describe('the cost of a fleet by aspect', () => {
  it('given any fleet, failed hosts and machines on hold, then the groups of every aspect add up to the cost of the fleet', () => {
    fc.assert(
      fc.property(fleets({ machines: 30, needs: 5 }), fc.nat(), ({ machines }, pick) => {
        const fleet = new Fleet();
        for (const machine of machines) fleet.machines.put(machine);
        const failed = machines.filter(({ state }) => state === 8).slice(0, pick % 3);
        const byClass = new Map<number, number>();
        for (const { id } of failed) {
          const c = fleet.machines.classOf[fleet.machines.slotOf(id)!]!;
          byClass.set(c, (byClass.get(c) ?? 0) + 1);
        }
        const held = machines.filter(({ state }) => state === 5).slice(0, pick % 4);
        const slots = new Set(held.map(({ id }) => fleet.machines.slotOf(id)!));
        const heldByClass = new Map<number, number>();
        for (const slot of slots) {
          const c = fleet.machines.classOf[slot]!;
          heldByClass.set(c, (heldByClass.get(c) ?? 0) + 1);
        }
        const onHold = { byClass: heldByClass, has: (slot: number) => slots.has(slot) };
        const breakdown = new CostBreakdown(fleet, { failedHosts: { byClass }, onHold });
        const total = [...new SupplyTally(fleet, { failedHosts: { byClass }, onHold }).total().cost];
        for (const aspect of COST_ASPECTS) expect(sumOf(breakdown.by(aspect, 0))).toEqual(total);
      }),
    );
  });

  it('given a second reader within a second, then nothing is computed again; later it is', () => {
    const fleet = new Fleet();
    const breakdown = new CostBreakdown(fleet, { failedHosts: NONE, onHold: { ...NONE, has: () => false } });
    const first = breakdown.by('zone', 0);
    expect(breakdown.by('zone', 999)).toBe(first);
    expect(breakdown.by('zone', 1_000)).not.toBe(first);
  });
});
