// The engine against the oracle: the whole plan, to the byte, on random fleets. A difference is saved as the
// smallest scenario that shows it, which `bigfleet decide` opens.

import fc from 'fast-check';
import { describe, it } from 'vitest';
import { anyFleets } from '../../testing/support/fleets.ts';
import { difference, saveScenario, smallest } from './compare.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 1_000);

describe('engine and oracle', () => {
  it('given any fleet, then their plans are equal to the byte', { timeout: 1_200_000 }, () => {
    const run = fc.check(
      fc.property(anyFleets(), (input) => difference(input) === null),
      { numRuns: RUNS },
    );
    if (!run.failed) return;
    const file = `.cache/differs-${run.seed}.json`;
    const input = smallest(run.counterexample![0], (other) => difference(other) !== null);
    saveScenario(file, input);
    throw new Error(`Seed ${run.seed}: the plans differ; smallest scenario in ${file}\n${difference(input)}`);
  });
});
