// A random fleet that fails a test is saved as a scenario file; reading the file must give the same fleet.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planJson } from '../../src/scenario/plan-json.ts';
import { parseScenario } from '../../src/scenario/scenario.ts';
import { writeScenario } from '../../src/scenario/scenario-write.ts';
import { anyFleets } from '../../testing/support/fleets.ts';
import { DECIDERS } from './deciders.ts';

it('given a fleet written as a scenario file, when it is read, then fleet and decision are the same', () => {
  fc.assert(
    fc.property(anyFleets(), (input) => {
      const read = parseScenario(writeScenario(input));
      if (!read.ok) throw new Error(JSON.stringify(read.problems));
      expect(read.value.input).toEqual(input);
      for (const { decide } of DECIDERS) {
        expect(planJson(decide(read.value.input), read.value.input)).toEqual(planJson(decide(input), input));
      }
    }),
    { numRuns: 200 },
  );
});
