// Reads Lists on a thread of its own, with its own connection: half a million records are fetched, looked through and
// compared there, and only differences come over, in batches that take a millisecond each. A thread that dies
// fails the reading under way; the next one starts another thread, which remembers nothing (`isFirst` in the report).

import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../model/index.ts';
import type { Attempt } from './attempts.ts';
import type { CallLimits } from './call-limits.ts';
import { ProviderError } from './errors.ts';
import type { ProviderAddress } from './grpc-transport.ts';
import type { ListSink } from './intake.ts';
import type { FromListThread, ListThreadStart, ToListThread } from './list-protocol.ts';
import type { ListKind, ListReport } from './reader.ts';

export interface ListThreadParts {
  readonly provider: ProviderAddress;
  /** Any number; see `InventoryReader`. */
  readonly seed: number;
  /** As `InventoryReader`'s. */
  readonly shardId?: string;
  readonly limits?: Partial<CallLimits>;
  readonly onAttempt?: (attempt: Attempt) => void;
}

interface Reading {
  readonly sink: ListSink;
  readonly ended: PromiseWithResolvers<ListReport>;
  /** Batches that have come, one after the other. */
  last: Promise<void>;
  /** What the sink threw; more telling than what the thread makes of it. */
  refusal?: { readonly reason: unknown };
}

export class ListThread {
  readonly #parts: ListThreadParts;
  #worker: Worker | null = null;
  #reading: Reading | null = null;
  #isClosed = false;
  #heldBytes = 0;

  constructor(parts: ListThreadParts) {
    this.#parts = parts;
  }

  /** Memory that the thread holds between readings, in bytes, as of the last one. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** As `InventoryReader.read`. */
  async read(wanted: ListKind, sink: ListSink, signal?: AbortSignal): Promise<ListReport> {
    if (this.#isClosed) throw new ProviderError('cancelled', 'list', 'The thread was closed.');
    if (this.#reading !== null) throw new Error('a reading is under way');
    if (signal?.aborted === true) throw new ProviderError('cancelled', 'list', 'The caller gave up.');
    const reading: Reading = { sink, ended: Promise.withResolvers(), last: Promise.resolve() };
    this.#reading = reading;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // Until the end of a reading the thread keeps the process alive, afterwards not.
    worker.ref();
    const cancel = (): void => post(worker, { kind: 'cancel' });
    signal?.addEventListener('abort', cancel, { once: true });
    post(worker, { kind: 'read', wanted });
    try {
      return await reading.ended.promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
      worker.unref();
      this.#reading = null;
    }
  }

  /** As `InventoryReader.forget`. */
  forget(): void {
    if (this.#reading !== null) throw new Error('a reading is under way');
    if (this.#worker !== null) post(this.#worker, { kind: 'forget' });
  }

  /** Ends the thread; a reading under way is cancelled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reading?.ended.reject(new ProviderError('cancelled', 'list', 'The thread was closed.'));
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const { provider, seed, limits = {}, shardId = '' } = this.#parts;
    const start: ListThreadStart = { provider, seed, limits, shardId };
    const file = moduleBeside(import.meta.url, 'list-worker');
    const worker = new Worker(file, { workerData: start, name: 'list' });
    const lose = (reason: string): void => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#reading?.ended.reject(new ProviderError('internal', 'list', `The list thread ended: ${reason}.`));
    };
    worker
      .on('message', (message: FromListThread) => this.#hear(worker, message))
      .on('error', (error) => lose(error instanceof Error ? error.message : String(error)))
      .on('exit', (code) => lose(`code ${code}`));
    return worker;
  }

  #hear(worker: Worker, message: FromListThread): void {
    const reading = this.#reading;
    if (message.kind === 'attempt') this.#parts.onAttempt?.(message.attempt);
    else if (reading === null) return;
    else if (message.kind === 'done') {
      this.#heldBytes = message.heldBytes;
      reading.ended.resolve(message.report);
    } else if (message.kind === 'failed') {
      reading.ended.reject(
        reading.refusal?.reason ?? new ProviderError(message.error, 'list', message.detail),
      );
    } else {
      reading.last = reading.last.then(async () => {
        post(worker, await takenBy(reading, message));
        // Messages that wait are all delivered in one turn; others must get theirs in between.
        await setImmediate();
      });
    }
  }
}

/** Hands over one batch and says how it went. */
async function takenBy(
  reading: Reading,
  message: Extract<FromListThread, { readonly kind: 'changed' | 'gone' }>,
): Promise<ToListThread> {
  if (reading.refusal !== undefined) return { kind: 'taken', error: 'refused before' };
  try {
    if (message.kind === 'gone') await reading.sink.gone(message.ids);
    else await reading.sink.changed(message);
    return { kind: 'taken' };
  } catch (reason) {
    reading.refusal ??= { reason };
    return { kind: 'taken', error: reason instanceof Error ? reason.message : String(reason) };
  }
}

function post(worker: Worker, message: ToListThread): void {
  worker.postMessage(message);
}
