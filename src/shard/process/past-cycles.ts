// Past cycles of a running shard, from its journal. A plan is read on this thread, which takes some milliseconds. A cycle is
// decided again on a thread of its own, which restores the fleet of that time, takes about as much memory as the ledger,
// and ends after the answer; one at a time. Made by shard.ts; the API asks it.

import { BigFleetError } from '../../model/index.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import { WorkerChannel } from '../../runtime/worker-channel.ts';
import type { PageAsk } from '../planning/queries/pages.ts';
import type { CycleAsk, CyclePlanView, CycleRedecisionView, PastCyclesPort } from '../views.ts';
import type { FromRedecide, RedecideAsk, RedecideStart, ToRedecide } from './redecide-protocol.ts';

export interface RedecideLimits {
  /** To read the journal from the last checkpoint on. */
  readonly readMs: number;
  /** For the whole answer; less than an answer of the API may take. */
  readonly answerMs: number;
}

const LIMITS: RedecideLimits = { readMs: 20_000, answerMs: 27_000 };

type Channel = WorkerChannel<RedecideStart, ToRedecide, FromRedecide>;

export class PastCycles implements PastCyclesPort {
  readonly #journal: string;
  readonly #pacing: Int32Array;
  readonly #limits: RedecideLimits;
  #channel: Channel | null = null;

  /** `journal`: its file. `pacing`: see pacing.ts. */
  constructor(journal: string, pacing: Int32Array, limits = LIMITS) {
    this.#journal = journal;
    this.#pacing = pacing;
    this.#limits = limits;
  }

  async plan(ask: CycleAsk & PageAsk): Promise<CyclePlanView> {
    // Loaded on demand: most shards are never asked, and SQLite takes a while.
    const { cyclePlan } = await import('../journal/past-cycle.ts');
    return cyclePlan(this.#journal, ask);
  }

  async redecide(ask: RedecideAsk): Promise<CycleRedecisionView> {
    if (this.#channel !== null)
      throw new BigFleetError('BF_REDECIDE_BUSY', 'Another past cycle is being decided again.');
    const channel = this.#start();
    this.#channel = channel;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(lateError(ask, this.#limits.answerMs)), this.#limits.answerMs);
    try {
      return await Promise.race([channel.request(ask), late.promise]);
    } finally {
      clearTimeout(timer);
      await channel.close();
      this.#channel = null;
    }
  }

  /** Ends an answer that is being made. */
  async close(): Promise<void> {
    await this.#channel?.close();
  }

  #start(): Channel {
    const channel: Channel = new WorkerChannel({
      name: 'redecide',
      module: moduleBeside(import.meta.url, 'redecide-worker'),
      start: { journal: this.#journal, pacing: this.#pacing, readLimitMs: this.#limits.readMs },
      onItem: () => {},
      // The request is rejected with the error; the shard does not depend on this thread.
      onFailure: () => {},
    });
    channel.unref();
    return channel;
  }
}

function lateError({ cycle }: CycleAsk, answerMs: number): BigFleetError {
  return new BigFleetError(
    'BF_REDECIDE_LATE',
    `Cycle ${cycle} was not decided again within ${answerMs / 1000} s.`,
  );
}
