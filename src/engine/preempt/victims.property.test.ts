// Compares the two ways in which unclaimed victims are found: listed at once, or scanned class by class.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyFleets } from '../../../testing/support/fleets.ts';
import { fleetOf } from '../../fleet/index.ts';
import { solve } from '../assign/solve.ts';
import { Cycle } from '../cycle.ts';
import { Lanes } from '../parallel/lanes.ts';
import { SMALLEST_STEP, WorkerPool } from '../parallel/worker-pool.ts';
import { VictimAvailability } from './victim-availability.ts';
import { Victims } from './victims.ts';

function victimsOf(availability: VictimAvailability, pattern: number, priority: number) {
  const victims = new Victims(availability, pattern, priority);
  const found: unknown[] = [];
  for (let i = 0; victims.has(i); i++)
    found.push([victims.slotAt(i), victims.priorityAt(i), victims.isExcess(i)]);
  const counts = new Map(victims.classes.map((c) => [c, victims.countOf(c)]));
  return { found, counts: [...counts].sort(([a], [b]) => a - b) };
}

describe('victims', () => {
  it('given any fleet, then listed and scanned unclaimed machines are the same victims in the same order', () => {
    fc.assert(
      fc.property(anyFleets(), fc.integer({ min: -1, max: 3_000_000 }), (input, priority) => {
        const cycle = new Cycle(fleetOf(input));
        const pool = new WorkerPool(cycle, 1, SMALLEST_STEP);
        solve(
          cycle,
          pool,
          new Lanes(cycle, pool, { lanes: 1, retries: 0 }),
          input.nowMs,
          input.options,
          true,
          () => {},
        );

        const listed = new VictimAvailability(cycle, Number.POSITIVE_INFINITY);
        const scanned = new VictimAvailability(cycle, -1);

        for (const [pattern, known] of cycle.fleet.patterns.list().entries()) {
          if (known !== undefined)
            expect(victimsOf(scanned, pattern, priority)).toEqual(victimsOf(listed, pattern, priority));
        }
      }),
      { numRuns: 200 },
    );
  });
});
