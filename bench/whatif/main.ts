// What a what-if question costs on the replica of a shard, and what it does to the live cycle:
//
//   npm run --silent bench -- whatif [--profile NAME]... [--seconds N] [--runs N] [--no-live] [--json]
//
// `questions`: on a fleet whose decision is known, as on a replica that is up to date. `explain`: what the API computes for one
// Need and for one machine. `live`: the same fleet under churn, one cycle a second, without questions and with one every
// ten seconds on the thread that a shard has for them.

import { type Decision, Engine, explain } from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { findNeed, needId } from '../../src/shard/planning/queries/need-names.ts';
import { WhatIf } from '../../src/whatif/index.ts';
import { Workload } from '../../testing/workload/workload.ts';
import { optionsGiven } from '../options.ts';
import { loadProfile } from '../profiles/load.ts';
import { quantilesOf, rounded } from '../quantiles.ts';
import type { ExplainFigures, QuestionFigures, WhatIfFigures } from './figures.ts';
import { measureLive } from './live.ts';
import { NOW_MS, OPTIONS, QUESTIONS } from './questions.ts';

const values = optionsGiven({
  profile: { type: 'string', multiple: true, default: ['uber-5k', 'uber-500k'] },
  seconds: { type: 'string', default: '60' },
  runs: { type: 'string', default: '3' },
  'no-live': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});

function questionsOn(fleet: Fleet, runs: number): QuestionFigures[] {
  const facts = { providerOf: () => '', hasFailedHost: () => true };
  const whatIf = new WhatIf(fleet, { facts, nameOf: needId });
  return Object.entries(QUESTIONS).map(([question, request]) => {
    const ms: number[] = [];
    const undone: number[] = [];
    for (let run = 0; run < runs; run++) {
      const began = performance.now();
      let answeredMs = began;
      const onAnswer = (): void => {
        answeredMs = performance.now();
      };
      whatIf.ask(NOW_MS, OPTIONS, request, { onAnswer });
      ms.push(answeredMs - began);
      undone.push(performance.now() - answeredMs);
    }
    const hasGoal = request.settle === 0;
    return { question, ms: quantilesOf(ms), undoneMs: rounded(Math.max(...undone)), hasGoal };
  });
}

/** Unmet Needs, then met ones; and machines of all parts of the fleet. Named as a reader of the API names them. */
function explainOn(fleet: Fleet, decision: Decision, runs: number): ExplainFigures[] {
  const { machines } = fleet;
  const verdicts = [...decision.unmet.slice(0, runs), ...decision.verdicts({ limit: runs })];
  const needs = verdicts.slice(0, runs).map(({ key }) => needId(key));
  const step = Math.ceil(machines.size / runs);
  const slots = Array.from({ length: machines.size }, (_, slot) => slot).filter(
    (slot) => slot % step === 0 && machines.state[slot] !== 0,
  );
  return [
    {
      what: 'a Need',
      ms: timed(needs, (id) => {
        const key = findNeed(fleet, id)!;
        decision.verdictOf(key);
        explain(fleet, NOW_MS, OPTIONS, key, (slot) => machines.idOf(slot));
      }),
    },
    { what: 'a machine', ms: timed(slots, (slot) => decision.usersOf(machines.idOf(slot))) },
  ];
}

function timed<T>(items: readonly T[], work: (item: T) => void): ExplainFigures['ms'] {
  return quantilesOf(
    items.map((item) => {
      const began = performance.now();
      work(item);
      return performance.now() - began;
    }),
  );
}

const runs = Number(values.runs);
const results: WhatIfFigures[] = [];
for (const profile of values.profile) {
  const fleet = new Workload(loadProfile(profile), 1, 'full').newFleet();
  const engine = new Engine(fleet, { checkEvery: 0 });
  const explained = explainOn(fleet, engine.decide(NOW_MS, OPTIONS), runs);
  const questions = questionsOn(fleet, runs);
  const live = values['no-live'] ? null : await measureLive(profile, Number(values.seconds));
  results.push({ profile, questions, explain: explained, live });
}
if (values.json) console.log(JSON.stringify(results, null, 2));
else for (const result of results) print(result);

function print({ profile, questions, explain: explained, live }: WhatIfFigures): void {
  for (const { question, ms, undoneMs } of questions)
    console.log(
      `${profile}  ${question}  p50 ${ms.p50.toFixed(0)}, max ${ms.max.toFixed(0)} ms; undone in ${undoneMs.toFixed(0)} ms`,
    );
  for (const { what, ms } of explained)
    console.log(`${profile}  explain ${what}  p50 ${ms.p50.toFixed(1)}, max ${ms.max.toFixed(1)} ms`);
  if (live !== null)
    console.log(
      `${profile}  live p99 ${live.quiet.p99.toFixed(1)} ms, with questions ${live.asked.p99.toFixed(1)} ms; answers p50 ${live.answersMs.p50.toFixed(0)}, max ${live.answersMs.max.toFixed(0)} ms; packing p50 ${live.packingMs.p50.toFixed(1)} ms`,
    );
}
