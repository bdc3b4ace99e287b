// The data directory of a shard: who may use it, which files it has, and the epoch. The epoch says which start of the
// shard this is; providers refuse calls of a lower one. So it must rise at every start, whatever happens: the file is
// replaced as a whole and on disk before the number is used, and a shard that cannot tell what it has used does not start.
//
// A directory that is new may be that of a new shard or of one that has lost its volume; nobody can tell before machines
// are listed. So it does not begin at 1, where all marks of a former life would be in the way, but at the microsecond of
// the clock: above every count of starts, and above every earlier loss. docs/adr/0028-a-new-directory-begins-at-the-clock.md

import { randomInt } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BigFleetError, printable } from '../model/index.ts';
import {
  directoryError,
  isSqliteFileOf,
  makeDirectory,
  SqliteFile,
  type SqliteFormat,
} from '../provider/index.ts';
import { failpoint } from './failpoints.ts';
import { journalFileIn } from './journal/format.ts';

/** Held open for its lock alone, which ends with the process however it ends. */
const LOCK: SqliteFormat = {
  applicationId: 0x42466c6b, // "BFlk"
  version: 1,
  schema: 'CREATE TABLE locks (held INTEGER) STRICT',
  isNot: 'is no lock of a data directory',
};

const EPOCH = 'epoch';
const DATABASES = ['lock.db', 'brain.db', 'demand.db', 'journal.db'] as const;
/** A journal that could not be read was put aside under this name. */
const BROKEN_JOURNAL = 'journal.db.unreadable';

/** Whether a shard of this version, or of one before it, writes a file of this name into its data directory. */
export function isDataDirFile(name: string): boolean {
  if (name === EPOCH || name === `${EPOCH}.new` || name === BROKEN_JOURNAL) return true;
  return DATABASES.some((database) => isSqliteFileOf(database, name));
}
const MAX_EPOCH = 2n ** 63n - 1n;

export interface DataDir {
  /** Rises with every start of the shard; the time of the first, in microseconds. */
  readonly epoch: bigint;
  /** This is its first start: whatever was before has been lost. */
  readonly isNew: boolean;
  /** Files of the brain and of the hands. */
  readonly brainFile: string;
  readonly demandFile: string;
  /** The next start begins above this. For epochs that others have seen and the directory has not. */
  raiseTo(epoch: bigint): void;
  readonly journalFile: string;
  /** Lets go of the directory. */
  close(): void;
}

/**
 * Makes or takes over the directory and begins the next epoch, `atLeast` if that is higher; 0: nobody asked for one.
 * Throws BF_STORE_LOCKED if another process has it, BF_EPOCH_LOST, BF_DATA_DIR, or BF_STORE_UNREADABLE for the lock.
 */
export function openDataDir(path: string, atLeast: bigint, clock: () => bigint = microseconds): DataDir {
  attempt(path, () => makeDirectory(path));
  const lock = lockDirectory(path);
  try {
    const brainFile = join(path, 'brain.db');
    const demandFile = join(path, 'demand.db');
    const hasState = existsSync(brainFile) || existsSync(demandFile);
    const isNew = !hasState && !existsSync(join(path, EPOCH));
    const epoch = isNew && atLeast === 0n ? clock() : nextEpoch(path, atLeast);
    const write = (value: bigint): void => attempt(path, () => replaceFile(path, EPOCH, `${value}\n`));
    write(epoch);
    const raiseTo = (seen: bigint): void => {
      if (seen > epoch && seen < MAX_EPOCH) write(seen);
    };
    const journalFile = journalFileIn(path);
    return { epoch, isNew, brainFile, demandFile, journalFile, raiseTo, close: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Makes this process the only one that uses an existing directory. Throws BF_STORE_LOCKED or BF_STORE_UNREADABLE. */
export function lockDirectory(path: string): { close(): void } {
  return new SqliteFile(join(path, 'lock.db'), LOCK);
}

/** Two directories that begin in the same millisecond should not begin at the same number. */
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

/** null unless a higher one can follow. */
function epochOf(text: string): bigint | null {
  if (!/^[1-9]\d{0,18}\n?$/.test(text)) return null;
  const epoch = BigInt(text.trim());
  return epoch < MAX_EPOCH ? epoch : null;
}

/** At any moment the file is the old or the new one, and the new one when this returns, also if the power fails. */
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
