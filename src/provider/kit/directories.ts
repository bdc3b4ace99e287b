// Makes directories. Node's own recursive mkdir never ends where a directory exists and nothing can be made in it, as in
// /proc, so this takes one step after the other.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes a directory and those above it, unless it is there. Throws what the system says of the first that it cannot make. */
export function makeDirectory(path: string, mode?: number): void {
  make(resolve(path), mode);
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
