// `npm run bench:gate`: regression test for cycle times. Runs the small rungs of the ladder and fails if the ratio to
// the floor is more than double the recorded one. The floor is measured between the cycles, in the same process, so
// that the result does not depend on the speed or load of the machine. Medians are compared, because on a shared
// machine the slowest cycle is noise; a factor of two is a real change.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isRegime } from '../testing/workload/regimes.ts';
import { floorOf } from './floor.ts';
import { isRulesName, Rung, type TimedCycle } from './ladder/rung.ts';
import { optionsGiven } from './options.ts';
import { loadProfile } from './profiles/load.ts';
import { quantilesOf, rounded } from './quantiles.ts';

const HELP = `bench gate: fails where a small rung is more than twice as far from the floor as recorded

  --record         measure and rewrite bench/gate.json, after a change that is meant to cost (or save) time
  --rung "P R O"   measure only this rung and print its ratio: profile, regime, and options (shared or unshared)
`;

const RUNGS = [
  'uber-5k cold shared',
  'uber-5k churn shared',
  'dev-500 full unshared',
  'uber-5k full unshared',
  'uber-5k cold unshared',
  'uber-5k churn unshared',
  'uber-5k steady unshared',
];
const RECORD_FILE = `${import.meta.dirname}/gate.json`;
const SEED = 1;

/** Maximum factor over the recorded ratio. */
const ALLOWED = 2;
/** A rung fails after this many failed measurements: a pause of the whole machine lasts longer than a round. */
const ATTEMPTS = 3;
/** The recorded ratio is the median of this many processes, because JIT decisions differ between processes. */
const RECORDED_RUNS = 3;

/** Warm-up before the first round, until one of the limits: the JIT compiler is stable after about 40 cycles. */
const WARM_UP = { cycles: 40, ms: 3000 };
const ROUNDS = 7;
/** One round: at most this many cycles and, after the first one, at most this time. */
const ROUND = { cycles: 8, ms: 300 };
const FLOOR_ROUNDS = 15;

type Ratios = Readonly<Record<string, number>>;

/** Below this total CPU time of a measurement, its clock is too coarse and the CPU time is not used. */
const MIN_CPU_MS = 100;

/**
 * The median over the rounds of (median cycle ÷ floor), or mean CPU time of a cycle ÷ floor if that is smaller: on a
 * busy machine every long cycle waits for a processor and hardly any pass over the floor does.
 */
function ratioOf(name: string): number {
  const [profile = '', regime = '', rules = ''] = name.split(' ');
  if (!isRegime(regime) || !isRulesName(rules))
    throw new Error(`${name}: a rung is a profile, a regime and options, as in "uber-5k full shared"`);
  const rung = new Rung(loadProfile(profile), regime, SEED, { rules });
  rung.first();
  cyclesOf(rung, WARM_UP);
  const cycles: TimedCycle[] = [];
  const floors: number[] = [];
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const timed = cyclesOf(rung, ROUND);
    const floorMs = floorOf(rung.fleet, FLOOR_ROUNDS).p50;
    cycles.push(...timed);
    floors.push(floorMs);
    ratios.push(quantilesOf(timed.map(({ ms }) => ms)).p50 / floorMs);
  }
  const ratio = quantilesOf(ratios).p50;
  const cpuMs = cycles.reduce((sum, cycle) => sum + cycle.cpuMs, 0);
  if (cpuMs < MIN_CPU_MS) return ratio;
  return Math.min(ratio, cpuMs / cycles.length / quantilesOf(floors).p50);
}

function cyclesOf(rung: Rung, limit: { readonly cycles: number; readonly ms: number }): TimedCycle[] {
  const cycles: TimedCycle[] = [];
  let spentMs = 0;
  while (cycles.length < limit.cycles && (cycles.length === 0 || spentMs < limit.ms)) {
    const cycle = rung.next();
    cycles.push(cycle);
    spentMs += cycle.ms;
  }
  return cycles;
}

/** A rung in a process of its own: type feedback of one rung would affect the next. */
function ratioInOwnProcess(name: string): number {
  const child = spawnSync(process.execPath, [import.meta.filename, '--rung', name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`${name} failed`);
  return Number(child.stdout);
}

function record(): void {
  const ratios = RUNGS.map((name): [string, number] => {
    const runs = Array.from({ length: RECORDED_RUNS }, () => ratioInOwnProcess(name));
    console.error(`${name}: ${runs.join(', ')}`);
    return [name, rounded(quantilesOf(runs).p50)];
  });
  writeFileSync(RECORD_FILE, `${JSON.stringify(Object.fromEntries(ratios), null, 2)}\n`);
  console.error(`Wrote ${RECORD_FILE}.`);
}

/** Whether a rung is within the allowed factor of the recorded ratio; prints the result. */
function passes(name: string, recorded: number | undefined): boolean {
  if (recorded === undefined) {
    console.log(`FAIL ${name}: nothing recorded; npm run bench:gate -- --record`);
    return false;
  }
  const most = recorded * ALLOWED;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ratio = ratioInOwnProcess(name);
    const ok = ratio <= most;
    const figures = `${ratio.toFixed(1)} × the floor, recorded ${recorded.toFixed(1)}, at most ${most.toFixed(1)}`;
    console.log(`${ok ? 'ok  ' : attempt < ATTEMPTS ? 'slow' : 'FAIL'} ${name}: ${figures}`);
    if (ok) return true;
  }
  return false;
}

const values = optionsGiven({
  record: { type: 'boolean', default: false },
  rung: { type: 'string' },
  help: { type: 'boolean', default: false },
});
if (values.help) console.log(HELP);
else if (values.rung !== undefined) console.log(rounded(ratioOf(values.rung)));
else if (values.record) record();
else {
  const recorded = JSON.parse(readFileSync(RECORD_FILE, 'utf8')) as Ratios;
  const failed = RUNGS.filter((name) => !passes(name, recorded[name]));
  if (failed.length > 0) {
    console.log('Find out what got slower with: npm run --silent bench -- ladder --profile P --regime R');
    process.exitCode = 1;
  }
}
