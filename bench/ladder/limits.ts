// `npm run bench -- limits`: cycles under the default rules of a shard, in which rows share machines, against the limits that
// the README states. Each rung runs several times, each time in a process of its own; the median of the p99s counts, since a
// p99 of 30 cycles is the slowest of them and other processes on the machine slow single cycles.

import { optionsGiven } from '../options.ts';
import { loadProfile } from '../profiles/load.ts';
import { quantilesOf } from '../quantiles.ts';
import type { RungResult, Settings } from './measure.ts';
import { progressOn, SILENT } from './progress.ts';
import { machineLine } from './report.ts';
import { measureInOwnProcess, type RungName } from './rung-process.ts';

const RUNGS: readonly RungName[] = [
  { profile: 'uber-5k', regime: 'full' },
  { profile: 'uber-50k', regime: 'full' },
  { profile: 'uber-500k', regime: 'full' },
  { profile: 'uber-500k', regime: 'churn' },
  { profile: 'uber-500k', regime: 'cold' },
  { profile: 'scaleway-500k', regime: 'full' },
  { profile: 'uber-50k-racks', regime: 'cold' },
  { profile: 'uber-500k-racks', regime: 'cold' },
  { profile: 'uber-500k-jitter', regime: 'cold' },
];

const HELP = `bench limits: cycles with shared machines against the limits of the README

  --runs N         runs of each rung, each in its own process (default 3; 1 where the limit is a second or more)
  --cycles N       timed cycles of a run (default 30)
  --seconds N      start no cycle after N seconds of cycles, but time at least 3 (default 40)
  --profile NAME   only rungs of this profile; may be given more than once
  --json           one JSON document on standard output
  --enforce        exit with 1 if a limit is exceeded

examples:
  npm run --silent bench -- limits
  npm run --silent bench -- limits --profile uber-500k --runs 1
`;

/** A rung, as measured. */
export interface LimitFigures extends RungName {
  readonly needs: number;
  readonly limitMs: number;
  /** The median of the p50s and of the p99s of all runs; null if a run did not end. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** The p99 of each run. */
  readonly runsMs: readonly number[];
  readonly floorMs: number | null;
  /** The median of the first cycles, for which there is no limit: a shard has them once. */
  readonly firstMs: number | null;
  readonly met: boolean;
}

const values = optionsGiven({
  runs: { type: 'string', default: '3' },
  cycles: { type: 'string', default: '30' },
  seconds: { type: 'string', default: '40' },
  profile: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  enforce: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

/** Cycles before the timed ones last about this long: V8 compiles for some seconds, on the cores that are measured. */
const WARM_UP_MS = 6000;
const MOST_WARM_UP = 300;
const LEAST_WARM_UP = 2;
/** Rungs with limits from here on run once and have more time: generating the largest fleets takes a minute by itself. */
const LONG_MS = 1000;
const LONG_SECONDS = 120;
const LONG_CYCLES = 5;

function settingsFor(limitMs: number): Settings {
  const warmUp = Math.min(MOST_WARM_UP, Math.max(LEAST_WARM_UP, Math.ceil(WARM_UP_MS / limitMs)));
  return {
    ...{
      cycles: limitMs < LONG_MS ? Number(values.cycles) : LONG_CYCLES,
      warmUp,
      seconds: limitMs < LONG_MS ? Number(values.seconds) : LONG_SECONDS,
    },
    ...{ workers: 2, lanes: 'auto', seed: 1, checkEvery: 0, rules: 'shared' },
  };
}

function limitOf({ profile, regime }: RungName): number {
  const limit = loadProfile(profile).thresholds.find((each) => each.regime === regime);
  if (limit === undefined) throw new Error(`The profile ${profile} has no limit in the regime ${regime}.`);
  return limit.p99Ms;
}

async function measure(rung: RungName): Promise<LimitFigures> {
  const limitMs = limitOf(rung);
  const runs = limitMs < LONG_MS ? Number(values.runs) : 1;
  const progress = values.json ? SILENT : progressOn(process.stderr, `${rung.profile} ${rung.regime}`);
  const results: RungResult[] = [];
  for (let run = 0; run < runs; run++) {
    progress.update(`run ${run + 1} of ${runs}`);
    const { problem, result } = await measureInOwnProcess(rung, settingsFor(limitMs));
    if (result !== null) results.push(result);
    else console.error(`${rung.profile} ${rung.regime}: ${problem}`);
  }
  progress.done();
  const hasAll = results.length === runs;
  const medianOf = (figure: (result: RungResult) => number): number | null =>
    hasAll ? quantilesOf(results.map(figure)).p50 : null;
  const p99Ms = medianOf(({ cycleMs }) => cycleMs.p99);
  return {
    ...rung,
    needs: loadProfile(rung.profile).needs,
    limitMs,
    p50Ms: medianOf(({ cycleMs }) => cycleMs.p50),
    p99Ms,
    runsMs: results.map(({ cycleMs }) => cycleMs.p99),
    floorMs: medianOf(({ floorMs }) => floorMs),
    firstMs: medianOf(({ firstMs }) => firstMs),
    met: p99Ms !== null && p99Ms <= limitMs,
  };
}

if (values.help) console.log(HELP);
else {
  const figures: LimitFigures[] = [];
  for (const rung of RUNGS)
    if (values.profile?.includes(rung.profile) ?? true) figures.push(await measure(rung));
  if (values.json) console.log(JSON.stringify(figures, null, 2));
  else {
    console.table(
      Object.fromEntries(
        figures.map(({ profile, regime, limitMs, p50Ms, p99Ms, met }) => [
          `${profile} ${regime}`,
          { 'p50 ms': p50Ms, 'p99 ms': p99Ms, 'limit ms': limitMs, met },
        ]),
      ),
    );
    console.log(machineLine());
  }
  if (values.enforce && figures.some(({ met }) => !met)) process.exitCode = 1;
}
