// The writer of a journal's file. The file never exceeds its limit: the oldest entries are dropped before a write, by
// whole segments while a later one can be replayed without them. Used on the journal's thread only
// (journal-worker.ts).

import type { StatementSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { SqliteFile } from '../../runtime/sqlite-file.ts';
import {
  DEFLATED_INPUT,
  JOURNAL_FORMAT,
  type JournalEvent,
  type JournalLimits,
  type JournalMessage,
  type JournalSink,
  PLAIN_INPUT,
} from './format.ts';

/** Smaller inputs are not compressed: they hardly shrink. */
const SMALLEST_DEFLATED = 512;
/** Most cycles dropped in one transaction, so that the write-ahead log stays small. */
const DROPPED_AT_ONCE = 500;
/** Part of the limit reserved for indexes and for bytes that `sizeOf` does not count. */
const RESERVE = 1 / 16;

type InputMessage = Extract<JournalMessage, { readonly kind: 'input' }>;

/** Also a synchronous `JournalSink`, for controllers that may wait for the disk. */
export class JournalFile implements JournalSink {
  readonly behindBytes = 0;
  readonly #file: SqliteFile;
  readonly #limits: JournalLimits;
  readonly #sql: Statements;
  #seq: number;
  #segment: number;

  /** Opens or creates the file. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE. */
  constructor(path: string, limits: JournalLimits) {
    this.#limits = limits;
    this.#file = new SqliteFile(path, JOURNAL_FORMAT);
    this.#sql = prepare(this.#file);
    const last = this.#sql.last.get();
    this.#seq = Number(last?.['seq'] ?? 0);
    this.#segment = this.#seq;
  }

  put(message: JournalMessage): void {
    this.write([message]);
  }

  /** Writes all messages in one transaction, or throws; after an error, all later writes fail. */
  write(messages: readonly JournalMessage[]): void {
    const packed = messages.map((message) =>
      message.kind === 'input' ? { ...message, input: packedInput(message.input) } : message,
    );
    const bytes = packed.reduce((sum, message) => sum + sizeOf(message), 0);
    this.#makeRoom(bytes);
    this.#file.writeNow(() => {
      for (const message of packed) this.#write(message);
    });
  }

  /** Drops entries older than `maxAgeMs`. */
  expire(nowMs: number): void {
    for (;;) {
      const second = this.#sql.secondWhole.get();
      if (second === undefined || Number(second['at_ms']) > nowMs - this.#limits.maxAgeMs) return;
      this.#dropBefore(Number(second['segment']));
    }
  }

  close(): void {
    this.#file.close();
  }

  #write(message: JournalMessage): void {
    switch (message.kind) {
      case 'input':
        this.#writeInput(message);
        break;
      case 'outcome': {
        const { cycle, ...outcome } = message.outcome;
        this.#sql.outcome.run(cycle, JSON.stringify(outcome), this.#seq);
        break;
      }
      case 'events':
        for (const event of message.events) this.#writeEvent(event);
        break;
    }
  }

  #writeInput({ epoch, atMs, begin, isWhole, isDecided, input }: InputMessage): void {
    this.#seq++;
    if (begin !== null) this.#segment = this.#seq;
    this.#sql.input.run(
      ...[this.#seq, epoch, atMs, this.#segment, begin, isWhole ? 1 : 0, isDecided ? 1 : 0],
      input,
    );
  }

  #writeEvent({ atMs, machine, cluster, need, body }: JournalEvent): void {
    const names = [machine, cluster, need].map((name) => (name === null ? null : JSON.stringify(name)));
    this.#sql.event.run(this.#seq, atMs, ...names, JSON.stringify(body, plainNumbers));
  }

  #makeRoom(bytes: number): void {
    const most = this.#limits.maxBytes * (1 - RESERVE);
    while (this.#usedBytes + bytes > most) {
      const second = this.#sql.secondWhole.get();
      const first = this.#sql.first.get();
      if (first === undefined) return;
      // A file too small for two segments loses its only beginning and can be replayed again from the next whole one.
      this.#dropBefore(
        second === undefined ? Number(first['seq']) + DROPPED_AT_ONCE : Number(second['segment']),
      );
    }
  }

  get #usedBytes(): number {
    const { pages, free, size } = this.#sql.used.get() as { pages: number; free: number; size: number };
    return (pages - free) * size;
  }

  #dropBefore(seq: number): void {
    for (;;) {
      const first = Number(this.#sql.first.get()?.['seq'] ?? seq);
      if (first >= seq) return;
      const until = Math.min(seq, first + DROPPED_AT_ONCE);
      this.#file.writeNow(() => {
        this.#sql.dropEvents.run(until);
        this.#sql.dropCycles.run(until);
      });
    }
  }
}

function packedInput(input: Uint8Array): Uint8Array {
  const isSmall = input.length < SMALLEST_DEFLATED;
  // The fastest level: it halves the time of the next one and is within a tenth of its size.
  const body = isSmall ? input : deflateRawSync(input, { level: 1 });
  const packed = new Uint8Array(body.length + 1);
  packed[0] = isSmall ? PLAIN_INPUT : DEFLATED_INPUT;
  packed.set(body, 1);
  return packed;
}

/** Approximate bytes of a message in the file. */
function sizeOf(message: JournalMessage): number {
  if (message.kind === 'input') return message.input.length + 100;
  return message.kind === 'events' ? message.events.length * 500 : 400;
}

function plainNumbers(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

interface Statements {
  readonly last: StatementSync;
  readonly first: StatementSync;
  /** The beginning of the second oldest whole segment. */
  readonly secondWhole: StatementSync;
  readonly used: StatementSync;
  readonly input: StatementSync;
  readonly outcome: StatementSync;
  readonly event: StatementSync;
  readonly dropCycles: StatementSync;
  readonly dropEvents: StatementSync;
}

function prepare({ database }: SqliteFile): Statements {
  return {
    last: database.prepare('SELECT seq FROM cycles ORDER BY seq DESC LIMIT 1'),
    first: database.prepare('SELECT seq FROM cycles ORDER BY seq LIMIT 1'),
    secondWhole: database.prepare(
      `SELECT begun.seq AS segment, begun.at_ms AS at_ms FROM cycles AS done JOIN cycles AS begun ON begun.seq = done.segment
       WHERE done.whole = 1 AND done.segment > (SELECT min(seq) FROM cycles) ORDER BY done.seq LIMIT 1`,
    ),
    used: database.prepare(
      `SELECT page_count AS pages, freelist_count AS free, page_size AS size
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    ),
    input: database.prepare(
      `INSERT INTO cycles (seq, epoch, at_ms, segment, begin, whole, is_decided, input) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    outcome: database.prepare('UPDATE cycles SET cycle = ?, outcome = ? WHERE seq = ?'),
    event: database.prepare(
      'INSERT INTO events (seq, at_ms, machine, cluster, need, body) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    dropCycles: database.prepare('DELETE FROM cycles WHERE seq < ?'),
    dropEvents: database.prepare('DELETE FROM events WHERE seq < ?'),
  };
}
