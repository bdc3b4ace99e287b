// How this command line is called where it runs, for hints that a reader copies into a terminal: a checkout has no
// `bigfleet` on the path, and neither has a project that depends on the package. Used for help (program.ts), errors
// (report-error.ts) and the output of commands.

import { realpathSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a command line runs; tests pass their own. */
export interface Place {
  /** The directory of the package, which has `bin/bigfleet`. */
  readonly packageDir: string;
  /** The TypeScript sources run, not the built files. */
  readonly isCheckout: boolean;
  readonly workingDir: string;
  /** The search path of the shell. */
  readonly path: string;
}

/**
 * The command that starts this program from the current directory: `bigfleet`, `npm run --silent bigfleet --`,
 * `npx bigfleet`, or the path of the script. Arguments follow after a space.
 */
export function invocation(place: Place = thisPlace()): string {
  const { packageDir, isCheckout, workingDir } = place;
  if (isOnPath(place)) return 'bigfleet';
  if (isCheckout && resolve(workingDir) === resolve(packageDir)) return 'npm run --silent bigfleet --';
  const project = projectOf(packageDir);
  if (project !== null && isWithin(workingDir, project)) return 'npx bigfleet';
  const script = join(packageDir, 'bin', 'bigfleet');
  return shellWord(isWithin(workingDir, packageDir) ? relative(workingDir, script) : script);
}

/** A text as one word of a POSIX shell, quoted only if it needs it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function thisPlace(): Place {
  const file = fileURLToPath(import.meta.url);
  return {
    packageDir: resolve(dirname(file), '..', '..'),
    isCheckout: file.endsWith('.ts'),
    workingDir: process.cwd(),
    path: process.env['PATH'] ?? '',
  };
}

/** Ignores `node_modules/.bin`, which npm adds to the path of its scripts and other terminals do not have. */
function isOnPath({ packageDir, path }: Place): boolean {
  const script = realPath(join(packageDir, 'bin', 'bigfleet'));
  const folders = path
    .split(delimiter)
    .filter((folder) => folder !== '' && !folder.endsWith(join('node_modules', '.bin')));
  const found = folders.map((folder) => realPath(join(folder, 'bigfleet'))).find((file) => file !== null);
  return found !== undefined && found === script;
}

/** The directory whose `node_modules` has the package; null for a checkout. */
function projectOf(packageDir: string): string | null {
  const parts = resolve(packageDir).split(sep);
  const at = parts.lastIndexOf('node_modules');
  return at <= 0 ? null : parts.slice(0, at).join(sep) || sep;
}

function isWithin(path: string, folder: string): boolean {
  const fromFolder = relative(folder, path);
  return fromFolder === '' || (!fromFolder.startsWith('..') && resolve(folder, fromFolder) === resolve(path));
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** `bigfleet` before the name of a command: a command to type, not the name of the project. */
const TYPED =
  /\bbigfleet (?=(?:up|shard|operator|decide|whatif|export|assess|get|describe|top|explain|config|freeze|unfreeze|retry|quarantine|forget|drain|accept|refuse|cluster|history|replay|provider|cost|version|completion|certs)\b)/g;

/** A text whose hints, such as `bigfleet get clusters`, a reader can type where this command line runs. */
export function asCalledHere(text: string, call: () => string = invocation): string {
  return text.search(TYPED) === -1 ? text : text.replaceAll(TYPED, `${call()} `);
}
