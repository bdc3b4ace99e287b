// The durable demand store: the SQLite file `demand.db` with the extent of each cluster's last demand (`baselines`, for
// the guard against collapses) and first-seen times (`seen`). It is separate from the controller's file, `brain.db`,
// which another thread locks exclusively. Used by demand-store-worker.ts, on its thread.

import type { DatabaseSync } from 'node:sqlite';
import { BigFleetError, type NeedKey } from '../../model/index.ts';
import { SqliteFile, type SqliteFormat } from '../../runtime/sqlite-file.ts';
import { failpoint } from '../failpoints.ts';
import type { BaselineRow, DemandChanges, DemandStore, FirstSeenRow } from './demand-store.ts';

// Names are blobs: texts in SQLite may end at a NUL, and groups contain one.
const SCHEMA = `
  CREATE TABLE baselines (cluster BLOB PRIMARY KEY, rows INTEGER, totals TEXT, refused INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE seen (cluster BLOB, fingerprint BLOB, grouped BLOB, first REAL, absent REAL,
    PRIMARY KEY (cluster, fingerprint, grouped)) STRICT, WITHOUT ROWID;
`;

const FORMAT: SqliteFormat = {
  applicationId: 0x4246646d, // "BFdm"
  version: 1,
  schema: SCHEMA,
  isNot: 'does not hold demand',
};

export class SqliteDemandStore implements DemandStore {
  readonly #path: string;
  readonly #file: SqliteFile;
  readonly #statements: ReturnType<typeof prepare>;

  /** Opens or creates the file. Throws BF_STORE_LOCKED, BF_STORE_UNREADABLE or BF_STORE_FAILED; writing, the latter. */
  constructor(path: string) {
    this.#path = path;
    this.#file = new SqliteFile(path, FORMAT);
    this.#statements = prepare(this.#file.database);
  }

  load(): ReturnType<DemandStore['load']> {
    const { loadBaselines, loadSeen } = this.#statements;
    return Promise.resolve({
      baselines: loadBaselines.all().map(baselineRow),
      seen: loadSeen.all().map(seenRow),
    });
  }

  async write(changes: DemandChanges): Promise<void> {
    failpoint('demand.before-write');
    try {
      await this.#file.write(() => this.#apply(changes));
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new BigFleetError('BF_STORE_FAILED', `${message}.`, { path: this.#path, cause });
    }
    failpoint('demand.after-write');
  }

  close(): void {
    this.#file.close();
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
