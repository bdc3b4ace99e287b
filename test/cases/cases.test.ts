// Runs every case file of this folder against every decider. See README.md here for the format.

import { describe, expect, it } from 'vitest';
import { keyOf, withoutSame } from '../../src/model/index.ts';
import { readScenario, type Scenario } from '../../src/scenario/scenario.ts';
import { type CaseFile, type Json, loadCases, type Step } from './case-file.ts';
import { DECIDERS, type Decider } from './deciders.ts';
import { expectPlan } from './expect-plan.ts';
import { afterPlan, type RawScenario, withChange } from './next-cycle.ts';

const CASES = loadCases();

/** The rules of the reference, for cases that do not name others. */
const ONE_ROW_PER_MACHINE: Json = {
  sharing: 'off',
  reclaimHold: 0,
  poolOrder: 'price',
  accelerators: 'by-price',
};

function read(scenario: RawScenario, where: string): Scenario {
  const options = { ...ONE_ROW_PER_MACHINE, ...(scenario['options'] as Json | undefined) };
  const result = readScenario({ ...scenario, options });
  if (result.ok) return result.value;
  const problems = result.problems.map(({ path, message }) => `${path}: ${message}`);
  throw new Error(`${where}: ${problems.join('; ')}`);
}

/** Decides step after step; each starts from what the one before led to, or from `given` again. */
function runCase(file: CaseFile, { decide }: Decider): void {
  let current = file.given;
  file.steps.forEach((step, i) => {
    const start = step.from === 'given' ? file.given : current;
    current = runStep(step, withChange(start, step.change ?? {}), decide, `step ${i + 1}`);
  });
}

function runStep(step: Step, start: RawScenario, decide: Decider['decide'], name: string): RawScenario {
  let current = start;
  const times = step.times ?? 1;
  for (let time = 1; time <= times; time++) {
    const where = times === 1 ? name : `${name}, time ${time}`;
    const { input } = read(current, where);
    const plan = decide(input);
    expectPlan(plan, input, step.expected, where);
    current = afterPlan(current, plan, input);
  }
  return current;
}

for (const decider of DECIDERS) {
  describe(`cases, ${decider.name}`, () => {
    it.each(CASES.map((file) => [file.number, file.title, file] as const))('case %i: %s', (_n, _t, file) => {
      runCase(file, decider);
    });
  });
}

describe('case files', () => {
  it.each(CASES.map((file) => [file.file, file] as const))(
    'given %s, then its stamps and targets name rows that exist',
    (_name, file) => {
      const { input } = read(file.given, 'given');
      const known = new Set(
        input.needs.flatMap((need) => [keyOf(need).fingerprint, withoutSame(need.profile).fingerprint]),
      );
      const named = input.machines.map((machine) => machine.stamp?.fingerprint).filter(Boolean);
      expect(named.filter((fingerprint) => fingerprint !== 'gone' && !known.has(fingerprint!))).toEqual([]);
    },
  );
});
