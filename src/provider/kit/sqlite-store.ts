// The durable store: one SQLite file, locked exclusively, because two providers on one file would both act as its
// owner. The main program of a provider opens it and passes it to `Provider.open`, as `bigfleet provider fake --state`
// does.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { MachineState } from '../../model/index.ts';
import { SqliteFile, type SqliteFormat } from '../../runtime/sqlite-file.ts';
import type { Changes, Counters, FlightRow, MachineRow, MarkRow, Store, StoredState } from './store.ts';
import { TRANSITION_KINDS } from './transitions.ts';

// Names are blobs: SQLite may end a text at a NUL, and ids may contain one.
const SCHEMA = `
  CREATE TABLE counters (only INTEGER PRIMARY KEY CHECK (only = 1), born INTEGER, revision INTEGER, operations INTEGER) STRICT;
  CREATE TABLE machines (slot INTEGER PRIMARY KEY, state INTEGER, revision INTEGER, described INTEGER, body BLOB,
    created INTEGER, configured INTEGER, drained INTEGER, deleted INTEGER) STRICT;
  CREATE TABLE marks (touched INTEGER PRIMARY KEY, machine BLOB, shard BLOB, epoch INTEGER, sequence INTEGER,
    UNIQUE (machine, shard)) STRICT;
  CREATE TABLE flights (slot INTEGER PRIMARY KEY, kind TEXT, grace REAL, blob BLOB) STRICT;
`;

const FORMAT: SqliteFormat = {
  applicationId: 0x42466c74, // "BFlt"
  version: 1,
  schema: SCHEMA,
  isNot: 'is no state of a provider',
};

/** A store in one SQLite file, safe against SIGKILL at any moment. One process at a time may have it open. */
export class SqliteStore implements Store {
  readonly #file: SqliteFile;
  readonly #statements: Statements;

  /** Opens or creates the file. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE. */
  constructor(path: string) {
    this.#file = new SqliteFile(path, FORMAT);
    this.#statements = prepare(this.#file.database);
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
    return this.#file.write(() => this.#apply(changes));
  }

  close(): Promise<void> {
    this.#file.close();
    return Promise.resolve();
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
    // REPLACE assigns a new, higher rowid, so rowids are in the order of last use.
    saveMark: database.prepare('REPLACE INTO marks (machine, shard, epoch, sequence) VALUES (?, ?, ?, ?)'),
    dropMark: database.prepare('DELETE FROM marks WHERE machine = ? AND shard = ?'),
    saveFlight: database.prepare('REPLACE INTO flights VALUES (?, ?, ?, ?)'),
    dropFlight: database.prepare('DELETE FROM flights WHERE slot = ?'),
  };
  // Tokens reach 2^63 - 1.
  statements.loadMarks.setReadBigInts(true);
  return statements;
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
    kind: TRANSITION_KINDS.find((kind) => kind === row['kind'])!,
    graceSeconds: row['grace'] as number,
    bootstrapBlob: row['blob'] as Uint8Array,
  };
}
