// The live cycle with and without questions: a fleet under churn decides once a second on this thread, and a replica of its
// beginning answers questions on the thread that a shard has for them. The replica is not kept up to date here.

import { WorkerChannel } from '../../src/runtime/worker-channel.ts';
import type { MachineLedger } from '../../src/shard/inventory/machine-ledger.ts';
import { ReplicaFeed } from '../../src/shard/planning/replica-feed.ts';
import { newPacing, pace } from '../../src/shard/process/pacing.ts';
import type { FromWhatIf, ToWhatIf, WhatIfThreadStart } from '../../src/shard/process/what-if-protocol.ts';
import { Rung } from '../ladder/rung.ts';
import { loadProfile } from '../profiles/load.ts';
import { type Quantiles, quantilesOf } from '../quantiles.ts';
import { NOW_MS, QUESTIONS } from './questions.ts';

export interface LiveResult {
  readonly quiet: Quantiles;
  readonly asked: Quantiles;
  readonly answersMs: readonly number[];
}

type Channel = WorkerChannel<WhatIfThreadStart, ToWhatIf, FromWhatIf>;

const CYCLE_MS = 1000;
const QUESTION_EVERY = 10;

export async function measureLive(profile: string, seconds: number): Promise<LiveResult> {
  const rung = new Rung(loadProfile(profile), 'churn', 1, { rules: 'shared', engine: { workers: 2 } });
  const pacing = newPacing();
  const channel: Channel = new WorkerChannel({
    name: 'what-if',
    module: new URL('../../src/shard/process/what-if-worker.ts', import.meta.url),
    start: { pacing },
    onItem: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  rung.first();
  await copy(rung, channel);
  const quiet = await cycles(rung, pacing, seconds, async () => {});
  const answersMs: number[] = [];
  const questions = Object.values(QUESTIONS);
  const asked = await cycles(rung, pacing, seconds, async (second) => {
    if (second % QUESTION_EVERY !== 0) return;
    const request = questions[(second / QUESTION_EVERY) % questions.length]!;
    const began = performance.now();
    await channel.request({ kind: 'ask', request });
    answersMs.push(performance.now() - began);
  });
  await channel.close();
  await rung.engine.close();
  return { quiet, asked, answersMs };
}

/** The feed needs the fleet, and asks for providers and hosts that this one does not have. */
async function copy({ fleet, options }: Rung, channel: Channel): Promise<void> {
  const ledger = { fleet, ownerOf: () => undefined, particularsOf: () => ({ host: null }) };
  const feed = new ReplicaFeed(ledger as unknown as MachineLedger, NOW_MS);
  for (;;) {
    const part = feed.next(NOW_MS, { options, atMs: NOW_MS });
    channel.post({ kind: 'part', part });
    if (part.isWhole) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await channel.request({ kind: 'prepare' });
}

async function cycles(
  rung: Rung,
  pacing: Int32Array,
  seconds: number,
  each: (second: number) => Promise<void>,
): Promise<Quantiles> {
  const durations: number[] = [];
  const asking: Promise<void>[] = [];
  for (let second = 0; second < seconds; second++) {
    const began = performance.now();
    pace(pacing, true);
    durations.push(rung.next().ms);
    pace(pacing, false);
    // A question comes at any time between two cycles, not always right after one.
    const pauseMs = Math.max(0, CYCLE_MS - (performance.now() - began));
    const part = (second * 0.37) % 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs * part));
    asking.push(each(second));
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (1 - part)));
  }
  await Promise.all(asking);
  return quantilesOf(durations);
}
