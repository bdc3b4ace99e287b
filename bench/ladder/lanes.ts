// `npm run bench -- lanes`: what several lanes cost or gain against one. An engine with one lane and one with several decide on the
// same fleet in turns, so that a noisy neighbour slows all of them alike; the ratio of a round is what counts.

import { conflictFraction, type Engine, EngineMetrics } from '../../src/engine/index.ts';
import { isRegime, REGIMES, type Regime } from '../../testing/workload/regimes.ts';
import { optionsGiven } from '../options.ts';
import { loadProfile, profileNames } from '../profiles/load.ts';
import { quantilesOf, rounded } from '../quantiles.ts';
import { digestOf } from './digest.ts';
import { type Progress, progressOn, SILENT } from './progress.ts';
import { machineLine } from './report.ts';
import { isRulesName, type RulesName, Rung } from './rung.ts';

/** Largest cost of a forced number of lanes, and smallest gain of automatic ones on a cold fleet with regions. */
const MAX_COST = 2;
const MIN_GAIN = 1.4;
/** Milliseconds that rounds before the timed ones last at least. */
const WARM_UP_MS = 10_000;

const HELP = `bench lanes: cycles in one lane and in several, which take turns on one fleet

  --profile NAME   which fleet (default uber-500k-regions); may be given more than once
  --regime NAME    as in bench ladder (default cold); may be given more than once
  --lanes A,B      numbers of lanes to compare with one (default auto,2,4,8)
  --workers N      threads (default 2)
  --rounds N       rounds of one cycle each (default 11)
  --warm-up N      rounds before them, at least (default 15); they last for 10 seconds at least, in which V8 compiles
  --options NAME   rules of the decisions, as in bench ladder (default shared)
  --seed N         seed of the fleet and its changes (default 1)
  --json           one JSON document on standard output
  --enforce        exit with 1 if a forced number of lanes costs more than ${MAX_COST} ×, or automatic ones gain less than
                   ${MIN_GAIN} × on a cold fleet with regions

examples:
  npm run --silent bench -- lanes
  npm run --silent bench -- lanes --profile uber-50k --regime cold --lanes 2,8
`;

/** One number of lanes on one rung. */
export interface LaneFigures {
  readonly profile: string;
  readonly regime: string;
  /** As given. */
  readonly lanes: string;
  /** In the last round: lanes that had rows, and threads that they ran on. */
  readonly opened: number;
  readonly threads: number;
  /** Whole decisions: medians of one lane and of these. */
  readonly oneMs: number;
  readonly severalMs: number;
  /** One ÷ several, the median over the rounds; below 1 where several lanes are slower. */
  readonly gain: number;
  /** Rows that waited for another lane, per row that claimed something. */
  readonly conflicts: { readonly incremental: number; readonly allOrNothing: number };
}

const values = optionsGiven({
  profile: { type: 'string', multiple: true },
  regime: { type: 'string', multiple: true },
  lanes: { type: 'string', default: 'auto,2,4,8' },
  workers: { type: 'string', default: '2' },
  rounds: { type: 'string', default: '11' },
  'warm-up': { type: 'string', default: '15' },
  options: { type: 'string', default: 'shared' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  enforce: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});
const profiles = values.profile ?? ['uber-500k-regions'];
const regimes = values.regime ?? ['cold'];
const laneNames = values.lanes.split(',');

/** The problem of the command line; null if there is none. */
function usageProblem(): string | null {
  const profile = profiles.find((name) => !profileNames().includes(name));
  if (profile !== undefined) return `There is no profile ${profile}.`;
  const regime = regimes.find((name) => !isRegime(name));
  if (regime !== undefined) return `There is no regime ${regime}; there are ${REGIMES.join(', ')}.`;
  const lanes = laneNames.find((name) => name !== 'auto' && !(Number(name) >= 2));
  if (lanes !== undefined) return `--lanes is a list of auto and whole numbers from 2 on, not ${lanes}.`;
  if (!isRulesName(values.options)) return `There are no options ${values.options}.`;
  if (!(Number(values.rounds) >= 1)) return '--rounds is a whole number from 1 on.';
  return null;
}

/** An engine in the comparison, with its times and counts in the timed rounds. */
interface Contender {
  readonly engine: Engine;
  readonly ms: number[];
  readonly metrics: EngineMetrics;
}

async function compare(profile: string, regime: Regime): Promise<readonly LaneFigures[]> {
  const workers = Number(values.workers);
  const progress = values.json ? SILENT : progressOn(process.stderr, `${profile} ${regime}`);
  progress.update('generating the fleet');
  const rules = values.options as RulesName;
  const rung = new Rung(loadProfile(profile), regime, Number(values.seed), {
    engine: { workers, lanes: 1 },
    rules,
  });
  rung.first();
  const figures: LaneFigures[] = [];
  for (const name of laneNames) {
    const engine = rung.newEngine({ workers, lanes: name === 'auto' ? 'auto' : Number(name) });
    figures.push(await compareWith(engine, rung, { profile, regime, lanes: name }, progress));
    await engine.close();
  }
  progress.done();
  await rung.close();
  return figures;
}

/** Two engines at a time: with more of them in a process, the data of one would evict that of the others from the caches. */
async function compareWith(
  other: Engine,
  rung: Rung,
  subject: Pick<LaneFigures, 'profile' | 'regime' | 'lanes'>,
  progress: Progress,
): Promise<LaneFigures> {
  const [workers, rounds, warmUp] = [values.workers, values.rounds, values['warm-up']].map(Number);
  const contenderOf = (engine: Engine): Contender => ({ engine, ms: [], metrics: new EngineMetrics() });
  const [one, several] = [contenderOf(rung.engine), contenderOf(other)];
  const all = [one, several];
  for (const { engine } of all)
    while (engine.threads < workers!) await new Promise((resolve) => setTimeout(resolve, 5));
  const beganMs = performance.now();
  const isWarm = (round: number): boolean => round >= warmUp! && performance.now() - beganMs >= WARM_UP_MS;
  for (let round = 0; one.ms.length < rounds!; round++) {
    const isTimed = one.ms.length > 0 || isWarm(round);
    const what = isTimed ? `round ${one.ms.length + 1} of ${rounds}` : 'warming up';
    progress.update(`lanes ${subject.lanes}, ${what}`);
    rung.advance();
    const digests = new Set<string>();
    // The first engine of a round finds colder caches, so each is first in turn.
    for (let i = 0; i < all.length; i++) {
      const { engine, metrics, ms } = all[(round + i) % all.length]!;
      const start = performance.now();
      const decision = rung.decideOn(engine);
      const took = performance.now() - start;
      if (round === 0) digests.add(digestOf(decision.eachAction()));
      if (!isTimed) continue;
      ms.push(took);
      metrics.add(engine.lastCycle);
    }
    if (digests.size > 1) throw new Error('The plan depends on the number of lanes.');
  }
  return figuresOf(subject, one, several);
}

function figuresOf(
  subject: Pick<LaneFigures, 'profile' | 'regime' | 'lanes'>,
  one: Contender,
  { engine, metrics, ms }: Contender,
): LaneFigures {
  const { incremental, allOrNothing } = metrics.modes;
  return {
    ...subject,
    ...{ opened: engine.lastCycle.lanes, threads: engine.lastCycle.laneThreads },
    ...{ oneMs: quantilesOf(one.ms).p50, severalMs: quantilesOf(ms).p50 },
    gain: quantilesOf(ms.map((took, round) => one.ms[round]! / took)).p50,
    conflicts: {
      incremental: rounded(conflictFraction(incremental)),
      allOrNothing: rounded(conflictFraction(allOrNothing)),
    },
  };
}

function isMet({ gain, lanes, profile, regime }: LaneFigures): boolean {
  if (lanes !== 'auto') return gain >= 1 / MAX_COST;
  return !profile.endsWith('-regions') || regime !== 'cold' || gain >= MIN_GAIN;
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (problem !== null) {
  console.error(`${problem} See --help.`);
  process.exitCode = 2;
} else {
  const figures: LaneFigures[] = [];
  for (const profile of profiles)
    for (const regime of regimes.filter(isRegime)) figures.push(...(await compare(profile, regime)));
  if (values.json) console.log(JSON.stringify(figures, null, 2));
  else {
    console.table(
      Object.fromEntries(
        figures.map(({ profile, regime, lanes, conflicts, gain, opened, oneMs, severalMs }) => [
          `${profile} ${regime} ${lanes}`,
          { opened, 'one ms': oneMs, 'these ms': severalMs, gain, conflicts: conflicts.incremental },
        ]),
      ),
    );
    console.log(machineLine());
  }
  if (values.enforce && !figures.every(isMet)) process.exitCode = 1;
}
