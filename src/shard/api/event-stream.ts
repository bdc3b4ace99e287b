// Live events over server-sent events. Each event is serialised once for all readers. A reader that does not keep up
// is disconnected, because its buffer is memory of the shard. It reconnects with the id of the last event it received,
// and gets the missed ones as far as the shard has kept them. Made by serve.ts for `/v1/events`.

import type { ServerResponse } from 'node:http';
import { plainFields } from '../../runtime/log-fields.ts';
import type { ShardEvent, ShardPort } from '../views.ts';
import { Refusal } from './refusal.ts';
import type { EventsFrom, EventsWanted } from './route.ts';

export interface EventStreamLimits {
  readonly maxReaders: number;
  /** Most bytes buffered for one reader. */
  readonly maxWaitingBytes: number;
  /** Interval of heartbeats, by which proxies and readers know that the connection is alive. */
  readonly heartbeatMs: number;
}

export const EVENT_STREAM_LIMITS: EventStreamLimits = {
  maxReaders: 100,
  maxWaitingBytes: 1024 * 1024,
  heartbeatMs: 15_000,
};

/** Delay before a browser reconnects. */
const RETRY_MS = 2_000;

interface Reader {
  readonly wanted: EventsWanted;
  /** null unless past events are being read for the reader. */
  overlap: Overlap | null;
  /** When the last cycle was sent to it. */
  cycleMs: number;
}

/** Events that arrive while the past ones are read for a reader; at most `maxWaitingBytes`. */
interface Overlap {
  readonly pieces: { readonly id: string | undefined; readonly text: string }[];
  bytes: number;
}

export class EventStream {
  readonly #port: ShardPort;
  readonly #limits: EventStreamLimits;
  readonly #readers = new Map<ServerResponse, Reader>();
  /** Readers refused because of `maxReaders`, and readers disconnected because of `maxWaitingBytes`. */
  refused = 0;
  slow = 0;
  #stopListening = () => {};
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(port: ShardPort, limits: EventStreamLimits) {
    this.#port = port;
    this.#limits = limits;
  }

  async add(reader: ServerResponse, from: EventsFrom, wanted: EventsWanted = {}): Promise<void> {
    if (this.#readers.size >= this.#limits.maxReaders) {
      this.refused++;
      throw new Refusal(503, `There are ${this.#limits.maxReaders} readers already.`);
    }
    reader.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    reader.write(`retry: ${RETRY_MS}\n\n`);
    reader.on('close', () => this.#remove(reader));
    const hasPast = from.sinceMs !== undefined || from.afterId !== undefined;
    const overlap = hasPast ? { pieces: [], bytes: 0 } : null;
    this.#readers.set(reader, { wanted, overlap, cycleMs: Number.NEGATIVE_INFINITY });
    if (this.#readers.size === 1) this.#open();
    if (hasPast) await this.#replay(reader, from, wanted);
  }

  /** Sends past events, then those that arrived while the past ones were read. */
  async #replay(reader: ServerResponse, from: EventsFrom, { kinds }: EventsWanted): Promise<void> {
    let known: ReadonlySet<string | undefined> = new Set();
    try {
      const maxBytes = Math.min(PAST.bytes, this.#limits.maxWaitingBytes / 2);
      const { items } = await this.#port.ask('events', { ...from, limit: PAST.events, maxBytes });
      known = new Set(items.map(({ id }) => id));
      const some = items.filter(({ kind }) => kinds === undefined || kinds.has(kind));
      if (this.#readers.has(reader)) for (const event of some) reader.write(eventText(event));
    } catch {
      // The reader gets new events all the same; the status of the shard shows the failure.
    }
    const state = this.#readers.get(reader);
    const pieces = state?.overlap?.pieces ?? [];
    if (state !== undefined) state.overlap = null;
    // A reader that does not keep up is disconnected in this loop.
    for (const { id, text } of pieces)
      if (this.#readers.has(reader) && (id === undefined || !known.has(id))) this.#sendTo(reader, text);
  }

  close(): void {
    for (const reader of this.#readers.keys()) {
      reader.end();
      this.#remove(reader);
    }
  }

  #open(): void {
    this.#stopListening = this.#port.listen((event) => this.#publish(event));
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers.keys()) this.#sendTo(reader, ':\n\n');
    }, this.#limits.heartbeatMs).unref();
  }

  #remove(reader: ServerResponse): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    this.#stopListening();
    clearInterval(this.#heartbeat);
  }

  /** Serialised on first use: with many actions a second, most events may be wanted by no reader. */
  #publish(event: ShardEvent): void {
    let text: string | undefined;
    for (const [response, reader] of this.#readers) {
      if (!isDue(event, reader)) continue;
      text ??= eventText(event);
      if (reader.overlap === null) this.#sendTo(response, text);
      else this.#buffer(response, reader.overlap, { id: event.id, text });
    }
  }

  #buffer(reader: ServerResponse, overlap: Overlap, piece: Overlap['pieces'][number]): void {
    overlap.bytes += piece.text.length;
    if (overlap.bytes > this.#limits.maxWaitingBytes) this.#disconnect(reader);
    else overlap.pieces.push(piece);
  }

  #sendTo(reader: ServerResponse, text: string): void {
    if (reader.writableLength + text.length > this.#limits.maxWaitingBytes) this.#disconnect(reader);
    else reader.write(text);
  }

  #disconnect(reader: ServerResponse): void {
    this.slow++;
    this.#remove(reader);
    reader.destroy();
  }
}

/** Whether a reader wants the event now. A cycle within `paceMs` of the last one is left out: the next one is not far. */
function isDue({ kind }: ShardEvent, reader: Reader): boolean {
  const { kinds, paceMs = 0 } = reader.wanted;
  if (kinds !== undefined && !kinds.has(kind)) return false;
  if (kind !== 'cycle' || paceMs === 0) return true;
  const nowMs = performance.now();
  // Cycles come a little early or late; one that is due within a tenth of the pace is sent.
  if (nowMs - reader.cycleMs < paceMs * 0.9) return false;
  reader.cycleMs = nowMs;
  return true;
}

/** Past events that a reader gets: the newest, and fewer bytes than `maxWaitingBytes`. */
const PAST = { events: 500, bytes: 500_000 };

/** Bound on the fields of a log line, which have any type; several events of this size fit in `maxWaitingBytes`. */
const FIELD_LIMITS = { bytes: 200_000, textBytes: 100_000 };

function eventText(event: ShardEvent): string {
  const shown = event.kind === 'log' ? { ...event, fields: plainFields(event.fields, FIELD_LIMITS) } : event;
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  return `${id}event: ${event.kind}\ndata: ${JSON.stringify(shown)}\n\n`;
}
