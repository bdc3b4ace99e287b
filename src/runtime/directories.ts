// Creates directories and atomically replaces small files, with errors that name the cause. Node's recursive mkdir does
// not return below a directory in which nothing can be created, such as /proc, so directories are created one by one.
// Used for data directories, `bigfleet certs` and `bigfleet up`.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { BigFleetError } from '../model/index.ts';

/** Creates a directory and its missing parents. Throws the system's error for the first that it cannot create. */
export function makeDirectory(path: string, mode?: number): void {
  make(resolve(path), mode);
}

/** Replaces a small file atomically: after a crash or on a full disk it has the old or the new content. */
export function replaceFile(path: string, text: string): void {
  const fresh = `${path}.new`;
  try {
    const written = openSync(fresh, 'w');
    try {
      writeFileSync(written, text);
      fsyncSync(written);
    } finally {
      closeSync(written);
    }
    renameSync(fresh, path);
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw directoryError(path, cause);
  }
}

/** A full disk, a quota that is used up, a limit on the size of files. */
const NO_ROOM: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Maps an error at this path to BF_STORE_FAILED if the disk is full, else to BF_DATA_DIR. */
export function directoryError(path: string, cause: unknown): BigFleetError {
  if (cause instanceof BigFleetError) return cause;
  const isFull = cause instanceof Error && 'code' in cause && NO_ROOM.includes(cause.code);
  const message = cause instanceof Error ? cause.message : String(cause);
  return new BigFleetError(isFull ? 'BF_STORE_FAILED' : 'BF_DATA_DIR', `${message}.`, { path, cause });
}

function make(path: string, mode: number | undefined): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) make(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
