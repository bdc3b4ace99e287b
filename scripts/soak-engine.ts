// `npm run soak:engine -- --minutes 10`: the checks of test/engine/loop-checks.ts on new random fleets for the
// requested time. The first fault ends the run with exit code 1: its smallest scenario is saved as a file that
// `bigfleet decide` opens, and the command that repeats it is printed.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { optionsGiven } from '../bench/options.ts';
import type { DecisionInput } from '../src/model/index.ts';
import { parseScenario } from '../src/scenario/scenario.ts';
import { saveScenario, smallest } from '../test/engine/compare.ts';
import { CHECKS, type FleetCheck } from '../test/engine/loop-checks.ts';

const USAGE = `npm run soak:engine -- [--minutes N] [--seed N] [--check NAME]
npm run soak:engine -- --check NAME --repeat FILE --delays N
checks: ${CHECKS.map(({ name }) => `"${name}"`).join(', ')}`;

/** Fleets per check and round. */
const BATCH = 100;
/** Seconds between progress lines. */
const PROGRESS_SECONDS = 10;

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const values = optionsGiven({
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  check: { type: 'string' },
  repeat: { type: 'string' },
  delays: { type: 'string', default: '0' },
});
const minutes = Number(values.minutes);
const firstSeed = Number(values.seed);
const checks = CHECKS.filter(({ name }) => values.check === undefined || values.check === name);
if (!(minutes > 0) || !Number.isInteger(firstSeed) || checks.length === 0) {
  console.error(USAGE);
  process.exit(2);
}
process.exitCode = values.repeat === undefined ? soak() : repeat(values.repeat, Number(values.delays));

function soak(): number {
  const started = performance.now();
  const secondsLeft = (): number => minutes * 60 - (performance.now() - started) / 1000;
  let fleets = 0;
  let progressAt = secondsLeft();
  for (let round = 0; secondsLeft() > 0; round++) {
    for (const check of checks) {
      // Every batch has a seed of its own, so that any of them can be run again alone.
      const seed = (firstSeed + round) % 2 ** 31;
      const fault = firstFault(check, seed);
      if (fault !== null) return report(check, seed, fault);
      fleets += BATCH;
      if (secondsLeft() <= 0) break;
      if (secondsLeft() > progressAt) continue;
      progressAt = secondsLeft() - PROGRESS_SECONDS;
      const left = Math.ceil(secondsLeft());
      console.log(`${left} s left · ${fleets.toLocaleString('en')} fleets · seed ${seed} · ${check.name}`);
    }
  }
  const rounds = `seeds ${firstSeed} and up`;
  console.log(`No fault in ${fleets.toLocaleString('en')} fleets, ${rounds}, ${minutes} min.`);
  return 0;
}

interface Fault {
  readonly input: DecisionInput;
  /** The second half of a check's input: which machines are lost, which rows grow, how long moves take. */
  readonly delays: number;
}

function firstFault(check: FleetCheck, seed: number): Fault | null {
  const run = fc.check(
    fc.property(
      check.fleets(),
      fc.nat(1e9),
      (input, delays) => problemsOf(check, input, delays).length === 0,
    ),
    { numRuns: BATCH, seed },
  );
  if (run.counterexample === null) return null;
  const [input, delays] = run.counterexample;
  return { input, delays };
}

function problemsOf(check: FleetCheck, input: DecisionInput, delays: number): readonly string[] {
  try {
    return check.problems(input, delays);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

function report(check: FleetCheck, seed: number, { input, delays }: Fault): number {
  const small = smallest(input, (other) => problemsOf(check, other, delays).length > 0);
  const file = `.cache/soak-${check.name.replaceAll(' ', '-')}-${seed}.json`;
  saveScenario(file, small);
  console.error(`FAULT "${check.name}", seed ${seed}`);
  for (const problem of problemsOf(check, small, delays)) console.error(`  ${problem}`);
  console.error(`Open it:     npm run bigfleet -- decide ${file}`);
  console.error(
    `Repeat it:   npm run soak:engine -- --check "${check.name}" --repeat ${file} --delays ${delays}`,
  );
  return 1;
}

function repeat(file: string, delays: number): number {
  const scenario = parseScenario(readFileSync(file, 'utf8'));
  if (!scenario.ok) {
    for (const { path, message } of scenario.problems) console.error(`${path}: ${message}`);
    return 2;
  }
  const problems = checks.flatMap((check) =>
    problemsOf(check, scenario.value.input, delays).map((problem) => `${check.name}: ${problem}`),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length === 0) console.log('No fault.');
  return problems.length === 0 ? 0 : 1;
}
