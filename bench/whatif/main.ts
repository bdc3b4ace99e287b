// What a what-if question and an explanation cost, and what they do to the live cycle:
//
//   npm run --silent bench -- whatif [--profile NAME]... [--seconds N] [--runs N] [--no-live] [--json]
//
// `questions`: on a fleet whose decision is known, as on a replica that is up to date. `explain`: what a caller of the API waits
// for, about Needs and about machines. `live`: the same fleet under churn, `--seconds` without questions, with a what-if
// question every ten seconds and with an explanation every ten seconds. `bars`: what the figures may not exceed, and whether they do.

import { Engine } from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { findingsOn } from '../../src/shard/planning/queries/need-findings.ts';
import { findNeed, needId } from '../../src/shard/planning/queries/need-names.ts';
import { WhatIf } from '../../src/whatif/index.ts';
import { Workload } from '../../testing/workload/workload.ts';
import { optionsGiven } from '../options.ts';
import { loadProfile } from '../profiles/load.ts';
import { quantilesOf, rounded } from '../quantiles.ts';
import { Explainer, sent } from './explainer.ts';
import { barsOf, type ExplainFigures, type QuestionFigures, type WhatIfFigures } from './figures.ts';
import { measuredLive } from './live-thread.ts';
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

/** Needs and machines that are explained, each. */
const EXPLAINED = 40;

async function explainOn(fleet: Fleet, explainer: Explainer): Promise<ExplainFigures[]> {
  // Of a large fleet a shard finds this on its replica, which is as up to date as this fleet.
  const findings = async (id: string) =>
    structuredClone(findingsOn(fleet, { atMs: NOW_MS, options: OPTIONS }, findNeed(fleet, id)!));
  return [
    await timed('a Need', explainer.needs(EXPLAINED), (id) => explainer.need(id, findings, (work) => work())),
    await timed('a machine', explainer.machines(EXPLAINED), async (id) => explainer.machine(id)),
  ];
}

async function timed(
  what: ExplainFigures['what'],
  ids: readonly string[],
  explain: (id: string) => Promise<unknown>,
): Promise<ExplainFigures> {
  const ms: number[] = [];
  for (const id of ids) {
    const began = performance.now();
    sent(await explain(id));
    ms.push(performance.now() - began);
  }
  return { what, count: ids.length, ms: quantilesOf(ms) };
}

/** In a function of its own, so that its fleet is not in the heap of the live part. */
async function answersOn(profile: string): Promise<Pick<WhatIfFigures, 'questions' | 'explain'>> {
  const fleet = new Workload(loadProfile(profile), 1, 'full').newFleet();
  const engine = new Engine(fleet, { checkEvery: 0 });
  const explainer = new Explainer(fleet);
  explainer.decided(engine.decide(NOW_MS, OPTIONS), OPTIONS, NOW_MS);
  const explain = await explainOn(fleet, explainer);
  return { questions: questionsOn(fleet, Number(values.runs)), explain };
}

const results: WhatIfFigures[] = [];
for (const profile of values.profile) {
  const answers = await answersOn(profile);
  const live = values['no-live'] ? null : await measuredLive(profile, Number(values.seconds));
  const measured = { profile, ...answers, live };
  results.push({ ...measured, bars: barsOf(measured) });
}
if (values.json) console.log(JSON.stringify(results, null, 2));
else for (const result of results) print(result);

function print({ profile, questions, explain, live, bars }: WhatIfFigures): void {
  for (const { question, ms, undoneMs } of questions)
    console.log(
      `${profile}  ${question}  p50 ${ms.p50.toFixed(0)}, max ${ms.max.toFixed(0)} ms; undone in ${undoneMs.toFixed(0)} ms`,
    );
  for (const { what, count, ms } of explain)
    console.log(
      `${profile}  explain ${what} (${count})  p50 ${ms.p50.toFixed(1)}, max ${ms.max.toFixed(1)} ms`,
    );
  for (const { kind, cycles, cycleMs, questions: asked, busyMs, answerMs } of live?.windows ?? []) {
    const question =
      busyMs === null || answerMs === null
        ? ''
        : `; ${asked} questions, each keeps the thread busy for up to ${busyMs.max.toFixed(1)} ms, answers p50 ${answerMs.p50.toFixed(0)}, max ${answerMs.max.toFixed(0)} ms`;
    console.log(
      `${profile}  live, ${kind} asked, ${cycles} cycles  p50 ${cycleMs.p50.toFixed(2)}, p99 ${cycleMs.p99.toFixed(2)}, max ${cycleMs.max.toFixed(2)} ms${question}`,
    );
  }
  for (const { what, unit, most, measured, isMet } of bars)
    console.log(
      `${profile}  ${isMet ? 'met' : 'NOT MET'}  ${what}: ${measured.toFixed(1)} of ${most} ${unit}`,
    );
}
