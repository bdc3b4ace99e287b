// What-if questions of a running shard, and what keeps machines from a Need of a large fleet: one question at a time, on a
// thread of their own that keeps a replica of the ledger. The thread is started by the first question and ends when none was
// asked for a while, because the replica takes about as much memory as the ledger. Made by shard.ts; the API and
// shard-facade.ts ask it.

import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { BigFleetError } from '../../model/index.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import { WorkerChannel } from '../../runtime/worker-channel.ts';
import type { WhatIfAnswer, WhatIfRequest } from '../../whatif/index.ts';
import type { ControllerPort } from '../events.ts';
import type { NeedFindings } from '../planning/queries/need-findings.ts';
import type { WhatIfPort } from '../views.ts';
import { REPLICA_YOUNG_GENERATION_MB } from './heap-limits.ts';
import type { FromWhatIf, ToWhatIf, WhatIfThreadStart } from './what-if-protocol.ts';

/** The replica is dropped when no question was asked for this long. */
const UNUSED_MS = 300_000;
/** Time between two parts of a new replica, so that the controller has time for other events. */
const PART_GAP_MS = 4;
/** Longest wait for a new replica before the caller is told to ask again. */
const COPY_MS = 500;
/** Longest time to pass on what has changed since the last question, in parts between which cycles may run. */
const UPDATE_MS = 2_000;
/**
 * A fleet that settles begins no cycle after this time. The API waits twice as long for an answer, which leaves time for the
 * last cycle, and for waiting for those of the controller.
 */
const SETTLE_MS = 15_000;

const LIMITS = { settleMs: SETTLE_MS, updateMs: UPDATE_MS };

const inflate = promisify(inflateRaw);

export class WhatIfService implements WhatIfPort {
  readonly #controller: ControllerPort;
  readonly #pacing: Int32Array;
  #thread: Thread | null = null;
  readonly #limits: typeof LIMITS;
  #isBusy = false;
  #isExporting = false;

  constructor(controller: ControllerPort, pacing: Int32Array, limits: Partial<typeof LIMITS> = {}) {
    this.#controller = controller;
    this.#pacing = pacing;
    this.#limits = { ...LIMITS, ...limits };
  }

  whatIf(request: WhatIfRequest): Promise<WhatIfAnswer> {
    return this.#alone(async (thread) => {
      const answer = await thread.channel.request({ kind: 'ask', request });
      if (answer === null) throw busy('The shard has not decided yet.');
      return answer as WhatIfAnswer;
    });
  }

  /** null: the replica does not have the Need. Throws BF_WHATIF_BUSY like the other questions. */
  findings(need: string): Promise<NeedFindings | null> {
    return this.#alone(
      (thread) => thread.channel.request({ kind: 'explain', need }) as Promise<NeedFindings | null>,
    );
  }

  /**
   * Pieces are made at the pace of the thread and wait for the reader here, compressed to about a twentieth, so that a slow
   * reader does not hold up questions. One export at a time bounds their memory.
   */
  async export(write: (piece: string) => Promise<void>): Promise<void> {
    if (this.#isExporting) throw busy('Another export is being read.');
    this.#isExporting = true;
    const pieces = new Readable({ objectMode: true, read: () => {} });
    const made = this.#alone((thread) => makePieces(thread, pieces)).catch((error: Error) => {
      pieces.destroy(error);
    });
    try {
      for await (const piece of pieces) await write(String(await inflate(piece as Uint8Array)));
    } finally {
      await made;
      this.#isExporting = false;
    }
  }

  async close(): Promise<void> {
    await this.#end();
  }

  async #alone<T>(run: (thread: Thread) => Promise<T>): Promise<T> {
    if (this.#isBusy) throw busy('Another question is being answered.');
    this.#isBusy = true;
    try {
      const thread = this.#thread ?? this.#start();
      clearTimeout(thread.unused);
      await this.#bringUpToDate(thread);
      return await run(thread);
    } finally {
      this.#isBusy = false;
      const thread = this.#thread;
      if (thread !== null) thread.unused = setTimeout(() => void this.#end(), UNUSED_MS).unref();
    }
  }

  /** A new replica is copied in the background, whether or not the caller waits for it. */
  async #bringUpToDate(thread: Thread): Promise<void> {
    thread.copying ??= this.#copy(thread).catch(() => this.#end());
    let timer: NodeJS.Timeout | undefined;
    const isCopied = await Promise.race([
      thread.copying.then(() => true),
      new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), COPY_MS);
      }),
    ]);
    clearTimeout(timer);
    if (!isCopied || this.#thread !== thread) throw busy('The fleet is being copied.');
    const lastMs = performance.now() + this.#limits.updateMs;
    while (!(await this.#part(thread, false)))
      if (performance.now() > lastMs) throw busy('The fleet changes faster than it is copied.');
  }

  async #copy(thread: Thread): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      if (await this.#part(thread, isFirst)) break;
      if (this.#thread !== thread) return;
      await new Promise((resolve) => setTimeout(resolve, PART_GAP_MS));
    }
    await thread.channel.request({ kind: 'prepare' });
    thread.isCopied = true;
  }

  /**
   * After a cycle the replica gets what has changed: a question need not wait for the changes of all cycles since the one
   * before. Not while a question is answered, so that no parts queue up.
   */
  async #follow(thread: Thread): Promise<void> {
    if (!thread.isCopied || thread.isFollowing) return;
    thread.isFollowing = true;
    try {
      while (!this.#isBusy && this.#thread === thread && !(await this.#part(thread, false)));
    } catch {
      // Without the next part the replica has ended, and the next question starts another one.
    }
    thread.isFollowing = false;
  }

  /** Passes on a part; returns whether the replica has the whole ledger. */
  async #part(thread: Thread, isFirst: boolean): Promise<boolean> {
    const part = await this.#controller.ask('replica', { isFirst });
    if (part === null) {
      await this.#end();
      throw busy('The fleet has to be copied again.');
    }
    thread.channel.post({ kind: 'part', part });
    return part.isWhole;
  }

  #start(): Thread {
    const channel = new WorkerChannel<WhatIfThreadStart, ToWhatIf, FromWhatIf>({
      name: 'what-if',
      module: moduleBeside(import.meta.url, 'what-if-worker'),
      youngGenerationMb: REPLICA_YOUNG_GENERATION_MB,
      start: { pacing: this.#pacing, settleMs: this.#limits.settleMs },
      onItem: () => {},
      // The next question starts another thread; the shard does not depend on this one.
      onFailure: () => void this.#end(),
    });
    channel.unref();
    const stopListening = this.#controller.listen(({ kind }) => {
      if (kind === 'cycle') void this.#follow(thread);
    });
    const thread: Thread = {
      ...{ channel, stopListening },
      ...{ copying: null, isCopied: false, isFollowing: false, unused: undefined },
    };
    this.#thread = thread;
    return thread;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    clearTimeout(thread?.unused);
    thread?.stopListening();
    await thread?.channel.close();
  }
}

interface Thread {
  readonly channel: WorkerChannel<WhatIfThreadStart, ToWhatIf, FromWhatIf>;
  readonly stopListening: () => void;
  /** Settled once the first whole copy was applied. */
  copying: Promise<void> | null;
  isCopied: boolean;
  /** It gets a part that no question waits for. */
  isFollowing: boolean;
  unused: NodeJS.Timeout | undefined;
}

/** Stops when the reader has given up. */
async function makePieces({ channel }: Thread, pieces: Readable): Promise<void> {
  for (let isFirst = true; !pieces.destroyed; isFirst = false) {
    const piece = (await channel.request({ kind: 'export', isFirst })) as Uint8Array | null;
    if (piece === null && isFirst) throw busy('The shard has not decided yet.');
    pieces.push(piece);
    if (piece === null) return;
  }
}

function busy(message: string): BigFleetError {
  return new BigFleetError('BF_WHATIF_BUSY', message);
}
