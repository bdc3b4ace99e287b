// `npm run bench -- ladder`: cycles on generated fleets of every size, in every regime. Results are in
// docs/reference/performance.md, the method in docs/internals/performance-method.md.

import { saveDifference } from '../../src/scenario/save-difference.ts';
import { isRegime, REGIMES } from '../../testing/workload/regimes.ts';
import { optionsGiven } from '../options.ts';
import { loadProfile, profileNames } from '../profiles/load.ts';
import { short } from '../record/markdown.ts';
import { exportProblem, exportRung } from './export.ts';
import { linearityOf, linearityTable, linearRungs } from './linear.ts';
import { measure, type RungResult, type Settings } from './measure.ts';
import { progressOn, SILENT } from './progress.ts';
import { type LadderRow, ladderTable, limitChecksOf, machineLine, printResult } from './report.ts';
import { isRulesName, RULES } from './rung.ts';
import { measureInOwnProcess, rungsOf } from './rung-process.ts';

const HELP = `bench ladder: cycles on generated fleets, from dev-50 to uber-500k

  --profile NAME   which fleet (default uber-5k); --list names them
  --regime NAME    cold     nothing bound, everything unmet
                   full     everything bound, with planted changes; every cycle solves all of it (default)
                   steady   everything bound and fitting, nothing changes
                   churn    the everyday changes of the profile between cycles
                   burst    the profile's deploy burst between cycles
  --cycles N       timed cycles (default 30)
  --warm-up N      cycles before them (default 30)
  --seconds N      start no cycle after N seconds of cycles, but time at least 3 (default 60)
  --workers N      threads that share the work (default 1: no threads are started)
  --lanes auto|N   rows served from the pools at a time (default auto: as many as pay)
  --check-every N  compare every Nth cycle with a full solve, inside its time (default 0: none); a difference is
                   saved under .cache/differences and is a failure
  --options NAME   rules of the decisions: unshared (default: one row per machine, cheapest machine first), shared (the
                   defaults of a shard), or coverage (the order of free machines of shared, and nothing else of it)
  --seed N         seed of the fleet and its changes (default 1)
  --json           one JSON document on standard output
  --enforce        exit with 1 if a threshold of the profile is exceeded
  --export FILE    also write the input of the last cycle as a scenario for \`bigfleet decide\`
  --linear         µs per Need of uber-5k, uber-50k and uber-500k side by side, each in its own process
  --all            the whole ladder, each rung in its own process; --profile and --regime may be given more than once
                   to run only some rungs. \`bench record ladder\` does this and keeps the result

examples:
  npm run --silent bench -- ladder --profile uber-50k --regime churn
  npm run --silent bench -- ladder --profile uber-500k --regime full --cycles 30 --json
  npm run --silent bench -- ladder --profile dev-500 --export dev-500.json && npx bigfleet decide dev-500.json
  npm run --silent bench -- ladder --linear --regime full
  npm run --silent bench -- ladder --all --profile uber-5k --profile uber-50k
`;

const values = optionsGiven({
  profile: { type: 'string', multiple: true },
  regime: { type: 'string', multiple: true },
  cycles: { type: 'string', default: '30' },
  'warm-up': { type: 'string', default: '30' },
  seconds: { type: 'string', default: '60' },
  workers: { type: 'string', default: '1' },
  lanes: { type: 'string', default: 'auto' },
  'check-every': { type: 'string', default: '0' },
  options: { type: 'string', default: 'unshared' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  enforce: { type: 'boolean', default: false },
  export: { type: 'string' },
  all: { type: 'boolean', default: false },
  linear: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

const settings: Settings = {
  rules: isRulesName(values.options) ? values.options : 'unshared',
  cycles: Number(values.cycles),
  warmUp: Number(values['warm-up']),
  seconds: Number(values.seconds),
  workers: Number(values.workers),
  lanes: values.lanes === 'auto' ? 'auto' : Number(values.lanes),
  seed: Number(values.seed),
  checkEvery: Number(values['check-every']),
  onDifference: (difference) => {
    const [incremental, full] = saveDifference('.cache/differences', difference);
    console.error(`Cycle ${difference.cycle} differs from a full solve: compare ${incremental} with ${full}`);
  },
};

/** The problem of the command line; null if there is none. */
function usageProblem(): string | null {
  const { checkEvery, cycles, lanes, warmUp, seconds, workers, seed } = settings;
  if (!Number.isInteger(cycles) || cycles < 1)
    return `--cycles is a whole number from 1 on, not ${values.cycles}.`;
  if (!Number.isInteger(warmUp) || warmUp < 0)
    return `--warm-up is a whole number, not ${values['warm-up']}.`;
  if (!(seconds >= 0)) return `--seconds is a number from 0 on, not ${values.seconds}.`;
  if (!Number.isInteger(workers) || workers < 1)
    return `--workers is a whole number from 1 on, not ${values.workers}.`;
  if (lanes !== 'auto' && (!Number.isInteger(lanes) || lanes < 1))
    return `--lanes is auto or a whole number from 1 on, not ${values.lanes}.`;
  if (!Number.isInteger(checkEvery) || checkEvery < 0)
    return `--check-every is a whole number, not ${values['check-every']}.`;
  if (!isRulesName(values.options))
    return `--options is one of ${Object.keys(RULES).join(', ')}, not ${values.options}.`;
  if (!Number.isInteger(seed)) return `--seed is a whole number, not ${values.seed}.`;
  for (const name of values.profile ?? []) {
    if (!profileNames().includes(name))
      return `There is no profile ${name}; there are ${profileNames().join(', ')}.`;
  }
  for (const name of values.regime ?? []) {
    if (!isRegime(name)) return `There is no regime ${name}; there are ${REGIMES.join(', ')}.`;
  }
  if (values.all)
    return values.export === undefined ? null : '--export writes one rung and cannot be combined with --all.';
  const several = (values.profile?.length ?? 0) > 1 || (values.regime?.length ?? 0) > 1;
  return several ? 'Several profiles or regimes require --all.' : null;
}

function list(): void {
  for (const name of profileNames()) {
    const { about, thresholds } = loadProfile(name);
    const limits = thresholds.map(({ regime, p99Ms }) => `${regime} ≤ ${p99Ms} ms`);
    console.log(`${name.padEnd(20)} ${about}${limits.length === 0 ? '' : ` (${limits.join(', ')})`}`);
  }
}

async function runOne(): Promise<void> {
  const profile = loadProfile(values.profile?.[0] ?? 'uber-5k');
  const regime = values.regime?.[0] ?? 'full';
  if (!isRegime(regime)) throw new Error('unreachable');
  const problem = values.export === undefined ? null : exportProblem(profile);
  if (problem !== null) {
    console.error(problem);
    process.exitCode = 2;
    return;
  }
  const progress = values.json ? SILENT : progressOn(process.stderr, `${profile.name} ${regime}`);
  const { result, rung, cut } = measure(profile, regime, settings, progress);
  progress.done();
  const limitChecks = limitChecksOf(result, profile);
  if (values.json) console.log(JSON.stringify(result, null, 2));
  else printResult(result, limitChecks);
  if (cut) {
    // Where something changes between cycles, the last cycle is then another one.
    const digest = rung.everything || regime === 'steady' ? '' : '; the digest is not comparable';
    console.error(`Time was up after ${result.cycles} cycles (--seconds ${values.seconds})${digest}.`);
  }
  if (values.export !== undefined) {
    exportRung(rung, values.export);
    console.error(`Wrote ${values.export}; the digest is that of a decision on it.`);
  }
  if (values.enforce && limitChecks.some(({ isWithin }) => !isWithin)) process.exitCode = 1;
  const { checkMs, checks, differences } = rung.engine.metrics;
  if (checks > 0) {
    const meanMs = short(checkMs.sum / checks);
    console.error(`Checked ${checks} cycles, ${meanMs} ms each on average: ${differences} differences.`);
  }
  if (differences > 0) process.exitCode = 1;
  await rung.close();
}

async function runAll(): Promise<void> {
  const rows: LadderRow[] = [];
  const before = machineLine();
  for (const rung of rungsOf(values.profile, values.regime)) {
    const row = await measureInOwnProcess(rung, settings);
    const outcome = row.result === null ? row.problem : `p50 ${short(row.result.cycleMs.p50)} ms`;
    console.error(`${rung.profile} ${rung.regime}: ${outcome}`);
    rows.push(row);
  }
  if (values.json) {
    console.log(
      JSON.stringify(
        rows.map(({ profile, regime, result, problem }) => ({
          profile: profile.name,
          regime,
          problem,
          result,
        })),
        null,
        2,
      ),
    );
    return;
  }
  const command = `npm run --silent bench -- ladder --all --workers ${settings.workers} --cycles ${settings.cycles} --seconds ${settings.seconds} --seed ${settings.seed}`;
  const text = `${ladderTable(rows)}\n\n\`${command}\`\n\n${before} at the start, ${machineLine().replace(/.*, load/, 'load')} at the end.`;
  console.log(text);
  const broken = rows.some(
    ({ profile, result }) =>
      result === null || limitChecksOf(result, profile).some(({ isWithin }) => !isWithin),
  );
  if (values.enforce && broken) process.exitCode = 1;
}

/** Whether the cost of a Need grows with the number of Needs. */
async function runLinear(): Promise<void> {
  const results: RungResult[] = [];
  for (const rung of linearRungs(values.regime?.[0])) {
    const { problem, result } = await measureInOwnProcess(rung, settings);
    console.error(
      `${rung.profile} ${rung.regime}: ${result === null ? problem : `${result.perNeedUs} µs a Need`}`,
    );
    if (result === null) process.exitCode = 1;
    else results.push(result);
  }
  const linear = linearityOf(results);
  if (values.json) console.log(JSON.stringify(linear, null, 2));
  else console.log(`${linearityTable(linear)}\n\n${machineLine()}`);
  if (values.enforce && !linear.met) process.exitCode = 1;
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (values.list) list();
else if (problem !== null) {
  console.error(`${problem} See --help.`);
  process.exitCode = 2;
} else {
  if (values.all) await runAll();
  else if (values.linear) await runLinear();
  else await runOne();
}
