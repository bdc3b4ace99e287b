// `npm run bench -- speedup`: the speed-up by threads. Cycles with one worker and with several alternate on one fleet,
// and between them a plain parallel loop over the same columns, on one thread and on several. A noisy neighbour slows
// all of them alike, so the speed-up of the cycle is reported as a fraction of that of the loop.

import type { Decision, Engine } from '../../src/engine/index.ts';
import { isRegime, REGIMES } from '../../testing/workload/regimes.ts';
import { optionsGiven } from '../options.ts';
import { loadProfile, profileNames } from '../profiles/load.ts';
import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import { digestOf } from './digest.ts';
import { ParallelLoop } from './parallel-loop.ts';
import { progressOn, SILENT } from './progress.ts';
import { machineLine } from './report.ts';
import { Rung } from './rung.ts';

/** Minimum speed-up of the cycle relative to that of the loop, in regimes that solve everything. */
const MIN_RATIO = 0.75;
/** Maximum slowdown by more threads, as a fraction of the time, in any regime. */
const MAX_LOSS = 0.05;

const HELP = `bench speedup: cycles with one worker and with several, against a plain parallel loop over the same columns

  --profile NAME   which fleet (default uber-500k)
  --regime NAME    as in bench ladder (default full)
  --workers N      threads to compare with one (default 2)
  --lanes auto|N   rows served from the pools at a time (default auto)
  --rounds N       rounds of one cycle each and one loop each (default 15)
  --warm-up N      rounds before them (default 10)
  --seed N         seed of the fleet and its changes (default 1)
  --json           one JSON document on standard output
  --enforce        exit with 1 if the ratio is below ${MIN_RATIO} in the regime full, or the loss above ${MAX_LOSS * 100} %

examples:
  npm run --silent bench -- speedup --profile uber-500k --regime full
  npm run --silent bench -- speedup --profile uber-50k --regime churn --rounds 30 --json
`;

interface SpeedUp {
  readonly profile: string;
  readonly regime: string;
  readonly workers: number;
  readonly rounds: number;
  /** Whole decisions, without `freeze`, which no worker shares. */
  readonly oneMs: Quantiles;
  readonly severalMs: Quantiles;
  /** One ÷ several, the median over the rounds. */
  readonly speedUp: number;
  readonly loopOneMs: Quantiles;
  readonly loopSeveralMs: Quantiles;
  readonly loopSpeedUp: number;
  /** speedUp ÷ loopSpeedUp. */
  readonly ratio: number;
  /** Extra time of several workers, as a fraction; below 0 where they were faster. */
  readonly loss: number;
  readonly met: boolean;
}

const values = optionsGiven({
  profile: { type: 'string', default: 'uber-500k' },
  regime: { type: 'string', default: 'full' },
  workers: { type: 'string', default: '2' },
  lanes: { type: 'string', default: 'auto' },
  rounds: { type: 'string', default: '15' },
  'warm-up': { type: 'string', default: '10' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  enforce: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

/** The problem of the command line; null if there is none. */
function usageProblem(): string | null {
  if (!profileNames().includes(values.profile)) return `There is no profile ${values.profile}.`;
  if (!isRegime(values.regime))
    return `There is no regime ${values.regime}; there are ${REGIMES.join(', ')}.`;
  if (!(Number(values.workers) >= 2)) return '--workers is a whole number from 2 on.';
  if (!(Number(values.rounds) >= 1)) return '--rounds is a whole number from 1 on.';
  return null;
}

async function waitForThreads(engine: Engine, workers: number): Promise<void> {
  while (engine.threads < workers) await new Promise((resolve) => setTimeout(resolve, 5));
}

function timed<T>(run: () => T): { readonly ms: number; readonly value: T } {
  const start = performance.now();
  const value = run();
  return { ms: performance.now() - start, value };
}

/** The plan must not depend on the number of workers; a cold plan takes seconds to convert, so one round is checked. */
function checkEqual(decisions: readonly Decision[]): void {
  const digests = new Set(decisions.map((decision) => digestOf(decision.eachAction())));
  if (digests.size > 1) throw new Error('the plan depends on the number of workers');
}

async function compare(): Promise<SpeedUp> {
  const { profile, regime } = values;
  if (!isRegime(regime)) throw new Error('unreachable');
  const workers = Number(values.workers);
  const rounds = Number(values.rounds);
  const warmUp = Number(values['warm-up']);
  const progress = values.json ? SILENT : progressOn(process.stderr, `${profile} ${regime}`);
  progress.update('generating the fleet');
  const lanes = values.lanes === 'auto' ? 'auto' : Number(values.lanes);
  const rung = new Rung(loadProfile(profile), regime, Number(values.seed), { engine: { lanes } });
  rung.first();
  const one = rung.engine;
  const several = rung.newEngine({ workers, lanes });
  await waitForThreads(several, workers);
  const loop = new ParallelLoop(rung.fleet, workers);
  await loop.ready();
  const times = {
    one: [] as number[],
    several: [] as number[],
    alone: [] as number[],
    together: [] as number[],
  };
  for (let round = 0; round < warmUp + rounds; round++) {
    progress.update(`round ${round + 1} of ${warmUp + rounds}`);
    rung.advance();
    // The first engine of a round finds colder caches, so the order alternates.
    const engines = round % 2 === 0 ? [one, several] : [several, one];
    const runs = engines.map((engine) => timed(() => rung.decideOn(engine)));
    if (round === 0) checkEqual(runs.map(({ value }) => value));
    if (round < warmUp) continue;
    const swapped = engines[0] === several;
    times.one.push(runs[swapped ? 1 : 0]!.ms);
    times.several.push(runs[swapped ? 0 : 1]!.ms);
    times.alone.push(loop.alone());
    times.together.push(loop.together());
  }
  progress.done();
  await Promise.all([loop.close(), several.close(), rung.close()]);
  return summaryOf(profile, regime, workers, rounds, times);
}

/** Ratios are taken per round, because interference by other processes lasts longer than a round. */
function medianRatio(one: readonly number[], several: readonly number[]): number {
  return quantilesOf(one.map((ms, round) => ms / several[round]!)).p50;
}

function summaryOf(
  profile: string,
  regime: string,
  workers: number,
  rounds: number,
  times: Readonly<Record<'one' | 'several' | 'alone' | 'together', readonly number[]>>,
): SpeedUp {
  const oneMs = quantilesOf(times.one);
  const severalMs = quantilesOf(times.several);
  const loopOneMs = quantilesOf(times.alone);
  const loopSeveralMs = quantilesOf(times.together);
  const speedUp = medianRatio(times.one, times.several);
  const loopSpeedUp = medianRatio(times.alone, times.together);
  const ratio = speedUp / loopSpeedUp;
  const loss = 1 / speedUp - 1;
  const met = loss <= MAX_LOSS && (regime !== 'full' || ratio >= MIN_RATIO);
  const cycles = { oneMs, severalMs, speedUp: rounded(speedUp) };
  const loops = { loopOneMs, loopSeveralMs, loopSpeedUp: rounded(loopSpeedUp) };
  return {
    profile,
    regime,
    workers,
    rounds,
    ...cycles,
    ...loops,
    ratio: rounded(ratio),
    loss: rounded(loss),
    met,
  };
}

function print(result: SpeedUp): void {
  const { loopOneMs, loopSeveralMs, oneMs, severalMs, workers } = result;
  console.table({
    cycle: { 'one p50 ms': oneMs.p50, [`${workers} p50 ms`]: severalMs.p50, 'speed-up': result.speedUp },
    loop: {
      'one p50 ms': loopOneMs.p50,
      [`${workers} p50 ms`]: loopSeveralMs.p50,
      'speed-up': result.loopSpeedUp,
    },
  });
  console.log(`${result.profile} ${result.regime}, ${result.rounds} rounds, ${machineLine()}`);
  console.log(
    `ratio ${result.ratio} (at least ${MIN_RATIO} in full), loss ${result.loss} (at most ${MAX_LOSS})`,
  );
  console.log(result.met ? 'met' : 'NOT met');
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (problem !== null) {
  console.error(`${problem} See --help.`);
  process.exitCode = 2;
} else {
  const result = await compare();
  if (values.json) console.log(JSON.stringify(result, null, 2));
  else print(result);
  if (values.enforce && !result.met) process.exitCode = 1;
}
