// Reads Lists on a worker thread with its own connection; a shard has one for each provider (shard/process/shard.ts).
// The worker (list-worker.ts) fetches, scans and compares half a million records and sends only differences, in batches
// that take about 1 ms each. If the worker dies, the in-flight reading fails; the next one starts a worker without
// records of earlier lists (`isFirst` in the report).

import { setImmediate } from 'node:timers/promises';
import { moduleBeside } from '../../runtime/module-path.ts';
import { WorkerChannel } from '../../runtime/worker-channel.ts';
import type { Attempt } from './attempts.ts';
import type { CallLimits } from './call-limits.ts';
import { ProviderError } from './errors.ts';
import type { ProviderAddress } from './grpc-transport.ts';
import type { ListSink } from './intake.ts';
import type { ListKind, ListReport } from './inventory-reader.ts';
import type { FromListThread, ListBatch, ListThreadStart, ToListThread } from './list-protocol.ts';

export interface ListThreadParts {
  readonly provider: ProviderAddress;
  /** See `InventoryReaderParts.seed`. */
  readonly seed: number;
  /** See `InventoryReaderParts.shardId`. */
  readonly shardId?: string;
  readonly limits?: Partial<CallLimits>;
  readonly onAttempt?: (attempt: Attempt) => void;
}

type ListChannel = WorkerChannel<ListThreadStart, ToListThread, FromListThread>;

interface Reading {
  readonly sink: ListSink;
  /** Resolves when the sink has processed all batches received so far; chains them in order. */
  last: Promise<void>;
  /** The sink's first error; reported instead of the worker's, which has only the message. */
  refusal?: { readonly reason: unknown };
}

export class ListThread {
  readonly #parts: ListThreadParts;
  #channel: ListChannel | null = null;
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
    if (this.#isClosed) throw closed();
    if (this.#reading !== null) throw new Error('a reading is under way');
    if (signal?.aborted === true) throw new ProviderError('cancelled', 'list', 'The caller gave up.');
    const reading: Reading = { sink, last: Promise.resolve() };
    this.#reading = reading;
    this.#channel ??= this.#start();
    const channel = this.#channel;
    // The worker keeps the process alive only during a reading.
    channel.ref();
    const cancel = (): void => channel.post({ kind: 'cancel' });
    signal?.addEventListener('abort', cancel, { once: true });
    const request = channel.request(wanted);
    channel.flush();
    try {
      const answer = await request;
      if (answer.kind === 'failed') throw new ProviderError(answer.error, 'list', answer.detail);
      this.#heldBytes = answer.heldBytes;
      return answer.report;
    } catch (error) {
      throw this.#reasonOf(error, reading);
    } finally {
      signal?.removeEventListener('abort', cancel);
      channel.unref();
      this.#reading = null;
    }
  }

  /** See `InventoryReader.forget`. */
  forget(): void {
    if (this.#reading !== null) throw new Error('a reading is under way');
    this.#channel?.post({ kind: 'forget' });
  }

  /** Terminates the worker; an in-flight reading is cancelled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#channel?.close();
  }

  #start(): ListChannel {
    const { provider, seed, limits = {}, shardId = '' } = this.#parts;
    const channel: ListChannel = new WorkerChannel({
      name: 'list',
      module: moduleBeside(import.meta.url, 'list-worker'),
      start: { provider, seed, limits, shardId },
      onItem: ({ attempt }) => this.#parts.onAttempt?.(attempt),
      onRequest: (batch, answer, refuse) => {
        const reading = this.#reading;
        if (reading === null) return;
        reading.last = reading.last.then(async () => {
          await pass(batch, reading).then(
            () => answer(undefined),
            (error: unknown) => refuse(messageOf(error)),
          );
          channel.flush();
          // Node delivers all queued messages in one turn of the event loop; yield so that other work runs in between.
          await setImmediate();
        });
      },
      onFailure: () => {
        if (this.#channel === channel) this.#channel = null;
      },
    });
    return channel;
  }

  /** Why a reading failed: the sink's error, the provider's, or the end of the worker. */
  #reasonOf(error: unknown, { refusal }: Reading): unknown {
    if (this.#isClosed) return closed();
    if (refusal !== undefined) return refusal.reason;
    if (error instanceof ProviderError) return error;
    return new ProviderError('internal', 'list', `The list thread failed: ${messageOf(error)}`);
  }
}

/** Passes one batch to the sink; after its first error, none. */
async function pass(batch: ListBatch, reading: Reading): Promise<void> {
  if (reading.refusal !== undefined) throw new Error('The receiver rejected an earlier batch.');
  try {
    if (batch.kind === 'gone') await reading.sink.gone(batch.ids);
    else await reading.sink.changed(batch);
  } catch (reason) {
    reading.refusal = { reason };
    throw reason;
  }
}

function closed(): ProviderError {
  return new ProviderError('cancelled', 'list', 'The thread was closed.');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
