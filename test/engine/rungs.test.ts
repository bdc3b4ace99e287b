// A small rung of the scale ladder, engine against oracle, with sharing and without, for every number of threads and lanes
// that matters. Larger rungs: `npm run verify:oracle`.

import { describe, expect, it } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import { SHARED_OPTIONS, UNSHARED_OPTIONS } from '../../src/model/index.ts';
import { planText } from '../../testing/oracle/invariants.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';
import { rungInput } from './rungs.ts';
import { threadsStarted } from './warm.ts';

describe.each([
  ['full', 'shared', SHARED_OPTIONS],
  ['cold', 'shared', SHARED_OPTIONS],
  ['full', 'unshared', UNSHARED_OPTIONS],
  ['cold', 'unshared', UNSHARED_OPTIONS],
] as const)('dev-500, %s, %s', (beginning, _, economy) => {
  const input = rungInput('dev-500', beginning, economy);
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
