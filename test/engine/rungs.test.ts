// A small rung of the scale ladder, engine against oracle, for every number of threads and lanes that matters. Larger
// rungs: `npm run verify:oracle`.

import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import { rungInput } from './rungs.ts';
import { threadsStarted } from './warm.ts';

describe.each(['full', 'cold'] as const)('dev-500, %s', (beginning) => {
  const input = rungInput('dev-500', beginning);
  const expected = planText(oracle(input));

  it.each([
    [1, 1],
    [2, 1],
    [3, 3],
    [8, 8],
  ])(
    'given %i threads and %i lanes, then the plan equals the oracle’s',
    { timeout: 600_000 },
    async (workers, lanes) => {
      const engine = new Engine(fleetOf(input), { workers, lanes, smallestStep: 1 });
      try {
        await threadsStarted(engine, workers);
        expect(planText(engine.decide(input.nowMs, input.options).plan())).toBe(expected);
      } finally {
        await engine.close();
      }
    },
  );
});
