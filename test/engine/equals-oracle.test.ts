// The engine against the oracle: the whole plan, to the byte, on random fleets. A difference is written out as the
// smallest scenario that shows it, which `bigfleet decide` opens.

import fc from 'fast-check';
import { describe, it } from 'vitest';
import { fleets } from '../fleets.ts';
import { plansAgree, saveScenario, smallest } from './compare.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 2_000);

describe('engine and oracle', () => {
  it('agree on every plan, to the byte', { timeout: 600_000 }, () => {
    const run = fc.check(fc.property(fleets(), plansAgree), { numRuns: RUNS });
    if (!run.failed) return;
    const file = `.cache/differs-${run.seed}.json`;
    const [input] = run.counterexample!;
    saveScenario(file, run.errorInstance instanceof Error && input === undefined ? input! : smallest(input, (other) => !plansAgree(other)));
    throw new Error(`Seed ${run.seed}: the plans differ; smallest scenario in ${file}\n${fc.defaultReportMessage(run)}`);
  });
});
