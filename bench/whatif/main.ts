// What a what-if question costs on the replica of a shard, and what it does to the live cycle:
//
//   npm run --silent bench -- whatif [--profile NAME]... [--seconds N] [--no-live] [--json]
//
// `latency`: questions on a fleet whose decision is known, as on a replica that is up to date. `live`: the same fleet under
// churn, one cycle a second, without questions and with one every ten seconds on the thread that a shard has for them.

import { parseArgs } from 'node:util';
import { Engine } from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import { needId } from '../../src/shard/planning/queries/need-names.ts';
import { WhatIf } from '../../src/whatif/index.ts';
import { Workload } from '../../testing/workload/workload.ts';
import { loadProfile } from '../profiles/load.ts';
import { type LiveResult, measureLive } from './live.ts';
import { NOW_MS, OPTIONS, QUESTIONS } from './questions.ts';

interface Latency {
  readonly question: string;
  readonly ms: readonly number[];
  readonly undoneMs: number;
}

const { values } = parseArgs({
  options: {
    profile: { type: 'string', multiple: true, default: ['uber-5k', 'uber-500k'] },
    seconds: { type: 'string', default: '60' },
    runs: { type: 'string', default: '3' },
    'no-live': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

function latencyOf(fleet: Fleet, runs: number): Latency[] {
  const facts = { providerOf: () => '', hasFailedHost: () => true };
  const whatIf = new WhatIf(fleet, { facts, nameOf: needId });
  return Object.entries(QUESTIONS).map(([question, request]) => {
    const ms: number[] = [];
    let undoneMs = 0;
    for (let run = 0; run < runs; run++) {
      const began = performance.now();
      let answeredMs = began;
      whatIf.ask(NOW_MS, OPTIONS, request, { onAnswer: () => (answeredMs = performance.now()) });
      ms.push(answeredMs - began);
      undoneMs = performance.now() - answeredMs;
    }
    return { question, ms, undoneMs };
  });
}

const results: { profile: string; latency: Latency[]; live: LiveResult | null }[] = [];
for (const profile of values.profile) {
  const workload = new Workload(loadProfile(profile), 1, 'full');
  const fleet = workload.newFleet();
  new Engine(fleet, { checkEvery: 0 }).decide(NOW_MS, OPTIONS);
  const latency = latencyOf(fleet, Number(values.runs));
  if (!values.json)
    for (const { question, ms, undoneMs } of latency)
      console.log(
        `${profile}  ${question}  ${ms.map((one) => one.toFixed(0)).join(' ')} ms, undone in ${undoneMs.toFixed(0)} ms`,
      );
  const live = values['no-live'] ? null : await measureLive(profile, Number(values.seconds));
  if (!values.json && live !== null)
    console.log(
      `${profile}  live p99 ${live.quiet.p99.toFixed(1)} ms, with questions ${live.asked.p99.toFixed(1)} ms; answers ${live.answersMs.map((one) => one.toFixed(0)).join(' ')} ms`,
    );
  results.push({ profile, latency, live });
}
if (values.json) console.log(JSON.stringify(results, null, 2));
