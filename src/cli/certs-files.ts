// Files of `bigfleet certs`: secrets that only their owner can read, kept out of git, and nothing overwritten by mistake.

import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { BigFleetError, printable } from '../model/index.ts';
import { makeDirectory } from '../runtime/directories.ts';
import { ignoreInGit } from './git-ignore.ts';

export const OWNER_ONLY = 0o600;
export const READABLE = 0o644;

/** Path, content and mode. */
export type NewFile = readonly [path: string, text: string, mode: number];

/**
 * Writes all files or none, in this order: a reader must never find a certificate without its key. Returns a warning for
 * the user if git may pick up a secret, '' otherwise.
 */
export function writeFiles(dir: string, files: readonly NewFile[], mayReplace: boolean): string {
  const isIgnored = attempt(() => {
    makeDirectory(dir, 0o700);
    return ignoreInGit(dir, (name) => /\.(crt|key|token)$/.test(name));
  });
  const written: string[] = [];
  try {
    for (const [path, text, mode] of files) {
      if (mayReplace) replaceFile(path, text, mode);
      else writeFileSync(path, text, { flag: 'wx', mode });
      written.push(path);
    }
  } catch (cause) {
    if (!mayReplace) for (const path of written) rmSync(path);
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new BigFleetError('BF_CERT_EXISTS', `${printable(cause.message)}.`, { cause });
    throw asUsage(cause);
  }
  return isIgnored
    ? ''
    : `${printable(dir)} has other files too: keep its *.key and *.token out of version control\n`;
}

/** Replaces the file atomically: a concurrent reader sees the old or the new content. */
function replaceFile(path: string, text: string, mode: number): void {
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { flag: 'wx', mode });
  chmodSync(fresh, mode);
  renameSync(fresh, path);
}

function attempt<T>(act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw asUsage(cause);
  }
}

function asUsage(cause: unknown): BigFleetError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new BigFleetError('BF_USAGE', `${printable(message)}.`, { cause });
}
