// Live news as server-sent events. Each piece is written out once for all readers; a reader that does not keep up is cut
// off, because what waits for it is memory of the shard. It connects again by itself and asks for how things stand.

import type { ServerResponse } from 'node:http';
import { plainFields } from '../log-fields.ts';
import type { News, ShardPort } from '../views.ts';
import { Refusal } from './refusal.ts';

export interface NewsLimits {
  readonly maxReaders: number;
  /** Bytes that may wait for one reader. */
  readonly maxWaitingBytes: number;
  /** Silence ends here, so that proxies and readers know that both ends are alive. */
  readonly heartbeatMs: number;
}

export const NEWS_LIMITS: NewsLimits = {
  maxReaders: 100,
  maxWaitingBytes: 1024 * 1024,
  heartbeatMs: 15_000,
};

/** How soon a browser connects again. */
const RETRY_MS = 2_000;

export class NewsStand {
  readonly #port: ShardPort;
  readonly #limits: NewsLimits;
  readonly #readers = new Set<ServerResponse>();
  /** Readers there was no room for, and readers cut off. */
  refused = 0;
  slow = 0;
  #stopListening = () => {};
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(port: ShardPort, limits: NewsLimits) {
    this.#port = port;
    this.#limits = limits;
  }

  add(reader: ServerResponse): void {
    if (this.#readers.size >= this.#limits.maxReaders) {
      this.refused++;
      throw new Refusal(503, `There are ${this.#limits.maxReaders} readers already.`);
    }
    reader.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    reader.write(`retry: ${RETRY_MS}\n\n`);
    reader.on('close', () => this.#remove(reader));
    this.#readers.add(reader);
    if (this.#readers.size === 1) this.#open();
  }

  close(): void {
    for (const reader of this.#readers) {
      reader.end();
      this.#remove(reader);
    }
  }

  #open(): void {
    this.#stopListening = this.#port.listen((news) => this.#send(eventText(news)));
    this.#heartbeat = setInterval(() => this.#send(':\n\n'), this.#limits.heartbeatMs).unref();
  }

  #remove(reader: ServerResponse): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    this.#stopListening();
    clearInterval(this.#heartbeat);
  }

  #send(text: string): void {
    for (const reader of this.#readers) {
      if (reader.writableLength + text.length > this.#limits.maxWaitingBytes) {
        this.slow++;
        this.#remove(reader);
        reader.destroy();
      } else {
        reader.write(text);
      }
    }
  }
}

/** Fields of a log line are anything. A reader has room for several events of this size. */
const FIELD_LIMITS = { bytes: 200_000, textBytes: 100_000 };

function eventText(news: News): string {
  const shown = news.kind === 'log' ? { ...news, fields: plainFields(news.fields, FIELD_LIMITS) } : news;
  return `event: ${news.kind}\ndata: ${JSON.stringify(shown)}\n\n`;
}
