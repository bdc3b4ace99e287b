// `npm run bench:gate`: does a change make cycles much slower? Runs the small rungs of the ladder and fails where the
// ratio to the floor is more than double the recorded one. The floor is measured right beside the cycles, in the same
// process, so that neither the speed of the machine nor a busy neighbour decides; and medians are compared, because on
// a shared machine the slowest cycle says nothing. What is a factor of two here is a real change.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isRegime } from '../src/sim/index.ts';
import { floorOf } from './floor.ts';
import { Rung, type TimedCycle } from './ladder/rung.ts';
import { optionsGiven } from './options.ts';
import { loadProfile } from './profiles/load.ts';
import { quantilesOf, rounded } from './quantiles.ts';

const HELP = `bench gate: fails where a small rung is more than twice as far from the floor as recorded

  --record         measure and rewrite bench/gate.json, after a change that is meant to cost (or save) time
  --rung "P R"     measure only this rung and print its ratio
`;

const RUNGS = ['dev-500 full', 'uber-5k full', 'uber-5k cold', 'uber-5k churn', 'uber-5k steady'];
const RECORD = `${import.meta.dirname}/gate.json`;
const SEED = 1;

/** How many times the recorded ratio is too much. */
const ALLOWED = 2;
/** A rung that fails is measured again before it counts: a pause of the whole machine lasts longer than a round. */
const ATTEMPTS = 3;
/** What is recorded is the median of so many processes, since the compiler does not always choose alike. */
const RECORDED_RUNS = 3;

/** Cycles before the first round: the compiler settles after about so many. */
const WARM_UP = { cycles: 40, ms: 3000 };
const ROUNDS = 7;
/** One round: so many cycles, or as many as fit into the time, but at least one. */
const ROUND = { cycles: 8, ms: 300 };
const FLOOR_ROUNDS = 15;

type Ratios = Readonly<Record<string, number>>;

/** So much time on a processor is exact to a few per cent; less is not. */
const LEAST_CPU_MS = 100;

/**
 * The median over the rounds of (median cycle ÷ floor). On a busy machine every long cycle has to wait for a processor
 * and hardly any pass over the floor does; then time on the processor is the better measure, so the smaller counts.
 */
function ratioOf(name: string): number {
  const [profile = '', regime = ''] = name.split(' ');
  if (!isRegime(regime)) throw new Error(`${name}: a rung is a profile and a regime, as in "uber-5k full"`);
  const rung = new Rung(loadProfile(profile), regime, SEED);
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
  if (cpuMs < LEAST_CPU_MS) return ratio;
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

/** A rung in a process of its own: type feedback of one would change the next. */
function ratioApart(name: string): number {
  const child = spawnSync(process.execPath, [import.meta.filename, '--rung', name], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`${name} failed`);
  return Number(child.stdout);
}

function record(): void {
  const ratios = RUNGS.map((name): [string, number] => {
    const runs = Array.from({ length: RECORDED_RUNS }, () => ratioApart(name));
    console.error(`${name}: ${runs.join(', ')}`);
    return [name, rounded(quantilesOf(runs).p50)];
  });
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(ratios), null, 2)}\n`);
  console.error(`Wrote ${RECORD}.`);
}

/** Whether a rung is near enough to what was recorded; says so. */
function passes(name: string, recorded: number | undefined): boolean {
  if (recorded === undefined) {
    console.log(`FAIL ${name}: nothing recorded; npm run bench:gate -- --record`);
    return false;
  }
  const most = recorded * ALLOWED;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ratio = ratioApart(name);
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
  const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Ratios;
  const failed = RUNGS.filter((name) => !passes(name, recorded[name]));
  if (failed.length > 0) {
    console.log('Find out what got slower with: npm run --silent bench -- ladder --profile P --regime R');
    process.exitCode = 1;
  }
}
