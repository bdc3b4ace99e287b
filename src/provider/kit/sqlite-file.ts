// A SQLite file that one process owns. Write-ahead log with synchronous=FULL: a commit is on disk before anybody is told,
// also when the power fails; NORMAL would be enough for a killed process, but not for a killed machine. The price is one
// flush per commit, so all writes that arrive in one turn of the event loop share one, but for writers that cannot wait.

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BigFleetError, type ErrorCode } from '../../model/index.ts';

/** What a file holds. */
export interface SqliteFormat {
  /** Tells our files from those of other programs: four letters as a number. */
  readonly applicationId: number;
  readonly version: number;
  /** Tables of a new file. */
  readonly schema: string;
  /** What is said of a file with something else in it, as in "the file … in format 1". */
  readonly isNot: string;
  /**
   * Other processes may read it while it is written. Its last commits may be lost with the power, though never with the
   * process: for what is good to know and not needed to go on.
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
   * Opens or makes the file, and holds it exclusively. Throws BF_STORE_LOCKED, BF_STORE_UNREADABLE, or BF_STORE_FAILED if
   * the disk is full.
   */
  constructor(path: string, format: SqliteFormat) {
    this.database = open(path, format);
  }

  /** Runs `apply` in a transaction with everything else of this turn; resolves when that is on disk. */
  write(apply: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ apply, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commit());
    });
  }

  /** Runs `apply` in a transaction of its own, after what waits; it is on disk when the call returns, or it throws. */
  writeNow(apply: () => void): void {
    this.#commit();
    this.#transact([apply]);
  }

  /** Commits what waits, and lets go of the file. */
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

  /** After one failure nothing is written any more: what came later may build on what was lost. */
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

/** Endings of the files that SQLite keeps beside a database. */
const COMPANIONS = ['', '-wal', '-shm', '-journal'];

/** Whether `name` is the database, or one of the files that SQLite keeps beside it. */
export function isSqliteFileOf(database: string, name: string): boolean {
  return COMPANIONS.some((end) => name === `${database}${end}`);
}

/** Whether another process, or this one, has a file of ours open. One that is missing or damaged is in use by none. */
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
 * What SQLite reports of a disk that cannot be written to: SQLITE_FULL, and of SQLITE_IOERR those of write, fsync,
 * dir_fsync, truncate and shmsize. https://sqlite.org/rescode.html
 */
const UNWRITABLE: readonly unknown[] = [13, 778, 1034, 1290, 1546, 4874];

/** A file that cannot be written is not one that cannot be read: it is not to be replaced or restored. */
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
    // Exclusive locks are taken by the first write, so there has to be one now.
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
