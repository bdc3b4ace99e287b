// `npm run bench -- engine`: whole decisions on the inputs of cases.ts, one after the other on one thread. Each case
// runs in a process of its own, because type feedback of one case would make the next one slower or faster.

import { spawnSync } from 'node:child_process';
import { type Decision, Engine } from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import {
  type ActionKind,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  UNSHARED_OPTIONS,
} from '../../src/model/index.ts';
import { DEFAULT_RELEASE_HOLD_SECONDS } from '../../src/scenario/scenario.ts';
import type { ExpectedActions } from '../../testing/workload/workload-planted.ts';
import { floorOf } from '../floor.ts';
import { optionsGiven } from '../options.ts';
import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import { CASES, type Case } from './cases.ts';
import { NOW_MS } from './fixture.ts';

const HELP = `bench engine: whole decisions on rebuilt inputs, on one thread

  --case NAME      only this case; may be given more than once (default: all)
  --cycles N       timed cycles per case (default 30)
  --seconds N      stop a case after N seconds, but not before 3 cycles (default 20)
  --seed N         seed of generated fleets (default 1)
  --json           one JSON document on standard output
  --list           names of the cases, what they rebuild and their counts

examples:
  npm run --silent bench -- engine
  npm run --silent bench -- engine --case uber-5k-full --cycles 100 --json
`;

const OPTIONS: DecisionOptions = {
  readyClusters: null,
  cannotBind: new Set(),
  retiring: new Set(),
  releaseHoldSeconds: DEFAULT_RELEASE_HOLD_SECONDS,
  weights: DEFAULT_SCORE_WEIGHTS,
  ...UNSHARED_OPTIONS,
};
const WARM_UP_CYCLES = 5;
const MIN_CYCLES = 3;

interface Settings {
  readonly cycles: number;
  readonly seconds: number;
  readonly seed: number;
}

interface CaseResult {
  readonly name: string;
  readonly about: string;
  readonly machines: number;
  readonly needs: number;
  readonly clusters: number;
  readonly classes: number;
  readonly rowsAfterFold: number;
  readonly cycles: number;
  readonly cycleMs: Quantiles;
  /** Whole cycle ÷ Needs, at the median. */
  readonly perNeedUs: number;
  readonly floorMs: Quantiles;
  readonly ratioToFloor: number;
  readonly bytesPerMachine: number;
  readonly rssMiB: number;
  readonly actions: Readonly<Record<ActionKind, number>>;
  readonly unmet: number;
}

function runCase(benchCase: Case, settings: Settings): CaseResult {
  const { fleet, expected } = benchCase.build(settings.seed);
  checkCounts(benchCase, fleet);
  const options = { ...OPTIONS, readyClusters: benchCase.readyClusters };
  const engine = new Engine(fleet);
  // A whole cycle: the fleet does not change between cycles, so caches are disabled; actions are converted to objects.
  const cycle = (): Decision => {
    const decision = engine.decide(NOW_MS, options, { everything: true });
    decision.actions();
    return decision;
  };
  const first = cycle();
  const { rows, counts: actions } = first;
  const unmet = first.unmet.length;
  if (expected !== null) checkActions(benchCase.name, expected, actions, unmet);

  const started = performance.now();
  const outOfTime = (): boolean => performance.now() - started > settings.seconds * 1000;
  for (let i = 0; i < WARM_UP_CYCLES && !outOfTime(); i++) cycle();
  const durations: number[] = [];
  while (durations.length < settings.cycles && (durations.length < MIN_CYCLES || !outOfTime())) {
    const start = performance.now();
    cycle();
    durations.push(performance.now() - start);
  }
  const cycleMs = quantilesOf(durations);
  const floorMs = floorOf(fleet, 30);
  return {
    name: benchCase.name,
    about: benchCase.about,
    ...benchCase.counts,
    classes: fleet.classes.count,
    rowsAfterFold: rows,
    cycles: durations.length,
    cycleMs,
    perNeedUs: rounded((cycleMs.p50 * 1000) / Math.max(1, benchCase.counts.needs)),
    floorMs,
    ratioToFloor: rounded(cycleMs.p50 / floorMs.p50),
    bytesPerMachine: rounded(fleet.machines.columnBytes / fleet.machines.count),
    rssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
    actions,
    unmet,
  };
}

function checkCounts({ name, counts }: Case, fleet: Fleet): void {
  assertEqual(name, 'machines', fleet.machines.count, counts.machines);
  assertEqual(name, 'needs', fleet.demand.count, counts.needs);
}

function checkActions(
  name: string,
  expected: ExpectedActions,
  actions: Readonly<Record<ActionKind, number>>,
  unmet: number,
): void {
  assertEqual(name, 'bootstraps', actions.Bootstrap, expected.bootstraps);
  assertEqual(name, 'provisions', actions.Provision, expected.provisions);
  assertEqual(name, 'preempts', actions.Preempt, expected.preempts);
  assertEqual(name, 'reclaims', actions.Reclaim, expected.reclaims);
  assertEqual(name, 'deletes', actions.Delete, expected.deletes);
  assertEqual(name, 'unmet Needs', unmet, expected.unmet);
}

function assertEqual(name: string, what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${name}: expected ${expected} ${what}, found ${actual}`);
}

/** The case in a process of its own. */
function runInOwnProcess(name: string, settings: Settings): CaseResult {
  const { cycles, seconds, seed } = settings;
  const args = ['--case', name, '--cycles', `${cycles}`, '--seconds', `${seconds}`, '--seed', `${seed}`];
  const child = spawnSync(process.execPath, [import.meta.filename, ...args, '--inline', '--json'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`case ${name} failed`);
  return (JSON.parse(child.stdout) as { readonly cases: readonly CaseResult[] }).cases[0]!;
}

function printTable(results: readonly CaseResult[]): void {
  const rows = results.map((result) => [
    result.name,
    {
      machines: result.machines,
      needs: result.needs,
      rows: result.rowsAfterFold,
      classes: result.classes,
      cycles: result.cycles,
      'p50 ms': result.cycleMs.p50,
      'p99 ms': result.cycleMs.p99,
      'max ms': result.cycleMs.max,
      'µs/need': result.perNeedUs,
      'floor ms': result.floorMs.p50,
      '× floor': Math.round(result.ratioToFloor),
      'B/machine': Math.round(result.bytesPerMachine),
      actions: Object.values(result.actions).reduce((sum, count) => sum + count, 0),
      unmet: result.unmet,
    },
  ]);
  console.table(Object.fromEntries(rows));
}

if (import.meta.main) {
  const values = optionsGiven({
    case: { type: 'string', multiple: true },
    cycles: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    inline: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  const settings = {
    cycles: Number(values.cycles),
    seconds: Number(values.seconds),
    seed: Number(values.seed),
  };
  const wanted = values.case ?? CASES.map(({ name }) => name);
  const unknown = wanted.filter((name) => !CASES.some((benchCase) => benchCase.name === name));
  if (values.help) console.log(HELP);
  else if (values.list) {
    for (const { name, about, counts } of CASES) {
      console.log(`${name.padEnd(24)} ${counts.machines} machines, ${counts.needs} Needs: ${about}`);
    }
  } else if (unknown.length > 0) {
    console.error(`No case named ${unknown.join(', ')}; --list names them.`);
    process.exitCode = 2;
  } else {
    const results = CASES.filter(({ name }) => wanted.includes(name)).map((benchCase) => {
      if (!values.json) console.error(`${benchCase.name} …`);
      return values.inline ? runCase(benchCase, settings) : runInOwnProcess(benchCase.name, settings);
    });
    if (values.json) {
      console.log(
        JSON.stringify({ benchmark: 'engine', node: process.version, ...settings, cases: results }, null, 2),
      );
    } else printTable(results);
  }
}
