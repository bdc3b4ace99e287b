// The promises of sharing over many cycles on a few fleets; `npm run verify:sharing` runs thousands. Where a promise has
// known exceptions, the seed is fixed and the exceptions have tests of their own.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MachineState, SHARED_OPTIONS, UNSHARED_OPTIONS, ZONE_KEY } from '../../src/model/index.ts';
import { acquiredIn, startLoop } from '../loop/loop.ts';
import { aMachine, aNeed, anInput, resources, stampOf, strictSpread } from '../support/fleets.ts';
import { LOOP_PROPERTIES, runToRest } from './loop-properties.ts';
import { decide } from './oracle.ts';

const cpu = (amount: number) => resources({ cpu: amount });

describe('the closed loop of the oracle', () => {
  it.each(LOOP_PROPERTIES.map((property) => [property.name, property] as const))('%s', (_, property) => {
    const { fleets, problems, knownPerThousand } = property;
    fc.assert(
      fc.property(fleets(), fc.nat(1e9), (input, seed) => {
        expect(problems(input, seed)).toEqual([]);
      }),
      { numRuns: 30, ...(knownPerThousand > 0 ? { seed: 2 } : {}) },
    );
  });

  // Without sharing, a row that lives on a neighbour's machine has no stamp there, and takes over cheaper ones of its
  // neighbours as they come, one in each cycle. With sharing it re-stamps the machine and keeps to it.
  it('given a row on a neighbour’s large machine, when another neighbour buys small ones, then it stays with sharing, and takes those one by one without', () => {
    const best = aNeed({ priority: 200_000, aggregate: cpu(8), minUnit: cpu(2) });
    const owner = aNeed({ aggregate: cpu(8), minUnit: cpu(8) });
    const buyer = aNeed({ aggregate: cpu(1), minUnit: cpu(1), spread: [strictSpread(ZONE_KEY)] });
    const machines = [
      aMachine('large', MachineState.Configured, {
        resources: cpu(16),
        pricePerHour: 2,
        stamp: stampOf(owner),
      }),
      ...['s1', 's2', 's3', 's4', 's5', 's6'].map((id) =>
        aMachine(id, MachineState.Idle, { resources: cpu(2), pricePerHour: 0.25 }),
      ),
    ];
    // Two priority levels promise 4 cycles and one machine would do.
    const outcomes = [SHARED_OPTIONS, UNSHARED_OPTIONS].map((options) => {
      const input = anInput(machines, [best, owner, buyer], options);
      const { steps, cyclesToRest } = runToRest(startLoop(input), { decide, delays: 0 });
      return [cyclesToRest, acquiredIn(steps).size];
    });
    expect(outcomes).toEqual([
      [1, 1],
      [5, 5],
    ]);
  });
});
