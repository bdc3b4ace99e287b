// Where Chromium is on this machine, and a Chromium that is opened for the tests of the page. Where there is none, what
// the tests say about it: they never pass as if they had looked at the page.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Names of the command, by what Debian, Ubuntu, Fedora and Google call it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
/** Of one that is not in the path. */
const VARIABLE = 'BIGFLEET_CHROMIUM';

export type Found =
  | { readonly path: string; readonly why: null }
  | { readonly path: null; readonly why: string };

type Environment = Readonly<Record<string, string | undefined>>;

export function findChromium(env: Environment = process.env): Found {
  const given = env[VARIABLE];
  if (given !== undefined && given !== '') {
    if (isProgram(given)) return { path: given, why: null };
    return { path: null, why: `${VARIABLE} names ${given}, which is not a program` };
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const places = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), MAC];
  const path = places.find(isProgram);
  if (path !== undefined) return { path, why: null };
  return { path: null, why: `no ${NAMES.join(', ')} in the path, and ${VARIABLE} is not set` };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What is said where the page cannot be opened. */
export function notRun(what: string, why: string): string {
  return `NOT RUN: ${what}, since there is no Chromium: ${why}. "npm run browser:install" installs it.`;
}

export async function openChromium(path: string): Promise<Browser> {
  return await chromium.launch({
    executablePath: path,
    // Chromium refuses its sandbox to root; what it opens here is served from this machine. The rest of it asks no other
    // machine for anything.
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
    ],
  });
}
