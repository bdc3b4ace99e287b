// Makes directories, replaces small files in them, and says why either cannot be done. Node's own recursive mkdir never
// ends where a directory exists and nothing can be made in it, as in /proc, so this takes one step after the other.

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
import { BigFleetError } from '../../model/index.ts';

/** Makes a directory and those above it, unless it is there. Throws what the system says of the first that it cannot make. */
export function makeDirectory(path: string, mode?: number): void {
  make(resolve(path), mode);
}

/** Writes a small file. At any moment, also after a crash or on a full disk, it is the old one or the new one. */
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

/** What became of an attempt to make or write something at this path: BF_STORE_FAILED without room, else BF_DATA_DIR. */
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
    // Somebody else may have been faster.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
