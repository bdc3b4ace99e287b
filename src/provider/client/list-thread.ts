// Reads Lists on a worker thread with its own connection: the worker fetches, scans and compares half a million records
// and sends only differences, in batches that take about 1 ms each. If the worker dies, the in-flight reading fails; the
// next one starts a worker without records of earlier lists (`isFirst` in the report).

import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../runtime/module-path.ts';
import type { Attempt } from './attempts.ts';
import type { CallLimits } from './call-limits.ts';
import { ProviderError } from './errors.ts';
import type { ProviderAddress } from './grpc-transport.ts';
import type { ListSink } from './intake.ts';
import type { FromListThread, ListThreadStart, ToListThread } from './list-protocol.ts';
import type { ListKind, ListReport } from './reader.ts';

export interface ListThreadParts {
  readonly provider: ProviderAddress;
  /** See `InventoryReaderParts.seed`. */
  readonly seed: number;
  /** See `InventoryReaderParts.shardId`. */
  readonly shardId?: string;
  readonly limits?: Partial<CallLimits>;
  readonly onAttempt?: (attempt: Attempt) => void;
}

interface Reading {
  readonly sink: ListSink;
  readonly ended: PromiseWithResolvers<ListReport>;
  /** Resolves when the sink has processed all batches received so far; chains them in order. */
  last: Promise<void>;
  /** The sink's first error; reported instead of the worker's, which has only the message. */
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

  /** Memory that the worker's reader holds between readings, in bytes, as of the last one. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** See `InventoryReader.read`. */
  async read(wanted: ListKind, sink: ListSink, signal?: AbortSignal): Promise<ListReport> {
    if (this.#isClosed) throw new ProviderError('cancelled', 'list', 'The thread was closed.');
    if (this.#reading !== null) throw new Error('a reading is under way');
    if (signal?.aborted === true) throw new ProviderError('cancelled', 'list', 'The caller gave up.');
    const reading: Reading = { sink, ended: Promise.withResolvers(), last: Promise.resolve() };
    this.#reading = reading;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // The worker keeps the process alive only during a reading.
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

  /** See `InventoryReader.forget`. */
  forget(): void {
    if (this.#reading !== null) throw new Error('a reading is under way');
    if (this.#worker !== null) post(this.#worker, { kind: 'forget' });
  }

  /** Terminates the worker; an in-flight reading is cancelled. */
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
        // Node delivers all queued messages in one turn of the event loop; yield so that other work runs in between.
        await setImmediate();
      });
    }
  }
}

/** Passes one batch to the sink and returns the acknowledgement for the worker. */
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
