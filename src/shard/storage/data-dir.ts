// The data directory of a shard: its lock, its files and the epoch. The epoch is a fencing token that identifies one
// start of the shard; providers refuse calls with a lower one. So it must increase at every start: the file is
// replaced atomically and synced before the number is used, and a shard that cannot read its last epoch does not
// start. Opened by process/shard.ts.
//
// A new directory belongs to a new shard or to one that has lost its volume; the shard cannot tell which before it has
// listed the machines. So the epoch does not begin at 1, which would be below all epochs of a lost volume, but at the
// clock's microseconds: above every count of starts, and above the beginning after every earlier loss.
// docs/adr/0028-a-new-directory-begins-at-the-clock.md

import { randomInt } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BigFleetError, printable } from '../../model/index.ts';
import { directoryError, makeDirectory } from '../../runtime/directories.ts';
import { isSqliteFileOf, SqliteFile, type SqliteFormat } from '../../runtime/sqlite-file.ts';
import { failpoint } from '../failpoints.ts';
import { journalFileIn } from '../journal/format.ts';

/** Held open only for its lock, which the kernel releases when the process ends, after a crash too. */
const LOCK: SqliteFormat = {
  applicationId: 0x42466c6b, // "BFlk"
  version: 1,
  schema: 'CREATE TABLE locks (held INTEGER) STRICT',
  isNot: 'is no lock of a data directory',
};

const EPOCH = 'epoch';
const DATABASES = ['lock.db', 'brain.db', 'demand.db', 'journal.db'] as const;
/** An unreadable journal is renamed to this. */
const BROKEN_JOURNAL = 'journal.db.unreadable';

/** Whether this version of the shard, or an earlier one, writes a file of this name into its data directory. */
export function isDataDirFile(name: string): boolean {
  if (name === EPOCH || name === `${EPOCH}.new` || name === BROKEN_JOURNAL) return true;
  return DATABASES.some((database) => isSqliteFileOf(database, name));
}
const MAX_EPOCH = 2n ** 63n - 1n;

export interface DataDir {
  /** Increases with every start of the shard; the first one is the clock's time in microseconds. */
  readonly epoch: bigint;
  /** First start with this directory: any earlier state of the shard is lost. */
  readonly isNew: boolean;
  readonly controllerFile: string;
  readonly demandFile: string;
  /** The next start begins above this: for epochs found on machines that are higher than the directory's. */
  raiseTo(epoch: bigint): void;
  readonly journalFile: string;
  /** Releases the lock. */
  close(): void;
}

/**
 * Creates or opens the directory, locks it and begins the next epoch, or `atLeast` if that is higher; 0: no minimum.
 * Throws BF_STORE_LOCKED if another process holds it, BF_EPOCH_LOST, BF_DATA_DIR, or BF_STORE_UNREADABLE for the lock.
 */
export function openDataDir(path: string, atLeast: bigint, clock: () => bigint = microseconds): DataDir {
  attempt(path, () => makeDirectory(path));
  const lock = lockDirectory(path);
  try {
    const controllerFile = join(path, 'brain.db');
    const demandFile = join(path, 'demand.db');
    const hasState = existsSync(controllerFile) || existsSync(demandFile);
    const isNew = !hasState && !existsSync(join(path, EPOCH));
    const epoch = isNew && atLeast === 0n ? clock() : nextEpoch(path, atLeast);
    const write = (value: bigint): void => attempt(path, () => replaceFile(path, EPOCH, `${value}\n`));
    write(epoch);
    const raiseTo = (seen: bigint): void => {
      if (seen > epoch && seen < MAX_EPOCH) write(seen);
    };
    const journalFile = journalFileIn(path);
    return { epoch, isNew, controllerFile, demandFile, journalFile, raiseTo, close: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Makes this process the only one that uses an existing directory. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE. */
export function lockDirectory(path: string): { close(): void } {
  return new SqliteFile(join(path, 'lock.db'), LOCK);
}

/** The random part makes it unlikely that two directories created in the same millisecond get the same epoch. */
function microseconds(): bigint {
  return BigInt(Date.now()) * 1000n + BigInt(randomInt(1000));
}

function nextEpoch(path: string, atLeast: bigint): bigint {
  const file = join(path, EPOCH);
  const text = existsSync(file) ? attempt(path, () => readFileSync(file, 'utf8')) : null;
  const last = text === null ? null : epochOf(text);
  if (last !== null) return last + 1n > atLeast ? last + 1n : atLeast;
  if (atLeast > 0n) return atLeast;
  const found = text === null ? 'is missing' : `holds ${printable(JSON.stringify(text.slice(0, 40)))}`;
  throw new BigFleetError('BF_EPOCH_LOST', `${file} ${found}.`);
}

/** null if the text is not an epoch, or no higher one can follow. */
function epochOf(text: string): bigint | null {
  if (!/^[1-9]\d{0,18}\n?$/.test(text)) return null;
  const epoch = BigInt(text.trim());
  return epoch < MAX_EPOCH ? epoch : null;
}

/** Atomic and durable: after a power failure the file is the old or the new one, and the new one once this has returned. */
function replaceFile(directory: string, name: string, text: string): void {
  const file = join(directory, name);
  const written = openSync(`${file}.new`, 'w');
  try {
    writeFileSync(written, text);
    fsyncSync(written);
  } finally {
    closeSync(written);
  }
  failpoint('epoch.before-write');
  renameSync(`${file}.new`, file);
  failpoint('epoch.after-write');
  const entries = openSync(directory, 'r');
  try {
    fsyncSync(entries);
  } finally {
    closeSync(entries);
  }
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw directoryError(path, cause);
  }
}
