// Opens the directory of `bigfleet up` for up.ts: only its own files are ever opened or removed, by one process at a
// time. A marker file says that the directory is ours; one from before the marker counts as ours if it has nothing but
// our files.

import { existsSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, parse, resolve } from 'node:path';
import { BigFleetError, printable } from '../../model/index.ts';
import { directoryError, makeDirectory, replaceFile } from '../../runtime/directories.ts';
import { isSqliteFileHeld } from '../../runtime/sqlite-file.ts';
import { lockDirectory } from '../../shard/index.ts';
import { counted } from '../../web/index.ts';
import { ignoreInGit } from '../git-ignore.ts';
import { FORMAT, MARKER, type Marker, SHARD_LOG, type Survey, survey } from './survey.ts';

export interface UpDirectory {
  readonly clouds: string;
  readonly shard: string;
  readonly log: string;
  /** Releases the lock. */
  close(): void;
}

export interface UpDirectoryOptions {
  readonly dir: string;
  /** Removes the state of the last start. */
  readonly fresh: boolean;
  /** Receives what is about to be removed, and warnings about the directory. */
  readonly notify: (text: string) => void;
  /** Tests pass their own. Default: the user's. */
  readonly home?: string;
}

/** Most foreign files that a message names; the rest is counted. */
const MAX_NAMED = 3;
/** Locked by a process of a version that had no lock for the whole directory. */
const OLD_LOCKS = [join('shard', 'lock.db'), join('clouds', 'metal.db'), join('clouds', 'cloud.db')];

/**
 * Creates the directory or opens an existing one. Throws BF_UP_DIR_FOREIGN, BF_UP_DIR_NEWER, BF_STORE_LOCKED or BF_DATA_DIR, and
 * has then changed nothing that was there.
 */
export function openUpDirectory(options: UpDirectoryOptions): UpDirectory {
  const { dir, notify } = options;
  const paths = { clouds: join(dir, 'clouds'), shard: join(dir, 'shard'), log: join(dir, SHARD_LOG) };
  if (isMixed(check(options), options)) {
    notify(`${printable(dir)} has files that bigfleet did not write. They stay, and --fresh will refuse it.`);
    return { ...paths, close: () => {} };
  }
  attempt(dir, () => makeDirectory(dir));
  const lock = lockDirectory(dir);
  try {
    // Once more: before the lock, another process may have changed it.
    const found = check(options);
    const isStale = options.fresh || found.marker?.isRemoving === true;
    attempt(dir, () => {
      if (isStale) remove(options, found);
      else if (found.marker === null) writeMarker(dir, { format: FORMAT, isRemoving: false });
      ignoreInGit(dir, () => true);
    });
    return { ...paths, close: () => lock.close() };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** What the directory has, if `up` may use it. */
function check(options: UpDirectoryOptions): Survey {
  const { dir } = options;
  const found = attempt(dir, () => survey(dir));
  const { marker, state, foreign } = found;
  if (marker !== null || isMixed(found, options)) return found;
  const place = foreign.includes('.git') ? 'a git checkout' : specialPlace(options);
  if (foreign.length > 0) {
    const files = `files that bigfleet did not write: ${listed(foreign)}`;
    refuse(options, place === null ? `has ${files}` : `is ${place}, with ${files}`);
  }
  if (state.length === 0 && place !== null) refuse(options, `is ${place}`);
  return found;
}

/** Versions before the marker put their state beside the files of the user; such a directory stays in use. */
function isMixed({ marker, foreign }: Survey, { dir, fresh }: UpDirectoryOptions): boolean {
  return marker === null && foreign.length > 0 && !fresh && existsSync(join(dir, 'clouds', 'size.json'));
}

/** Where a user never means to keep the state of a demonstration, even if nothing is there yet; null elsewhere. */
function specialPlace({ dir, home = homedir() }: UpDirectoryOptions): string | null {
  const path = realPath(dir);
  if (path === parse(path).root) return 'the root of the file system';
  if (path === realPath(home)) return 'your home directory';
  return path === realPath('.') ? 'the current directory' : null;
}

function refuse({ dir }: UpDirectoryOptions, what: string): never {
  const own = printable(join(dir, 'bigfleet-up'));
  throw new BigFleetError(
    'BF_UP_DIR_FOREIGN',
    `${printable(dir) || '""'} ${what}. It could be --dir ${own}.`,
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(printable).join(', ');
  return names.length <= MAX_NAMED ? shown : `${shown} and ${names.length - MAX_NAMED} more`;
}

/** Needs the lock. The marker records the removal, so that the next start completes one that was interrupted. */
function remove(options: UpDirectoryOptions, { state, foreign }: Survey): void {
  const { dir, notify } = options;
  const links = foreign.filter((name) => ['clouds', 'shard', SHARD_LOG].includes(name));
  if (links.length > 0)
    refuse(options, `has ${listed(links)} of another kind, such as a link: remove it yourself`);
  const held = OLD_LOCKS.map((name) => join(dir, name)).find(isSqliteFileHeld);
  if (held !== undefined) throw new BigFleetError('BF_STORE_LOCKED', `${printable(held)} is in use.`);
  if (state.length > 0) notify(removalText(dir, state));
  if (foreign.length > 0) notify(`Files that bigfleet did not write stay: ${listed(foreign)}.`);
  writeMarker(dir, { format: FORMAT, isRemoving: true });
  for (const name of state) {
    const path = join(dir, name);
    if (!isFolder(name)) rmSync(path, { force: true });
    else if (!foreign.some((each) => each.startsWith(join(name, '/')))) rmdirSync(path);
  }
  writeMarker(dir, { format: FORMAT, isRemoving: false });
}

function isFolder(name: string): boolean {
  return name === 'clouds' || name === 'shard';
}

function removalText(dir: string, state: readonly string[]): string {
  const within = (folder: string) => state.filter((name) => name.startsWith(join(folder, '/'))).length;
  const parts = state
    .filter((name) => name === SHARD_LOG || isFolder(name))
    .map((name) => (isFolder(name) ? `${name}/ (${counted(within(name), 'file')})` : name));
  return `Starting over: removing ${parts.join(', ')} in ${printable(realPath(dir))}.`;
}

/** Durable when it returns, because removals depend on it. */
function writeMarker(dir: string, marker: Marker): void {
  const about = 'The state of "bigfleet up". It removes what it wrote with --fresh.';
  replaceFile(join(dir, MARKER), `${JSON.stringify({ about, ...marker })}\n`);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function attempt<T>(dir: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw directoryError(dir, cause);
  }
}
