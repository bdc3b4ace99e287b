// The live cycle with and without questions: a fleet under churn decides on this thread as often as a shard would whose
// demand never stops changing, a replica of it answers what-if questions on the thread that a shard has for them, and this
// thread explains. Windows with no question, a what-if question and an explanation take turns, so that the noise of the
// machine is in all of them. A cycle that begins late because of a question counts from when it was due.

import type { AppliedChanges } from '../../src/fleet/index.ts';
import { WorkerChannel } from '../../src/runtime/worker-channel.ts';
import type { MachineLedger } from '../../src/shard/inventory/machine-ledger.ts';
import { DEFAULT_CONTROLLER } from '../../src/shard/planning/options.ts';
import type { NeedFindings } from '../../src/shard/planning/queries/need-findings.ts';
import { ReplicaFeed } from '../../src/shard/planning/replica-feed.ts';
import { REPLICA_YOUNG_GENERATION_MB } from '../../src/shard/process/heap-limits.ts';
import { newPacing, pace } from '../../src/shard/process/pacing.ts';
import type { FromWhatIf, ToWhatIf, WhatIfThreadStart } from '../../src/shard/process/what-if-protocol.ts';
import { Rung } from '../ladder/rung.ts';
import { loadProfile } from '../profiles/load.ts';
import { quantilesOf } from '../quantiles.ts';
import { pause } from '../waiting.ts';
import { Explainer, sent } from './explainer.ts';
import { LIVE_KINDS, type LiveFigures, type LiveKind, type LiveWindows } from './figures.ts';
import { MissedChanges } from './missed-changes.ts';
import { QUESTIONS } from './questions.ts';

const { spacingMs: SPACING_MS } = DEFAULT_CONTROLLER.cycle;
/** A window has one question. */
const WINDOW_MS = 10_000;
/** From the beginning of a window to its question; the rest is for the answer, and to undo its changes. */
const BEFORE_QUESTION_MS = 1000;
/** Between two windows, in which nothing is timed; before it the replica catches up with the fleet. */
const GAP_MS = 1000;
/** Cycles before the first window, until the optimising compiler has seen them. */
const FIRST_CYCLES = 200;
/** Needs that are explained in turn. */
const EXPLAINED = 20;

export async function measureLive(profile: string, seconds: number): Promise<LiveFigures> {
  const live = new LiveFleet(profile);
  try {
    await live.prepare();
    const rounds = Math.max(1, Math.round((seconds * 1000) / WINDOW_MS));
    for (let round = 0; round < rounds; round++) {
      // There and back, so that no kind is always before another.
      for (const kind of round % 2 === 0 ? LIVE_KINDS : LIVE_KINDS.toReversed()) {
        await live.window(kind);
        await pause(GAP_MS);
      }
    }
    const windowSeconds = WINDOW_MS / 1000;
    return { seconds: rounds * windowSeconds, windowSeconds, spacingMs: SPACING_MS, windows: live.windows() };
  } finally {
    await live.close();
  }
}

class Timings {
  readonly cycles: number[] = [];
  readonly busy: number[] = [];
  readonly answers: number[] = [];
}

class LiveFleet {
  readonly #rung: Rung;
  readonly #explainer: Explainer;
  readonly #pacing = newPacing();
  readonly #channel: WorkerChannel<WhatIfThreadStart, ToWhatIf, FromWhatIf>;
  readonly #timings: Readonly<Record<LiveKind, Timings>> = {
    nothing: new Timings(),
    'what-if': new Timings(),
    explain: new Timings(),
  };
  readonly #questions = Object.values(QUESTIONS).filter(({ settle }) => settle === 0);
  #asked = 0;
  /** A question is in flight: meanwhile the replica does not follow the fleet. */
  #isAsked = false;
  /** Time that this thread has spent on the question in flight, and when it last ended such work. */
  #busyMs = 0;
  #busyUntilMs = 0;
  #feed: ReplicaFeed | null = null;
  /** Whether a shard would have a replica now, and note commits for it within the cycle. */
  #hasReplica = true;
  readonly #missed = new MissedChanges();

  constructor(profile: string) {
    const onCommit = (applied: AppliedChanges): void => {
      if (this.#hasReplica) this.#feed?.committed(applied);
      else this.#missed.add(applied);
    };
    const options = { rules: 'shared', engine: { workers: 2 }, onCommit } as const;
    this.#rung = new Rung(loadProfile(profile), 'churn', 1, options);
    this.#explainer = new Explainer(this.#rung.fleet);
    this.#rung.first();
    this.#channel = new WorkerChannel({
      name: 'what-if',
      youngGenerationMb: REPLICA_YOUNG_GENERATION_MB,
      module: new URL('../../src/shard/process/what-if-worker.ts', import.meta.url),
      start: { pacing: this.#pacing, settleMs: Number.POSITIVE_INFINITY },
      onItem: () => {},
      onFailure: (error) => {
        throw error;
      },
    });
  }

  /** First cycles, and the first copy, in parts. The feed needs the fleet, and asks for providers and hosts that this one does not have. */
  async prepare(): Promise<void> {
    for (let cycle = 0; cycle < FIRST_CYCLES; cycle++) this.#cycle();
    const { fleet } = this.#rung;
    const ledger = { fleet, ownerOf: () => undefined, particularsOf: () => ({ host: null }) };
    this.#feed = new ReplicaFeed(ledger as unknown as MachineLedger, this.#rung.nowMs);
    while (!this.#part()) await new Promise((resolve) => setImmediate(resolve));
    await this.#channel.request({ kind: 'prepare' });
    const [first] = this.#explainer.needs(EXPLAINED);
    if (first !== undefined) await this.#explain(first);
  }

  async window(kind: LiveKind): Promise<void> {
    const timings = this.#timings[kind];
    this.#hasReplica = kind === 'what-if' || (kind === 'explain' && this.#explainer.isLarge);
    const endMs = performance.now() + WINDOW_MS;
    // At any time between two cycles, not always right after one.
    const part = (this.#asked * 0.37) % 1;
    let questionMs = kind === 'nothing' ? null : performance.now() + BEFORE_QUESTION_MS + part * SPACING_MS;
    let answer: Promise<unknown> = Promise.resolve();
    for (let dueMs = performance.now(); dueMs < endMs; ) {
      if (questionMs !== null && questionMs < dueMs) {
        const ask = this.#question(kind);
        await pause(Math.max(0, questionMs - performance.now()));
        questionMs = null;
        answer = this.#ask(ask, timings);
      }
      await pause(Math.max(0, dueMs - performance.now()));
      const lateMs = Math.max(0, this.#busyUntilMs - dueMs);
      timings.cycles.push(lateMs + this.#cycle());
      dueMs = performance.now() + SPACING_MS;
      if (this.#hasReplica && !this.#isAsked) await this.#follow();
    }
    await answer;
    for (const changes of this.#missed.taken(this.#rung.fleet)) {
      this.#feed!.committed(changes);
      while (!this.#part());
    }
    await this.#channel.request({ kind: 'prepare' });
  }

  windows(): readonly LiveWindows[] {
    return LIVE_KINDS.map((kind) => {
      const { cycles, busy, answers } = this.#timings[kind];
      const asked = (ms: readonly number[]) => (ms.length === 0 ? null : quantilesOf(ms));
      return {
        ...{ kind, cycles: cycles.length, cycleMs: quantilesOf(cycles), questions: answers.length },
        ...{ busyMs: asked(busy), answerMs: asked(answers) },
      };
    });
  }

  async close(): Promise<void> {
    await this.#channel.close();
    await this.#rung.close();
  }

  #cycle(): number {
    pace(this.#pacing, true);
    const { decision, ms } = this.#rung.next();
    pace(this.#pacing, false);
    this.#explainer.decided(decision, this.#rung.options, this.#rung.nowMs);
    return ms;
  }

  /** The next question of a kind; it is about the last decision. */
  #question(kind: LiveKind): () => Promise<unknown> {
    const number = this.#asked++;
    const request = this.#questions[number % this.#questions.length]!;
    if (kind === 'what-if') return () => this.#onReplica({ kind: 'ask', request });
    const needs = this.#explainer.needs(EXPLAINED);
    const need = needs[number % needs.length]!;
    return () => this.#explain(need);
  }

  #explain(need: string): Promise<unknown> {
    const findings = (id: string) =>
      this.#onReplica({ kind: 'explain', need: id }) as Promise<NeedFindings | null>;
    return this.#explainer.need(need, findings, (work) => this.#onMain(work));
  }

  /** Passes on what has changed. Between two parts a cycle that is due runs. */
  async #follow(): Promise<void> {
    while (!this.#onMain(() => this.#part())) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Asks the replica once it is up to date. */
  async #onReplica(request: ToWhatIf['request']): Promise<unknown> {
    await this.#follow();
    return await this.#onMain(() => {
      const answer = this.#channel.request(request);
      this.#channel.flush();
      return answer;
    });
  }

  /** Work for a question on the thread of the cycles. */
  #onMain<T>(work: () => T): T {
    const began = performance.now();
    const result = work();
    this.#busyUntilMs = performance.now();
    this.#busyMs += this.#busyUntilMs - began;
    return result;
  }

  async #ask(ask: () => Promise<unknown>, { busy, answers }: Timings): Promise<void> {
    this.#busyMs = 0;
    this.#isAsked = true;
    const began = performance.now();
    sent(await ask());
    this.#isAsked = false;
    answers.push(performance.now() - began);
    busy.push(this.#busyMs);
  }

  /** Passes on a part; returns whether the replica has the whole ledger. */
  #part(): boolean {
    const { nowMs, options } = this.#rung;
    const part = this.#feed!.next(nowMs, { options, atMs: nowMs });
    this.#channel.post({ kind: 'part', part });
    return part.isWhole;
  }
}
