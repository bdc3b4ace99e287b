// `npm run browser:install`: Chromium for the tests of the page, from the packages of the system (apt). Does nothing if
// it is installed. Exit code 0: Chromium is installed. 1: it is not, and the last line says why; tests then report that
// they did not check the page. `-- --seconds N` limits the time it tries.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { findChromium } from '../test/browser/chromium.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '300' } } });
const untilMs = Date.now() + Number(values.seconds) * 1000;
/** Includes fonts, because a minimal system has none and the page would render as boxes. */
const PACKAGES = ['chromium', 'fonts-liberation'];

const found = findChromium();
if (found.path !== null) {
  console.log(`Chromium is at ${found.path}.`);
  process.exit(0);
}
const problem = install();
const now = findChromium();
if (now.path !== null) console.log(`Chromium is installed at ${now.path}.`);
else console.error(`Chromium is not installed: ${problem ?? now.why}.`);
process.exit(now.path === null ? 1 : 0);

/** Why it could not be installed; null if it was. */
function install(): string | null {
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (!runs('apt-get', ['--version'])) return 'this system has no apt-get; install Chromium by other means';
  if (prefix.length > 0 && !runs('sudo', ['-n', 'true']))
    return 'apt-get needs root, and sudo asks for a password; run it as root';
  const apt = [
    ...prefix,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-q',
    '-o',
    'DPkg::Lock::Timeout=60',
  ];
  return step([...apt, 'update']) ?? step([...apt, 'install', '-y', '--no-install-recommends', ...PACKAGES]);
}

function step([command = '', ...args]: readonly string[]): string | null {
  const timeout = Math.max(1, untilMs - Date.now());
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout });
  if (error !== undefined) return `${args.join(' ')}: ${error.message}`;
  return status === 0 ? null : `${args.join(' ')}: ${stderr.trim().split('\n').at(-1)}`;
}

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
