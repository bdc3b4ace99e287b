// Keeps what `bigfleet certs` and `bigfleet up` generate (keys, certificates, databases) out of a git repository that
// they happen to run in: writes a `.gitignore` with `*` into the generated directory, which holds in any repository and
// ignores itself too.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const IGNORE_FILE = '.gitignore';

/**
 * Makes git ignore everything in a directory. Does so only where every entry is `ours`: in a directory with files of the
 * user, `*` would hide those as well. Returns whether git ignores what is generated there, as far as this command knows.
 */
export function ignoreInGit(dir: string, ours: (name: string) => boolean): boolean {
  const names = readdirSync(dir);
  // Kept as it is: its author may have decided to commit the contents.
  if (names.includes(IGNORE_FILE)) return true;
  if (!names.every(ours)) return false;
  writeFileSync(
    join(dir, IGNORE_FILE),
    '# Written by bigfleet: nothing in here belongs in a repository.\n*\n',
  );
  return true;
}
