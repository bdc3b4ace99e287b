// Classifies the entries of a directory by whether `bigfleet up` wrote them, by name and kind, for directory.ts.
// Read-only.
//
//   bigfleet-up.json   the marker: this is a directory of `up`, in this format
//   lock.db            held while a process uses the directory
//   clouds/  shard/    the state of the clouds and of the shard
//   shard.log          the log of the shard
//   .gitignore         keeps all of it out of a repository

import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDemoFile } from '../../demo/index.ts';
import { BigFleetError, printable } from '../../model/index.ts';
import { isSqliteFileOf } from '../../runtime/sqlite-file.ts';
import { isDataDirFile } from '../../shard/index.ts';
import { IGNORE_FILE } from '../git-ignore.ts';

export const MARKER = 'bigfleet-up.json';
/** A directory of a higher format was written by a newer version, which may keep files that this one does not know. */
export const FORMAT = 1;
export const SHARD_LOG = 'shard.log';

export interface Marker {
  readonly format: number;
  /** A removal has begun and may be incomplete, so the remaining state must not be used. */
  readonly isRemoving: boolean;
}

export interface Survey {
  /** null: a directory from before the marker, of another program, or empty. */
  readonly marker: Marker | null;
  /** State that `bigfleet up` wrote: paths below the directory, files before the folder they are in. */
  readonly state: readonly string[];
  /** Entries that it did not write. */
  readonly foreign: readonly string[];
}

/** Folders with state, and the names of files that are ours in each. */
const FOLDERS: Readonly<Record<string, (name: string) => boolean>> = {
  clouds: isDemoFile,
  shard: isDataDirFile,
};

/** Throws BF_UP_DIR_NEWER, or BF_UP_DIR_FOREIGN for a marker that is not one of ours. A directory that is missing is empty. */
export function survey(dir: string): Survey {
  const state: string[] = [];
  const foreign: string[] = [];
  let marker: Marker | null = null;
  for (const entry of entriesOf(dir)) {
    const { name } = entry;
    const isOurs = FOLDERS[name];
    if (isOurs !== undefined && entry.isDirectory()) surveyFolder(dir, name, isOurs, state, foreign);
    else if (name === SHARD_LOG && entry.isFile()) state.push(name);
    else if (name === MARKER && entry.isFile()) marker = readMarker(dir);
    else if (!isNeutral(entry)) foreign.push(name);
  }
  return { marker, state, foreign };
}

function surveyFolder(
  dir: string,
  folder: string,
  isOurs: (name: string) => boolean,
  state: string[],
  foreign: string[],
): void {
  for (const entry of entriesOf(join(dir, folder))) {
    const path = join(folder, entry.name);
    (entry.isFile() && isOurs(entry.name) ? state : foreign).push(path);
  }
  state.push(folder);
}

/** Entries that are neither state nor foreign. */
function isNeutral(entry: Dirent): boolean {
  if (entry.name === 'lost+found') return true;
  if (!entry.isFile()) return false;
  return (
    entry.name === IGNORE_FILE || entry.name === `${MARKER}.new` || isSqliteFileOf('lock.db', entry.name)
  );
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function readMarker(dir: string): Marker {
  const path = join(dir, MARKER);
  const { format, isRemoving } = parsed(path);
  if (typeof format !== 'number' || !Number.isInteger(format) || format < 1)
    throw new BigFleetError('BF_UP_DIR_FOREIGN', `${printable(path)} does not say which format it is of.`);
  if (format > FORMAT) {
    const found = `${printable(dir)} is of format ${format}; this version knows formats up to ${FORMAT}.`;
    throw new BigFleetError('BF_UP_DIR_NEWER', found);
  }
  return { format, isRemoving: isRemoving === true };
}

function parsed(path: string): Readonly<Record<string, unknown>> {
  const text = readFileSync(path, 'utf8');
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
