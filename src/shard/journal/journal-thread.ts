// The journal on a thread of its own: the brain hands over and goes on. A journal that cannot be written is given up, with
// one word about it; the shard does its work without.

import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../../model/index.ts';
import type { JournalLimits, JournalMessage, JournalSink } from './format.ts';

export interface JournalThreadStart {
  readonly path: string;
  readonly limits: JournalLimits;
}

/** Bytes of the messages that were written, or why nothing will be any more. */
export type FromJournal =
  | { readonly kind: 'written'; readonly bytes: number }
  | { readonly kind: 'replaced'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface JournalThreadParts extends JournalThreadStart {
  /** The file could not be read and was put aside; a new one is written. */
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

  /** Resolves when everything that was handed over is written, or cannot be. */
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

/** What a message counts while it waits. */
export function bytesOf(message: JournalMessage): number {
  if (message.kind === 'input') return message.input.length;
  return message.kind === 'events' ? message.events.length * 500 : 200;
}

/** Memory of its own goes along; where others have bytes in it, it is copied. */
function movedBy({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
