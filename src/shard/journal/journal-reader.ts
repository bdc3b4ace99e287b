// Reads a journal, also while it is written: every query is short, so that it does not block the writer. Entries that
// a crash cut off are missing; all entries before them are present. Used by `bigfleet replay` and `bigfleet history`,
// and by past.ts when a shard starts.

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { inflateRawSync } from 'node:zlib';
import { BigFleetError } from '../../model/index.ts';
import type { SeriesPoint } from '../views.ts';
import {
  type Begin,
  type CycleOutcome,
  DEFLATED_INPUT,
  type EventBody,
  JOURNAL_FORMAT,
  type JournalEvent,
} from './format.ts';

/** A cycle as it was written. */
export interface JournalCycle {
  readonly seq: number;
  /** Epoch of the process that wrote it. */
  readonly epoch: number;
  readonly atMs: number;
  readonly begin: Begin | null;
  readonly isWhole: boolean;
  readonly isDecided: boolean;
  /** null: nothing was decided, or the process ended before it was. */
  readonly outcome: CycleOutcome | null;
  readonly input: Uint8Array;
}

export interface Span {
  /** Inclusive, in milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}

export const ALWAYS: Span = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** A cycle that was decided, without its contents. */
export type CycleHead = Pick<JournalCycle, 'seq' | 'atMs' | 'epoch'> & { readonly cycle: number };

/** An action that a cycle has started or, for the first time or for another reason, held back. */
export interface DecidedEvent {
  readonly id: number;
  readonly body: Extract<EventBody, { readonly kind: 'action' | 'waiting' }>;
}

/** Which events are wanted; `seq`: of the cycle with this sequence number. */
interface EventsOf {
  readonly machine?: string | undefined;
  readonly cluster?: string | undefined;
  readonly seq?: number | undefined;
}

interface PastEvent {
  readonly id: number;
  readonly cycle: number | null;
  readonly epoch: number | null;
  readonly event: JournalEvent;
}

/** Rows per query. */
const PAGE = 200;
/** Starts of the shard among which a cycle is looked for by its number alone. */
const MAX_STARTS = 100;
/** Events of a cycle about what it decided: its actions before they have an outcome, and what it held back. */
const DECIDED = `(json_type(body, '$.action.outcome') = 'null' OR json_extract(body, '$.kind') = 'waiting')`;
/** SQLite has no infinite times. */
const FOREVER_MS = 1e18;

type Row = Readonly<Record<string, unknown>>;

/** Most `loss` events among the last events. */
const MAX_PAST_LOSSES = 100;

export class JournalReader {
  readonly #database: DatabaseSync;
  readonly #path: string;

  /** Throws BF_JOURNAL_UNREADABLE. */
  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) throw this.#unreadable('there is no such file');
    try {
      this.#database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
      const { application } = this.#database
        .prepare(
          'SELECT application_id AS application, user_version AS version FROM pragma_application_id, pragma_user_version WHERE user_version = ?',
        )
        .get(JOURNAL_FORMAT.version) ?? { application: null };
      if (application !== JOURNAL_FORMAT.applicationId)
        throw new Error(`the file ${JOURNAL_FORMAT.isNot} in format ${JOURNAL_FORMAT.version}`);
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  close(): void {
    this.#database.close();
  }

  /** Times of the first and last cycle; null if there is none. */
  get span(): Span | null {
    const row = this.#one('SELECT min(at_ms) AS first, max(at_ms) AS last FROM cycles');
    if (row === undefined || row['first'] === null) return null;
    return { fromMs: Number(row['first']), toMs: Number(row['last']) };
  }

  /**
   * Sequence number from which to read in order to have the complete state at the first cycle since `fromMs`: the
   * beginning of the last segment that is whole by then, else of the next one. null if there is none.
   */
  startFor(fromMs: number): number | null {
    const first = this.#one('SELECT min(seq) AS seq FROM cycles WHERE at_ms >= ?', clipped(fromMs));
    if (first === undefined || first['seq'] === null) return null;
    const row =
      this.#one(
        'SELECT segment FROM cycles WHERE whole = 1 AND seq <= ? ORDER BY seq DESC LIMIT 1',
        first['seq'],
      ) ??
      this.#one('SELECT segment FROM cycles WHERE whole = 1 AND seq > ? ORDER BY seq LIMIT 1', first['seq']);
    return row === undefined ? null : Number(row['segment']);
  }

  /** The newest cycle with this number, of one start of the shard, or of its newest `MAX_STARTS`; undefined: none is kept. */
  numbered(cycle: number, epoch: number | null): CycleHead | undefined {
    let newest = epoch ?? Number.POSITIVE_INFINITY;
    for (let starts = 0; starts < MAX_STARTS; starts++) {
      const last = this.#lastUpTo(newest, Number.POSITIVE_INFINITY);
      if (last === undefined || (epoch !== null && last.epoch !== epoch)) return undefined;
      const found = this.#lastUpTo(last.epoch, cycle);
      if (found?.epoch === last.epoch && found.cycle === cycle) return found;
      newest = last.epoch - 1;
    }
    return undefined;
  }

  /** The last cycle that is not after this one, by bisection: numbers are not indexed, and grow with the sequence. */
  #lastUpTo(epoch: number, cycle: number): CycleHead | undefined {
    let [low, high] = [this.firstSeq, this.#lastSeq];
    let found: CycleHead | undefined;
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const head = this.#head('seq >= ? AND seq <= ? AND cycle IS NOT NULL ORDER BY seq DESC', low, middle);
      if (head === undefined) low = middle + 1;
      else if (head.epoch < epoch || (head.epoch === epoch && head.cycle <= cycle)) {
        found = head;
        low = middle + 1;
      } else high = head.seq - 1;
    }
    return found;
  }

  /** The oldest and the newest cycle that was decided; null if there is none. */
  get decided(): { readonly first: CycleHead; readonly last: CycleHead } | null {
    const first = this.#head('cycle IS NOT NULL ORDER BY seq');
    const last = this.#head('cycle IS NOT NULL ORDER BY seq DESC');
    return first === undefined || last === undefined ? null : { first, last };
  }

  #head(where: string, ...values: readonly number[]): CycleHead | undefined {
    const row = this.#one(`SELECT seq, at_ms, epoch, cycle FROM cycles WHERE ${where} LIMIT 1`, ...values);
    if (row === undefined) return undefined;
    const { seq, at_ms: atMs, epoch, cycle } = row;
    return { seq: Number(seq), atMs: Number(atMs), epoch: Number(epoch), cycle: Number(cycle) };
  }

  /** Where the last segment begins that is whole at a cycle; null if there is none. */
  checkpointFor(seq: number): number | null {
    const row = this.#one(
      'SELECT segment FROM cycles WHERE whole = 1 AND seq <= ? ORDER BY seq DESC LIMIT 1',
      seq,
    );
    return row === undefined ? null : Number(row['segment']);
  }

  /** The outcome of a cycle, without reading its input. */
  outcomeOf(seq: number): CycleOutcome | null {
    return outcomeIn(this.#one('SELECT cycle, outcome FROM cycles WHERE seq = ?', seq) ?? { cycle: null });
  }

  /** Cycles from a sequence number on. */
  *cycles(fromSeq: number): Generator<JournalCycle> {
    for (let next = fromSeq; ; ) {
      const rows = this.#all('SELECT * FROM cycles WHERE seq >= ? ORDER BY seq LIMIT ?', next, PAGE);
      for (const row of rows) yield this.#cycleOf(row);
      if (rows.length < PAGE) return;
      next = Number(rows.at(-1)!['seq']) + 1;
    }
  }

  /** The lowest sequence number that is kept. */
  get firstSeq(): number {
    return Number(this.#one('SELECT min(seq) AS seq FROM cycles')?.['seq'] ?? 0);
  }

  get #lastSeq(): number {
    return Number(this.#one('SELECT max(seq) AS seq FROM cycles')?.['seq'] ?? -1);
  }

  /** What a cycle started and held back, in order, after an event. */
  decidedIn(seq: number, afterId: number, limit: number): readonly DecidedEvent[] {
    const rows = this.#all(
      `SELECT id, body FROM events WHERE seq = ? AND id > ? AND ${DECIDED} ORDER BY id LIMIT ?`,
      ...[seq, afterId, limit],
    );
    return rows.map(({ id, body }) => ({
      id: Number(id),
      body: JSON.parse(body as string) as DecidedEvent['body'],
    }));
  }

  countDecidedIn(seq: number): number {
    return Number(this.#one(`SELECT count(*) AS n FROM events WHERE seq = ? AND ${DECIDED}`, seq)?.['n']);
  }

  eventsOfMachine(machine: string, span: Span): JournalEvent[] {
    return this.#events('machine = ?', [JSON.stringify(machine)], span);
  }

  /** When a machine was last bought, among its newest `limit` events; null if none of them says so. */
  boughtMs(machine: string, limit: number): number | null {
    const row = this.#one(
      `SELECT json_extract(body, '$.action.endedMs') AS at_ms
       FROM (SELECT id, body FROM events WHERE machine = ? ORDER BY id DESC LIMIT ?)
       WHERE json_extract(body, '$.action.kind') = 'Provision' AND json_extract(body, '$.action.outcome') = 'success'
       ORDER BY id DESC LIMIT 1`,
      ...[JSON.stringify(machine), limit],
    );
    const atMs = row?.['at_ms'] ?? null;
    return atMs === null ? null : Number(atMs);
  }

  /** Events of a Need, and actions that took machines from it: those have its cluster and name it in `action.from`. */
  eventsOfNeed(need: string, span: Span): JournalEvent[] {
    const name = JSON.stringify(need);
    const cluster = JSON.stringify(need.slice(0, Math.max(0, need.lastIndexOf('/'))));
    const where = `need = ? OR (cluster = ? AND json_extract(body, '$.action.from.id') = ?)`;
    return this.#events(where, [name, cluster, need], span);
  }

  /** Events of a cluster, of its Needs, and of all clusters. */
  eventsOfCluster(cluster: string, span: Span): JournalEvent[] {
    // Ids of its Needs begin with its name and a slash; '0' is the character after the slash.
    const name = JSON.stringify(cluster).slice(0, -1);
    const where = `cluster = ? OR cluster = '""' OR (need >= ? AND need < ?)`;
    return this.#events(where, [JSON.stringify(cluster), `${name}/`, `${name}0`], span);
  }

  /** Events before an id, newest first, with the cycle that was the last by then. */
  eventsBefore(id: number, { machine, cluster, seq }: EventsOf, limit: number): readonly PastEvent[] {
    const names = Object.entries({ machine, cluster }).filter(([, name]) => name !== undefined);
    const keys = [
      ...names.map(([key, name]) => [key, JSON.stringify(name)] as const),
      ...(seq === undefined ? [] : [['seq', seq] as const]),
    ];
    const rows = this.#all(
      `SELECT events.*, cycles.cycle AS cycle, cycles.epoch AS epoch
       FROM events LEFT JOIN cycles ON cycles.seq = events.seq
       WHERE events.id < ?${keys.map(([key]) => ` AND events.${key} = ?`).join('')}
       ORDER BY events.id DESC LIMIT ?`,
      ...[id, ...keys.map(([, value]) => value), limit],
    );
    return rows.map((row) => ({
      id: Number(row['id']),
      cycle: row['cycle'] === null ? null : Number(row['cycle']),
      epoch: row['cycle'] === null ? null : Number(row['epoch']),
      event: eventOf(row),
    }));
  }

  /** Id of the first event after a time, by bisection: times are not indexed, and grow with the ids. */
  firstEventAfter(ms: number): number | null {
    let [low, high] = [this.#eventId('min'), this.#eventId('max') + 1];
    const end = high;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.#one('SELECT id, at_ms FROM events WHERE id >= ? ORDER BY id LIMIT 1', middle);
      if (row === undefined || Number(row['at_ms']) > ms) high = middle;
      else low = Number(row['id']) + 1;
    }
    return low >= end ? null : low;
  }

  #eventId(which: 'min' | 'max'): number {
    return Number(this.#one(`SELECT ${which}(id) AS id FROM events`)?.['id'] ?? 0);
  }

  /** Points of the series from a time on, about one every ten seconds, oldest first. */
  points(fromMs: number): SeriesPoint[] {
    const rows = this.#all(
      `SELECT json_extract(outcome, '$.point') AS point FROM cycles
       WHERE at_ms >= ? AND json_type(outcome, '$.point') = 'object' ORDER BY seq`,
      clipped(fromMs),
    );
    return rows.map((row) => JSON.parse(row['point'] as string) as SeriesPoint);
  }

  /** The last actions that ended and the last log lines, oldest first, among the newest `among` events of all kinds. */
  lastEvents(limit: number, among: number): JournalEvent[] {
    const newest = (which: string, most: number) =>
      this.#all(
        `SELECT * FROM events WHERE id > (SELECT coalesce(max(id), 0) FROM events) - ? AND (${which})
         ORDER BY id DESC LIMIT ?`,
        ...[among, most],
      );
    const kind = `json_extract(body, '$.kind')`;
    const rows = [
      ...newest(`${kind} IN ('log', 'losses') OR json_type(body, '$.action.outcome') = 'text'`, limit),
      // With their own limit: the loss of a zone writes one for each of its machines.
      ...newest(`${kind} = 'loss'`, MAX_PAST_LOSSES),
    ].sort((a, b) => Number(b['id']) - Number(a['id']));
    return rows.map(eventOf).reverse();
  }

  #events(where: string, names: readonly string[], { fromMs, toMs }: Span): JournalEvent[] {
    const rows = this.#all(
      `SELECT * FROM events WHERE (${where}) AND at_ms >= ? AND at_ms <= ? ORDER BY id`,
      ...[...names, clipped(fromMs), clipped(toMs)],
    );
    return rows.map(eventOf);
  }

  #cycleOf(row: Row): JournalCycle {
    return {
      seq: Number(row['seq']),
      epoch: Number(row['epoch']),
      atMs: Number(row['at_ms']),
      begin: row['begin'] as Begin | null,
      isWhole: row['whole'] === 1,
      isDecided: row['is_decided'] === 1,
      outcome: outcomeIn(row),
      input: this.#inputOf(row['input'] as Uint8Array),
    };
  }

  #inputOf(packed: Uint8Array): Uint8Array {
    const body = packed.subarray(1);
    try {
      return packed[0] === DEFLATED_INPUT ? inflateRawSync(body) : body;
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  #one(sql: string, ...values: readonly unknown[]): Row | undefined {
    return this.#all(sql, ...values)[0];
  }

  #all(sql: string, ...values: readonly unknown[]): Row[] {
    try {
      return this.#database.prepare(sql).all(...(values as number[])) as Row[];
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  #unreadable(cause: unknown): BigFleetError {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new BigFleetError('BF_JOURNAL_UNREADABLE', `${why}.`, { path: this.#path, cause });
  }
}

function outcomeIn({ cycle, outcome }: Row): CycleOutcome | null {
  if (cycle === null) return null;
  return { cycle: Number(cycle), ...(JSON.parse(outcome as string) as Omit<CycleOutcome, 'cycle'>) };
}

function eventOf(row: Row): JournalEvent {
  return {
    atMs: Number(row['at_ms']),
    machine: nameIn(row['machine']),
    cluster: nameIn(row['cluster']),
    need: nameIn(row['need']),
    body: JSON.parse(row['body'] as string) as JournalEvent['body'],
  };
}

function clipped(ms: number): number {
  return Math.min(FOREVER_MS, Math.max(-FOREVER_MS, ms));
}

function nameIn(value: unknown): string | null {
  return typeof value === 'string' ? (JSON.parse(value) as string) : null;
}
