// Test support: a ledger whose cycles are written to a journal. Imported by the tests of the journal and of the
// commands that read it, and by journal-writer.ts.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Decision, Engine } from '../../src/engine/index.ts';
import { type AppliedChanges, Fleet, type PendingChange, PendingChanges } from '../../src/fleet/index.ts';
import { DEFAULT_SCORE_WEIGHTS, type DecisionOptions, UNSHARED_OPTIONS } from '../../src/model/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { JOURNAL_LIMITS, type JournalLimits, type JournalSink } from '../../src/shard/journal/format.ts';
import { JournalFile } from '../../src/shard/journal/journal-file.ts';
import { ALWAYS, JournalReader } from '../../src/shard/journal/journal-reader.ts';
import { Recorder } from '../../src/shard/journal/recorder.ts';
import { type ReplayedCycle, replay } from '../../src/shard/journal/replay.ts';
import type { CycleView, ShardEvent } from '../../src/shard/views.ts';

export const ALL_READY: DecisionOptions = {
  readyClusters: null,
  cannotBind: new Set(),
  retiring: new Set(),
  releaseHoldSeconds: new Map(),
  weights: DEFAULT_SCORE_WEIGHTS,
  ...UNSHARED_OPTIONS,
};

const NO_ACTIONS = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };

export function aCycleView(number: number, atMs: number): CycleView {
  const counts = { decided: NO_ACTIONS, admitted: NO_ACTIONS, waiting: {}, heldBack: [] };
  return { number, atMs, durationMs: 1, unmet: 0, metClaimChanges: 0, ...counts };
}

/** Runs `use` with the path of a journal that is deleted afterwards. */
export function withPath<T>(use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-journal-'));
  const leave = (): void => rmSync(folder, { recursive: true });
  const result = use(join(folder, 'journal.db'));
  if (result instanceof Promise) return result.finally(leave) as T;
  leave();
  return result;
}

export interface RecordedOptions {
  readonly limits?: Partial<JournalLimits>;
  /** Machines and rows of unchanged state per cycle (`RecorderParts.slice`); small, so that a segment takes several. */
  readonly slice?: number;
  readonly epoch?: bigint;
  /** Another journal than the file. */
  readonly sink?: JournalSink;
}

/** A shard that decides and executes no action. */
export class Recorded {
  nowMs = 1_000_000;
  /** Runs no timers: pending writes are flushed by the next cycle. */
  readonly clock: Clock = { now: () => this.nowMs, after: () => () => {} };
  readonly fleet = new Fleet();
  readonly engine = new Engine(this.fleet, { checkEvery: 0 });
  readonly recorder: Recorder;
  readonly published: ShardEvent[] = [];
  readonly pending = new PendingChanges(this.fleet);
  #number = 0;

  constructor(sink: JournalSink, { limits, slice, epoch = 1n }: RecordedOptions = {}) {
    this.recorder = new Recorder({
      ...{ sink, fleet: this.fleet, clock: this.clock, epoch },
      limits: { ...JOURNAL_LIMITS, ...limits },
      publish: (event) => this.published.push(event),
      ...(slice === undefined ? {} : { slice }),
    });
  }

  /** One cycle a second; null options: nothing is decided. */
  cycle(entries: readonly PendingChange[], options: DecisionOptions | null = ALL_READY): Decision | null {
    this.nowMs += 1000;
    for (const entry of entries) this.pending.append(entry);
    const applied: AppliedChanges = this.pending.commitMachines().writeRows();
    const { nowMs } = this;
    this.recorder.input(applied, nowMs, options);
    if (options === null) return null;
    const decision = this.engine.decide(nowMs, options);
    const digest = this.recorder.digest(decision, decision.actions());
    this.recorder.outcome(digest, aCycleView(++this.#number, nowMs), []);
    return decision;
  }
}

export function fileAt(path: string, limits: Partial<JournalLimits> = {}): JournalFile {
  return new JournalFile(path, { ...JOURNAL_LIMITS, ...limits });
}

/** All cycles that can be decided again. */
export function replayAll(path: string, span = ALWAYS): ReplayedCycle[] {
  const reader = new JournalReader(path);
  try {
    return [...replay(reader, span)];
  } finally {
    reader.close();
  }
}
