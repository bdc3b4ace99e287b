// The engine against the oracle: the whole plan, to the byte, on random fleets. A difference is written out as the
// smallest scenario that shows it, which `bigfleet decide` opens.

import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide as engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import type { DecisionInput, Plan } from '../../src/model/index.ts';
import { planJson, writeScenario } from '../../src/sim/index.ts';
import { fleets } from '../fleets.ts';
import { decide as oracle } from '../oracle/oracle.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 2_000);

function onEngine(input: DecisionInput): Plan {
  return engine(fleetOf(input), input.nowMs, input.options);
}

describe('engine and oracle', () => {
  it('agree on every plan, to the byte', { timeout: 600_000 }, () => {
    const run = fc.check(
      fc.property(fleets(), (input) => {
        expect(onEngine(input)).toEqual(oracle(input));
      }),
      { numRuns: RUNS },
    );
    if (!run.failed) return;
    const [input] = run.counterexample!;
    mkdirSync('.cache', { recursive: true });
    const file = `.cache/differs-${run.seed}.json`;
    writeFileSync(file, writeScenario(input));
    writeFileSync(`${file}.engine`, JSON.stringify(planJson(onEngine(input), input), null, 2));
    writeFileSync(`${file}.oracle`, JSON.stringify(planJson(oracle(input), input), null, 2));
    throw new Error(
      `Seed ${run.seed}: the plans differ; smallest scenario in ${file}\n${fc.defaultReportMessage(run)}`,
    );
  });
});
