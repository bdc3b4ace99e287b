// Broken providers against the suite: each runs the behaviours of its own area, all others that must detect it, and a
// sample that shows whether the suite reports the right behaviour. Every mutant against every behaviour, kills included:
// `npm run verify:mutants`.

import { describe, expect, it } from 'vitest';
import { BEHAVIOURS } from '../../src/provider/index.ts';
import type { Mutant } from '../../testing/mutants/providers/mutant.ts';
import { HEALTHY, MUTANTS } from '../../testing/mutants/providers/provider.ts';
import { failedIn, tryMutant } from '../../testing/mutants/providers/try-mutant.ts';
import { GIVEN_UP_MS, QUICK } from './timings.ts';

const PATIENT = { timeout: 180_000 };

/** Behaviours of several areas that a mutant fails only if it lists them. */
const SAMPLE = ['FullLifecycle', 'B107', 'B207', 'B407', 'B801'];

/** Starting and killing is slow: only mutants of durability run that target. */
const KILLS = new Set(BEHAVIOURS.filter(({ targetKind }) => targetKind === 'durable').map(({ id }) => id));

function namedHere({ area, named }: Mutant): readonly string[] {
  return named.filter((id) => area === 'durability' || !KILLS.has(id));
}

describe('the mutants', () => {
  it('given all of them, then names are unique and the listed behaviours exist', () => {
    const ids = new Set(BEHAVIOURS.map(({ id }) => id));
    expect(MUTANTS.length).toBeGreaterThanOrEqual(70);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.filter(({ named }) => named.length === 0)).toEqual([]);
    expect(MUTANTS.flatMap(({ named }) => named.filter((id) => !ids.has(id)))).toEqual([]);
  });

  it('given all of them, then every behaviour but two, which measure speed, is failed by one', () => {
    const named = new Set(MUTANTS.flatMap((mutant) => mutant.named));
    const unnamed = BEHAVIOURS.filter(({ id }) => !named.has(id));
    expect(unnamed.map(({ id }) => id)).toEqual(['B1106', 'B1107']);
  });
});

describe.concurrent('a provider', PATIENT, () => {
  it('given no defect, then it passes', async () => {
    const report = await tryMutant(HEALTHY, { profiles: ['core', 'fault'] }, QUICK);
    expect(failedIn(report)).toEqual([]);
    expect(report.verdict).toBe('certified');
  });

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'given the defect "%s", then it is detected',
    async (_, mutant) => {
      const named = namedHere(mutant);
      const failed = failedIn(await tryMutant(mutant, { only: [mutant.area, ...named, ...SAMPLE] }));
      expect(failed).toEqual(expect.arrayContaining([...named]));
      expect(failed.filter((id) => SAMPLE.includes(id) && !named.includes(id))).toEqual([]);
    },
  );
});

describe('a machine that cannot be read for a while', PATIENT, () => {
  it('given a late success meanwhile, then it is read once more and the defect is detected', async () => {
    const mutant = MUTANTS.find(({ name }) => name === 'a late success overrides Failed')!;
    const trial = tryMutant(mutant, { only: ['B704'] }, QUICK);
    await new Promise((resolve) => setTimeout(resolve, GIVEN_UP_MS + 600));
    // Busy-waits for the rest of the observation time; the success arrives meanwhile.
    for (const untilMs = performance.now() + 2_000; performance.now() < untilMs; );
    expect(failedIn(await trial)).toEqual(['B704']);
  });
});
