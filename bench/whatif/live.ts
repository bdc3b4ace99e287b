// The live cycle with and without questions: a fleet under churn decides once a second on this thread, and a replica of it
// answers questions on the thread that a shard has for them. As in a shard, this thread takes note of every commit while
// there is a replica, and packs what has changed before each question.

import type { AppliedChanges } from '../../src/fleet/index.ts';
import { WorkerChannel } from '../../src/runtime/worker-channel.ts';
import type { MachineLedger } from '../../src/shard/inventory/machine-ledger.ts';
import { ReplicaFeed } from '../../src/shard/planning/replica-feed.ts';
import { newPacing, pace } from '../../src/shard/process/pacing.ts';
import type { FromWhatIf, ToWhatIf, WhatIfThreadStart } from '../../src/shard/process/what-if-protocol.ts';
import { Rung } from '../ladder/rung.ts';
import { loadProfile } from '../profiles/load.ts';
import { type Quantiles, quantilesOf } from '../quantiles.ts';
import { pause } from '../waiting.ts';
import type { LiveFigures } from './figures.ts';
import { QUESTIONS } from './questions.ts';

const CYCLE_MS = 1000;
const QUESTION_EVERY = 10;

export async function measureLive(profile: string, seconds: number): Promise<LiveFigures> {
  const live = new LiveFleet(profile);
  try {
    const quiet = await live.cycles(seconds, () => {});
    await live.copy();
    const questions = Object.values(QUESTIONS);
    const answers: Promise<number>[] = [];
    const asked = await live.cycles(seconds, (second) => {
      if (second % QUESTION_EVERY !== 0 || live.isAsked) return;
      answers.push(live.ask(questions[answers.length % questions.length]!));
    });
    const answersMs = quantilesOf(await Promise.all(answers));
    return { quiet, asked, packingMs: quantilesOf(live.packingMs), answersMs, seconds };
  } finally {
    await live.close();
  }
}

class LiveFleet {
  readonly packingMs: number[] = [];
  isAsked = false;
  readonly #rung: Rung;
  readonly #pacing = newPacing();
  readonly #channel: WorkerChannel<WhatIfThreadStart, ToWhatIf, FromWhatIf>;
  #feed: ReplicaFeed | null = null;
  /** Time that this thread has spent on parts since the last cycle, which delays the next one. */
  #packedMs = 0;

  constructor(profile: string) {
    const onCommit = (applied: AppliedChanges): void => this.#feed?.committed(applied);
    const options = { rules: 'shared', engine: { workers: 2 }, onCommit } as const;
    this.#rung = new Rung(loadProfile(profile), 'churn', 1, options);
    this.#rung.first();
    this.#channel = new WorkerChannel({
      name: 'what-if',
      module: new URL('../../src/shard/process/what-if-worker.ts', import.meta.url),
      start: { pacing: this.#pacing },
      onItem: () => {},
      onFailure: (error) => {
        throw error;
      },
    });
  }

  /** One cycle a second; `each` is called at any time between two of them, not always right after one. */
  async cycles(seconds: number, each: (second: number) => void): Promise<Quantiles> {
    const durations: number[] = [];
    for (let second = 0; second < seconds; second++) {
      const began = performance.now();
      pace(this.#pacing, true);
      durations.push(this.#rung.next().ms + this.#packedMs);
      this.#packedMs = 0;
      pace(this.#pacing, false);
      const part = (second * 0.37) % 1;
      const restMs = (): number => Math.max(0, CYCLE_MS - (performance.now() - began));
      await pause(restMs() * part);
      each(second);
      await pause(restMs());
    }
    return quantilesOf(durations);
  }

  /** The first copy, in parts. The feed needs the fleet, and asks for providers and hosts that this one does not have. */
  async copy(): Promise<void> {
    const { fleet } = this.#rung;
    const ledger = { fleet, ownerOf: () => undefined, particularsOf: () => ({ host: null }) };
    this.#feed = new ReplicaFeed(ledger as unknown as MachineLedger, this.#rung.nowMs);
    while (!this.#part()) await new Promise((resolve) => setImmediate(resolve));
    await this.#channel.request({ kind: 'prepare' });
  }

  /** Brings the replica up to date and asks; returns how long both took. */
  async ask(request: (typeof QUESTIONS)[string]): Promise<number> {
    this.isAsked = true;
    const began = performance.now();
    while (!this.#part());
    const packedMs = performance.now() - began;
    this.#packedMs += packedMs;
    this.packingMs.push(packedMs);
    await this.#channel.request({ kind: 'ask', request });
    this.isAsked = false;
    return performance.now() - began;
  }

  async close(): Promise<void> {
    await this.#channel.close();
    await this.#rung.close();
  }

  /** Passes on a part; returns whether the replica has the whole ledger. */
  #part(): boolean {
    const { nowMs, options } = this.#rung;
    const part = this.#feed!.next(nowMs, { options, atMs: nowMs });
    this.#channel.post({ kind: 'part', part });
    return part.isWhole;
  }
}
