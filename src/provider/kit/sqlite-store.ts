// The durable store: one SQLite file. Write-ahead log with synchronous=FULL: a commit is on disk before anybody is
// told, also when the power fails; NORMAL would be enough for a killed process, but not for a killed machine. The price
// is one flush per commit, so all writes that arrive in one turn of the event loop share one. The file is held
// exclusively: two providers on one file would both think they own the fleet.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { BigFleetError, type MachineState } from '../../model/index.ts';
import type { Changes, Counters, FlightRow, MachineRow, MarkRow, Store, StoredState } from './store.ts';
import { KINDS } from './transitions.ts';

/** Tells our files from those of other programs: "BFlt". */
const APPLICATION_ID = 0x42466c74;
const FORMAT = 1;

// Names are blobs: texts in SQLite may end at a NUL, and ids may hold one.
const SCHEMA = `
  CREATE TABLE counters (only INTEGER PRIMARY KEY CHECK (only = 1), born INTEGER, revision INTEGER, operations INTEGER) STRICT;
  CREATE TABLE machines (slot INTEGER PRIMARY KEY, state INTEGER, revision INTEGER, described INTEGER, body BLOB,
    created INTEGER, configured INTEGER, drained INTEGER, deleted INTEGER) STRICT;
  CREATE TABLE marks (touched INTEGER PRIMARY KEY, machine BLOB, shard BLOB, epoch INTEGER, sequence INTEGER,
    UNIQUE (machine, shard)) STRICT;
  CREATE TABLE flights (slot INTEGER PRIMARY KEY, kind TEXT, grace REAL, blob BLOB) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
`;

interface Waiting {
  readonly changes: Changes;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  #waiting: Waiting[] = [];
  #failure: Error | null = null;

  /** Opens or makes the file. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE. */
  constructor(path: string) {
    this.#database = open(path);
    this.#statements = prepare(this.#database);
  }

  load(): Promise<StoredState> {
    const { loadCounters, loadMachines, loadMarks, loadFlights } = this.#statements;
    const counters = loadCounters.get();
    return Promise.resolve({
      counters: counters === undefined ? null : (counters as unknown as Counters),
      machines: map(loadMachines, machineRow),
      marks: map(loadMarks, markRow),
      flights: map(loadFlights, flightRow),
    });
  }

  write(changes: Changes): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commit());
    });
  }

  close(): Promise<void> {
    if (!this.#database.isOpen) return Promise.resolve();
    this.#commit();
    this.#database.close();
    return Promise.resolve();
  }

  /** All that waits, in one transaction. */
  #commit(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      if (this.#failure !== null) throw this.#failure;
      this.#database.exec('BEGIN IMMEDIATE');
      for (const { changes } of batch) this.#apply(changes);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { resolve } of batch) resolve();
  }

  #apply(changes: Changes): void {
    const statements = this.#statements;
    for (const { slot, state, revision, describedBytes, body, operations } of changes.machines ?? []) {
      statements.saveMachine.run(slot, state, revision, describedBytes, body, ...operations);
    }
    for (const { machine, shard } of changes.forgottenMarks ?? []) {
      statements.dropMark.run(Buffer.from(machine), Buffer.from(shard));
    }
    for (const { machine, shard, epoch, sequence } of changes.marks ?? []) {
      statements.saveMark.run(Buffer.from(machine), Buffer.from(shard), epoch, sequence);
    }
    for (const { slot, kind, graceSeconds, bootstrapBlob } of changes.flights ?? []) {
      statements.saveFlight.run(slot, kind, graceSeconds, bootstrapBlob);
    }
    for (const slot of changes.landed ?? []) statements.dropFlight.run(slot);
    if (changes.counters !== undefined) {
      const { born, revision, operations } = changes.counters;
      statements.saveCounters.run(born, revision, operations);
    }
  }
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: DatabaseSync) {
  const statements = {
    loadCounters: database.prepare('SELECT born, revision, operations FROM counters'),
    loadMachines: database.prepare(
      'SELECT slot, state, revision, described, body, created, configured, drained, deleted FROM machines ORDER BY slot',
    ),
    loadMarks: database.prepare('SELECT machine, shard, epoch, sequence FROM marks ORDER BY touched'),
    loadFlights: database.prepare('SELECT slot, kind, grace, blob FROM flights'),
    saveCounters: database.prepare('REPLACE INTO counters VALUES (1, ?, ?, ?)'),
    saveMachine: database.prepare('REPLACE INTO machines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    // A replaced mark gets a new, higher number: their order is that of the last touch.
    saveMark: database.prepare('REPLACE INTO marks (machine, shard, epoch, sequence) VALUES (?, ?, ?, ?)'),
    dropMark: database.prepare('DELETE FROM marks WHERE machine = ? AND shard = ?'),
    saveFlight: database.prepare('REPLACE INTO flights VALUES (?, ?, ?, ?)'),
    dropFlight: database.prepare('DELETE FROM flights WHERE slot = ?'),
  };
  // Tokens reach 2^63 - 1.
  statements.loadMarks.setReadBigInts(true);
  return statements;
}

function open(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    // Exclusive locks are taken by the first write, so there has to be one now.
    database.exec('BEGIN IMMEDIATE');
    const application = database.prepare('PRAGMA application_id').get()?.['application_id'];
    const format = database.prepare('PRAGMA user_version').get()?.['user_version'];
    const isNew = database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0;
    if (isNew) database.exec(SCHEMA);
    else if (application !== APPLICATION_ID || format !== FORMAT) {
      throw new Error(`the file is no state of a provider in format ${FORMAT}`);
    }
    database.exec('COMMIT');
    return database;
  } catch (cause) {
    database?.close();
    const isLocked = cause instanceof Error && /database is locked/.test(cause.message);
    const detail = `${path}: ${cause instanceof Error ? cause.message : String(cause)}.`;
    throw new BigFleetError(isLocked ? 'BF_STORE_LOCKED' : 'BF_STORE_UNREADABLE', detail, { cause });
  }
}

type Row = Record<string, unknown>;

function* map<T>(statement: StatementSync, convert: (row: Row) => T): Iterable<T> {
  for (const row of statement.iterate()) yield convert(row);
}

function machineRow(row: Row): MachineRow {
  return {
    slot: row['slot'] as number,
    state: row['state'] as MachineState,
    revision: row['revision'] as number,
    describedBytes: row['described'] as number,
    body: row['body'] as Uint8Array,
    operations: [row['created'], row['configured'], row['drained'], row['deleted']] as number[],
  };
}

function markRow(row: Row): MarkRow {
  return {
    machine: Buffer.from(row['machine'] as Uint8Array).toString(),
    shard: Buffer.from(row['shard'] as Uint8Array).toString(),
    epoch: row['epoch'] as bigint,
    sequence: row['sequence'] as bigint,
  };
}

function flightRow(row: Row): FlightRow {
  return {
    slot: row['slot'] as number,
    kind: KINDS.find((kind) => kind === row['kind'])!,
    graceSeconds: row['grace'] as number,
    bootstrapBlob: row['blob'] as Uint8Array,
  };
}
