// The durable demand store: one SQLite file, apart from the brain's, which lives on another thread and holds its own
// exclusively. As there, a commit is on disk before anybody is told, and all writes of one turn of the event loop share
// one flush.

import { DatabaseSync } from 'node:sqlite';
import { BigFleetError, type NeedKey } from '../../model/index.ts';
import type { BaselineRow, DemandChanges, DemandStore, FirstSeenRow } from './demand-store.ts';

/** Tells our files from those of other programs: "BFdm". */
const APPLICATION_ID = 0x4246646d;
const FORMAT = 1;

// Names are blobs: texts in SQLite may end at a NUL, and groups hold one.
const SCHEMA = `
  CREATE TABLE baselines (cluster BLOB PRIMARY KEY, rows INTEGER, totals TEXT, refused INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE seen (cluster BLOB, fingerprint BLOB, grouped BLOB, first REAL, absent REAL,
    PRIMARY KEY (cluster, fingerprint, grouped)) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
`;

interface Waiting {
  readonly changes: DemandChanges;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteDemandStore implements DemandStore {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepare>;
  #waiting: Waiting[] = [];
  #failure: Error | null = null;

  /** Opens or makes the file. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE. */
  constructor(path: string) {
    this.#database = open(path);
    this.#statements = prepare(this.#database);
  }

  load(): ReturnType<DemandStore['load']> {
    const { loadBaselines, loadSeen } = this.#statements;
    return Promise.resolve({
      baselines: loadBaselines.all().map(baselineRow),
      seen: loadSeen.all().map(seenRow),
    });
  }

  write(changes: DemandChanges): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commit());
    });
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#commit();
    this.#database.close();
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

  #apply({ baseline, seen = [], forgotten = [] }: DemandChanges): void {
    const { saveBaseline, saveSeen, dropSeen } = this.#statements;
    if (baseline !== undefined) {
      const { cluster, rows, totals, isRefused } = baseline;
      saveBaseline.run(Buffer.from(cluster), rows, JSON.stringify([...totals]), isRefused ? 1 : 0);
    }
    for (const key of forgotten) dropSeen.run(...blobsOf(key));
    for (const { key, firstSeenMs, absentSinceMs } of seen) {
      saveSeen.run(...blobsOf(key), firstSeenMs, absentSinceMs);
    }
  }
}

function prepare(database: DatabaseSync) {
  return {
    loadBaselines: database.prepare('SELECT cluster, rows, totals, refused FROM baselines'),
    loadSeen: database.prepare('SELECT cluster, fingerprint, grouped, first, absent FROM seen'),
    saveBaseline: database.prepare('REPLACE INTO baselines VALUES (?, ?, ?, ?)'),
    saveSeen: database.prepare('REPLACE INTO seen VALUES (?, ?, ?, ?, ?)'),
    dropSeen: database.prepare('DELETE FROM seen WHERE cluster = ? AND fingerprint = ? AND grouped = ?'),
  };
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
      throw new Error(`the file does not hold demand in format ${FORMAT}`);
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

function baselineRow(row: Row): BaselineRow {
  return {
    cluster: textOf(row['cluster']),
    rows: row['rows'] as number,
    totals: new Map(JSON.parse(row['totals'] as string) as [string, number][]),
    isRefused: row['refused'] === 1,
  };
}

function seenRow(row: Row): FirstSeenRow {
  return {
    key: {
      cluster: textOf(row['cluster']),
      fingerprint: textOf(row['fingerprint']),
      group: textOf(row['grouped']),
    },
    firstSeenMs: row['first'] as number,
    absentSinceMs: row['absent'] as number | null,
  };
}

function blobsOf({ cluster, fingerprint, group }: NeedKey): [Buffer, Buffer, Buffer] {
  return [Buffer.from(cluster), Buffer.from(fingerprint), Buffer.from(group)];
}

function textOf(blob: unknown): string {
  return Buffer.from(blob as Uint8Array).toString();
}
