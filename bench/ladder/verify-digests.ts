// `npm run verify:digests`: does the plan depend on the number of workers or lanes? Every profile in every regime, with
// sharing and without, is decided by an engine with one worker and by one of each other kind, on the same fleet and cycle by cycle;
// all must decide the same actions. The last cycle of each is also compared with a full solve.

import type { Decision, Engine, PlanDifference } from '../../src/engine/index.ts';
import { decidedJson } from '../../src/scenario/plan-json.ts';
import { saveDifference } from '../../src/scenario/save-difference.ts';
import { isRegime, REGIMES, type Regime } from '../../testing/workload/regimes.ts';
import { optionsGiven } from '../options.ts';
import { loadProfile, profileNames } from '../profiles/load.ts';
import { digestOf } from './digest.ts';
import { type Progress, progressOn } from './progress.ts';
import { isRulesName, RULES, type RulesName, Rung } from './rung.ts';

const HELP = `verify:digests: one digest for any number of workers and lanes

  --profiles A,B   which fleets (default uber-5k,uber-50k,uber-500k); all means every profile
  --regimes A,B    which regimes (default all: ${REGIMES.join(',')})
  --options A,B    rules of the decisions, as in bench ladder (default shared,unshared)
  --workers A,B    worker counts (default 1,2,3,8)
  --lanes A,B      lanes, each auto or a number (default auto,2,4,8)
  --cycles N       cycles for each kind of engine (default 3)
  --seed N         seed of the fleets and their changes (default 1)
  --whole          compare claims, re-stamps and verdicts as well; large fleets take long and much memory

Exit code 1 if any two plans differ.

examples:
  npm run verify:digests
  npm run verify:digests -- --profiles uber-5k --regimes full,churn --options shared --workers 1,2 --lanes auto --whole
`;

const values = optionsGiven({
  profiles: { type: 'string', default: 'uber-5k,uber-50k,uber-500k' },
  regimes: { type: 'string', default: REGIMES.join(',') },
  options: { type: 'string', default: 'shared,unshared' },
  workers: { type: 'string', default: '1,2,3,8' },
  lanes: { type: 'string', default: 'auto,2,4,8' },
  cycles: { type: 'string', default: '3' },
  seed: { type: 'string', default: '1' },
  whole: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

interface Kind {
  readonly workers: number;
  readonly lanes: number | 'auto';
}

const profiles = values.profiles === 'all' ? profileNames() : values.profiles.split(',');
const regimes = values.regimes === 'all' ? [...REGIMES] : values.regimes.split(',');
const options = values.options.split(',');
const kinds = values.workers.split(',').flatMap((workers) => {
  return values.lanes.split(',').map((lanes): Kind => {
    return { workers: Number(workers), lanes: lanes === 'auto' ? 'auto' : Number(lanes) };
  });
});
const cycles = Number(values.cycles);

/** The problem of the command line; null if there is none. */
function usageProblem(): string | null {
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1;
  for (const name of profiles) if (!profileNames().includes(name)) return `There is no profile ${name}.`;
  for (const name of regimes) if (!isRegime(name)) return `There is no regime ${name}.`;
  for (const name of options)
    if (!isRulesName(name)) return `--options are of ${Object.keys(RULES).join(', ')}, not ${name}.`;
  if (!kinds.every(({ workers }) => isCount(workers))) return '--workers are whole numbers from 1 on.';
  if (!kinds.every(({ lanes }) => lanes === 'auto' || isCount(lanes)))
    return '--lanes are auto or whole numbers from 1 on.';
  return isCount(cycles) ? null : '--cycles is a whole number from 1 on.';
}

function digest(decision: Decision): string {
  return values.whole ? decidedJson(decision.plan()).digest : digestOf(decision.eachAction());
}

/** Timeout for threads to start; each takes some tens of milliseconds. */
const THREADS_START_MS = 30_000;

async function waitForThreads(engine: Engine, workers: number): Promise<void> {
  const start = performance.now();
  while (engine.threads < workers) {
    if (performance.now() - start > THREADS_START_MS)
      throw new Error(`only ${engine.threads} of ${workers} threads started`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Compares one kind of engine with the rung's own, which has one worker, cycle by cycle. One kind at a time, since dozens
 * of threads and as many sets of columns would not fit beside a large fleet. Steps of any size are shared among threads,
 * so that threads have work on small fleets.
 */
async function verifyKind(rung: Rung, kind: Kind, progress: Progress): Promise<string[]> {
  const problems: string[] = [];
  const name = `${kind.workers} workers, lanes ${kind.lanes}`;
  const onDifference = (difference: PlanDifference): void => {
    const [incremental, full] = saveDifference('.cache/differences', difference);
    problems.push(`${name}: not the plan of a full solve: compare ${incremental} with ${full}`);
  };
  const engine = rung.newEngine({ ...kind, smallestStep: 1, checkEvery: cycles, onDifference });
  try {
    await waitForThreads(engine, kind.workers);
    for (let cycle = 1; cycle <= cycles && problems.length === 0; cycle++) {
      progress.update(`${name}, cycle ${cycle} of ${cycles}`);
      const expected = digest(rung.next().decision);
      const found = digest(rung.decideOn(engine));
      if (found !== expected) problems.push(`${name}, cycle ${cycle}: ${found}, with one worker ${expected}`);
    }
    for (const failure of engine.threadFailures) problems.push(`${name}: a thread failed: ${failure}`);
  } finally {
    await engine.close();
  }
  return problems;
}

async function verify(profile: string, regime: Regime, rules: RulesName): Promise<boolean> {
  const start = performance.now();
  const name = `${profile} ${regime} ${rules}`;
  const progress = progressOn(process.stderr, name);
  progress.update('generating the fleet');
  const rung = new Rung(loadProfile(profile), regime, Number(values.seed), { engine: { lanes: 1 }, rules });
  rung.first();
  const problems: string[] = [];
  for (const kind of kinds) problems.push(...(await verifyKind(rung, kind, progress)));
  progress.done();
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const outcome = problems.length === 0 ? 'one digest' : 'DIFFERS';
  console.log(
    `${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${kinds.length} kinds, ${outcome} (${seconds} s)`,
  );
  for (const problem of problems) console.log(`     ${problem}`);
  await rung.close();
  return problems.length === 0;
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (problem !== null) {
  console.error(`${problem} See --help.`);
  process.exitCode = 2;
} else {
  for (const rules of options) {
    for (const profile of profiles) {
      for (const regime of regimes) {
        if (!isRegime(regime) || !isRulesName(rules)) continue;
        if (!(await verify(profile, regime, rules))) process.exitCode = 1;
      }
    }
  }
}
