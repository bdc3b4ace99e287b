// Locates Chromium on this machine and starts it for the tests of the page. Without it, the tests report that they did
// not run: they never pass as if they had checked the page. Used by smoke.test.ts, `npm run verify:web` and
// `npm run browser:install`.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Names of the command in Debian, Ubuntu, Fedora and Google's packages. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
/** Path of a Chromium that is not in PATH. */
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

/** The message where the page cannot be opened. */
export function notRun(what: string, why: string): string {
  return `NOT RUN: ${what}, since there is no Chromium: ${why}. "npm run browser:install" installs it.`;
}

export async function openChromium(path: string): Promise<Browser> {
  return await chromium.launch({
    executablePath: path,
    // Chromium refuses its sandbox to root; all pages here are served from this machine. The other flags keep it from
    // contacting other machines.
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
    ],
  });
}
