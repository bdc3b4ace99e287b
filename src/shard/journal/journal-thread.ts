// The journal on a worker thread: the controller posts messages and does not wait for the write. After a failed write the
// journal is given up, the failure is reported once, and the shard runs without a journal.

import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../runtime/module-path.ts';
import type { JournalLimits, JournalMessage, JournalSink } from './format.ts';

export interface JournalThreadStart {
  readonly path: string;
  readonly limits: JournalLimits;
}

/** Bytes of the messages that were written, or why no more will be. */
export type FromJournal =
  | { readonly kind: 'written'; readonly bytes: number }
  | { readonly kind: 'replaced'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface JournalThreadParts extends JournalThreadStart {
  /** The file could not be read and was renamed; a new one is written. */
  readonly onReplaced: (why: string) => void;
  /** Nothing is written any more. */
  readonly onFailure: (why: string) => void;
}

export class JournalThread implements JournalSink {
  readonly #worker: Worker;
  readonly #parts: JournalThreadParts;
  readonly #ended = Promise.withResolvers<void>();
  #isUp = true;
  behindBytes = 0;

  constructor(parts: JournalThreadParts) {
    this.#parts = parts;
    const { path, limits } = parts;
    const start: JournalThreadStart = { path, limits };
    const file = moduleBeside(import.meta.url, 'journal-worker');
    this.#worker = new Worker(file, { workerData: start, name: 'journal' })
      .on('message', (message: FromJournal) => this.#hear(message))
      .on('error', (error) => this.#fail(error.message))
      .on('exit', () => {
        this.#fail('its thread ended');
        this.#ended.resolve();
      });
  }

  put(message: JournalMessage): void {
    if (!this.#isUp) return;
    this.behindBytes += bytesOf(message);
    this.#worker.postMessage(message, message.kind === 'input' ? movedBy(message.input) : []);
  }

  /** Resolves when all posted messages are written, or the journal has failed. */
  async close(): Promise<void> {
    this.#isUp = false;
    this.#worker.postMessage(null);
    await this.#ended.promise;
  }

  #hear(message: FromJournal): void {
    if (message.kind === 'written') this.behindBytes -= message.bytes;
    else if (message.kind === 'replaced') this.#parts.onReplaced(message.why);
    else this.#fail(message.why);
  }

  #fail(why: string): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.behindBytes = 0;
    this.#parts.onFailure(why);
  }
}

/** Bytes that a message counts in `behindBytes`. */
export function bytesOf(message: JournalMessage): number {
  if (message.kind === 'input') return message.input.length;
  return message.kind === 'events' ? message.events.length * 500 : 200;
}

/** A buffer that the array covers completely is transferred; a view of a larger one is copied. */
function movedBy({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
