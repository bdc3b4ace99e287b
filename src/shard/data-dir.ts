// The data directory of a shard: who may use it, which files it has, and the epoch. The epoch says which start of the
// shard this is; providers refuse calls of a lower one. So it must rise at every start, whatever happens: the file is
// replaced as a whole and on disk before the number is used, and a shard that cannot tell what it has used does not start.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { BigFleetError, printable } from '../model/index.ts';
import { SqliteFile, type SqliteFormat } from '../provider/index.ts';

/** Held open for its lock alone, which ends with the process however it ends. */
const LOCK: SqliteFormat = {
  applicationId: 0x42466c6b, // "BFlk"
  version: 1,
  schema: 'CREATE TABLE locks (held INTEGER) STRICT',
  isNot: 'is no lock of a data directory',
};

const MAX_EPOCH = 2n ** 63n - 1n;

export interface DataDir {
  /** Which start of the shard this is, 1 for the first. */
  readonly epoch: bigint;
  /** Files of the brain and of the hands. */
  readonly brainFile: string;
  readonly demandFile: string;
  readonly journalFile: string;
  /** Lets go of the directory. */
  close(): void;
}

/**
 * Makes or takes over the directory and begins the next epoch, `atLeast` if that is higher; 0: nobody asked for one.
 * Throws BF_STORE_LOCKED if another process has it, BF_EPOCH_LOST, BF_DATA_DIR, or BF_STORE_UNREADABLE for the lock.
 */
export function openDataDir(path: string, atLeast: bigint): DataDir {
  attempt(path, () => mkdirSync(path, { recursive: true }));
  const lock = new SqliteFile(join(path, 'lock.db'), LOCK);
  try {
    const brainFile = join(path, 'brain.db');
    const demandFile = join(path, 'demand.db');
    const isNew = !existsSync(brainFile) && !existsSync(demandFile);
    const epoch = nextEpoch(path, { isNew, atLeast });
    attempt(path, () => replaceFile(path, 'epoch', `${epoch}\n`));
    return { epoch, brainFile, demandFile, journalFile: journalFileIn(path), close: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Where a shard writes its journal. */
export function journalFileIn(path: string): string {
  return join(path, 'journal.db');
}

function nextEpoch(path: string, { isNew, atLeast }: { isNew: boolean; atLeast: bigint }): bigint {
  const file = join(path, 'epoch');
  const text = existsSync(file) ? attempt(path, () => readFileSync(file, 'utf8')) : null;
  const last = text === null ? null : epochOf(text);
  if (last !== null) return last + 1n > atLeast ? last + 1n : atLeast;
  if (atLeast > 0n) return atLeast;
  if (text === null && isNew) return 1n;
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
  renameSync(`${file}.new`, file);
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
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new BigFleetError('BF_DATA_DIR', `${message}.`, { path, cause });
  }
}
