// Some of the points at which a shard may be killed; `npm run verify:kill` covers all of them.

import { describe, expect, it } from 'vitest';
import { runKillScenario } from './kill-scenario.ts';
import { PATIENT } from './shard-world.ts';

describe.concurrent('a shard that is killed', () => {
  it.for(['create.answered', 'configure.saved', 'drain.decided'] as const)(
    'given a kill at %s, then it restarts and repeats no action',
    PATIENT,
    async (point, context) => {
      const { diedDuring, problems } = await runKillScenario(context, point);
      expect(problems).toEqual([]);
      expect(diedDuring).not.toBe('');
    },
  );
});
