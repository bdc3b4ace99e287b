// The journal on a worker thread: the controller posts messages and does not wait for the write. After a failed write
// the journal is given up, the failure is reported once, and the shard runs without a journal. Started by
// process/controller-factory.ts; recorder.ts posts to it.

import type { Traffic } from '../../runtime/message-exchange.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import { WorkerChannel } from '../../runtime/worker-channel.ts';
import type { JournalLimits, JournalMessage, JournalSink } from './format.ts';

export interface JournalThreadStart {
  readonly path: string;
  readonly limits: JournalLimits;
}

export interface ToJournal extends Traffic {
  readonly item: JournalMessage | { readonly kind: 'close' };
  readonly request: never;
}

export interface FromJournal extends Traffic {
  readonly item: /** Messages that count this many bytes were written. */
  { readonly kind: 'written'; readonly bytes: number } | { readonly kind: 'replaced'; readonly why: string };
  readonly request: never;
}

export interface JournalThreadParts extends JournalThreadStart {
  /** The file could not be read and was renamed; a new one is written. */
  readonly onReplaced: (why: string) => void;
  /** Nothing is written any more. */
  readonly onFailure: (why: string) => void;
}

export class JournalThread implements JournalSink {
  readonly #channel: WorkerChannel<JournalThreadStart, ToJournal, FromJournal>;
  #isUp = true;
  behindBytes = 0;

  constructor({ path, limits, onReplaced, onFailure }: JournalThreadParts) {
    this.#channel = new WorkerChannel({
      name: 'journal',
      module: moduleBeside(import.meta.url, 'journal-worker'),
      start: { path, limits },
      onItem: (item) => {
        if (item.kind === 'written') this.behindBytes -= item.bytes;
        else onReplaced(item.why);
      },
      onFailure: ({ message }) => {
        this.#isUp = false;
        this.behindBytes = 0;
        onFailure(message);
      },
    });
  }

  put(message: JournalMessage): void {
    if (!this.#isUp) return;
    this.behindBytes += bytesOf(message);
    this.#channel.post(message, message.kind === 'input' ? movedBy(message.input) : []);
  }

  /** Resolves when all posted messages are written, or the journal has failed. */
  close(): Promise<void> {
    this.#isUp = false;
    return this.#channel.close({ kind: 'close' });
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
