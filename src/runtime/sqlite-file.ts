// A SQLite file owned by one process. Write-ahead log with synchronous=FULL: a commit is on disk before it is
// acknowledged, so it survives a power failure; NORMAL survives only a killed process. The price is one flush per
// commit, so all writes of one turn of the event loop share a commit, except `writeNow`. Used by the shard's stores and
// journal and by the kit's store.

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BigFleetError, type ErrorCode } from '../model/index.ts';

export interface SqliteFormat {
  /** Identifies BigFleet's files: four ASCII letters as a number. */
  readonly applicationId: number;
  readonly version: number;
  /** DDL of a new file. */
  readonly schema: string;
  /** Error text for a file of another format, as in "the file … in format 1". */
  readonly isNot: string;
  /**
   * Other processes may read the file while it is written. A power failure may lose the last commits, a killed process
   * does not: for data that is not needed for recovery.
   */
  readonly isShared?: true;
}

interface Waiting {
  readonly apply: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteFile {
  readonly database: DatabaseSync;
  #waiting: Waiting[] = [];
  #failure: Error | null = null;

  /**
   * Opens or creates the file and locks it exclusively. Throws BF_STORE_LOCKED, BF_STORE_UNREADABLE, or BF_STORE_FAILED if
   * the disk is full.
   */
  constructor(path: string, format: SqliteFormat) {
    this.database = open(path, format);
  }

  /** Runs `apply` in one transaction with the other writes of this turn; resolves when it is on disk. */
  write(apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ apply, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commit());
    });
  }

  /** Commits pending writes, then runs `apply` in its own transaction; on disk when the call returns, or it throws. */
  writeNow(apply: () => void): void {
    this.#commit();
    this.#transact([apply]);
  }

  /** Commits pending writes and releases the file. */
  close(): void {
    if (!this.database.isOpen) return;
    this.#commit();
    this.database.close();
  }

  #commit(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    try {
      this.#transact(batch.map(({ apply }) => apply));
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { resolve } of batch) resolve();
  }

  /** After one failure all later writes fail: they may depend on the lost one. */
  #transact(applies: readonly (() => void)[]): void {
    try {
      if (this.#failure !== null) throw this.#failure;
      this.database.exec('BEGIN IMMEDIATE');
      for (const apply of applies) apply();
      this.database.exec('COMMIT');
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
      if (this.database.isOpen && this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Suffixes of a database and the files that SQLite keeps beside it. */
const COMPANIONS = ['', '-wal', '-shm', '-journal'];

/** Whether `name` is the database, or one of the files that SQLite keeps beside it. */
export function isSqliteFileOf(database: string, name: string): boolean {
  return COMPANIONS.some((end) => name === `${database}${end}`);
}

/** Whether a process, including this one, holds the file. False for a missing or damaged file. */
export function isSqliteFileHeld(path: string): boolean {
  if (!existsSync(path)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    return isLocked(error);
  } finally {
    database?.close();
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && /database is locked/.test(error.message);
}

/**
 * SQLite's codes for a disk that cannot be written: SQLITE_FULL, and of SQLITE_IOERR those of write, fsync, dir_fsync,
 * truncate and shmsize. https://sqlite.org/rescode.html
 */
const UNWRITABLE: readonly unknown[] = [13, 778, 1034, 1290, 1546, 4874];

/** A file that cannot be written is distinct from one that cannot be read: it must not be replaced or restored. */
function codeOf(cause: unknown): ErrorCode {
  if (isLocked(cause)) return 'BF_STORE_LOCKED';
  const isUnwritable = cause instanceof Error && 'errcode' in cause && UNWRITABLE.includes(cause.errcode);
  return isUnwritable ? 'BF_STORE_FAILED' : 'BF_STORE_UNREADABLE';
}

function open(path: string, { applicationId, version, schema, isNot, isShared }: SqliteFormat): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    if (!isShared) database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isShared ? 'NORMAL' : 'FULL'};`);
    // SQLite acquires the exclusive lock at the first write, so begin one now.
    database.exec('BEGIN IMMEDIATE');
    const application = database.prepare('PRAGMA application_id').get()?.['application_id'];
    const format = database.prepare('PRAGMA user_version').get()?.['user_version'];
    const isNew = database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] === 0;
    if (isNew) {
      database.exec(schema);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`);
    } else if (application !== applicationId || format !== version) {
      throw new Error(`the file ${isNot} in format ${version}`);
    }
    database.exec('COMMIT');
    return database;
  } catch (cause) {
    database?.close();
    const detail = `${path}: ${cause instanceof Error ? cause.message : String(cause)}.`;
    throw new BigFleetError(codeOf(cause), detail, { cause });
  }
}
