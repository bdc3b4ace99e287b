// `npm run verify:package`: packs the package, installs it into an empty folder and uses it there as a new user would.
// Every example is type-checked against the published declarations and run, and its output compared with its
// expected.txt.

import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { declarationProblems } from './declarations.ts';

interface Exports {
  readonly [path: string]: string | { readonly types: string; readonly default: string };
}

/** The example that serves until it is stopped; the others print and end. */
const SERVER = 'provider';
/** How long the served example may take to print its address. */
const START_MS = 20_000;

const folder = mkdtempSync(join(tmpdir(), 'bigfleet-package-'));
try {
  const tarball = step('pack', () => pack(folder));
  const consumer = join(folder, 'consumer');
  step('install', () => install(consumer, tarball));
  const installed = join(consumer, 'node_modules/bigfleet');
  step('contents', () => checkContents(installed));
  step('declarations', () => checkDeclarations(installed));
  const examples = exampleNames();
  step('types', () => typeCheck(consumer));
  step('command', () => checkCommand(consumer));
  for (const name of examples) {
    if (name === SERVER) await certify(consumer, name);
    else step(`examples/${name}`, () => runExample(consumer, name));
  }
  console.log(`ok: ${examples.length} examples work with the packed package`);
} finally {
  rmSync(folder, { recursive: true });
}

function step<T>(name: string, work: () => T): T {
  const started = performance.now();
  const result = work();
  console.log(`ok   ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return result;
}

function pack(to: string): string {
  const output = execFileSync('npm', ['pack', '--silent', '--pack-destination', to], { encoding: 'utf8' });
  return join(to, output.trim().split('\n').at(-1)!);
}

function install(consumer: string, tarball: string): void {
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{ "private": true, "type": "module" }\n');
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...flags, tarball], { cwd: consumer, stdio: 'inherit' });
  cpSync('examples', join(consumer, 'examples'), { recursive: true });
}

/** Only what runs: no sources, no tests, and every file that `exports` names. */
function checkContents(installed: string): void {
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  const stray = files.filter((file) => /^(src|test|testing|bench|scripts|examples)\b|\.test\./.test(file));
  if (stray.length > 0)
    throw new Error(`The package has files that it should not have: ${stray.join(', ')}.`);
  const targets = entryPoints(installed).flatMap(({ types, code }) => [types, code]);
  const missing = targets.filter((file) => !existsSync(file));
  if (missing.length > 0) throw new Error(`"exports" names files that are missing: ${missing.join(', ')}.`);
}

function checkDeclarations(installed: string): void {
  const problems = entryPoints(installed).flatMap(({ name, types }) =>
    declarationProblems(types).map((problem) => `${name}: ${problem}`),
  );
  if (problems.length > 0) throw new Error(`The declarations are not complete:\n  ${problems.join('\n  ')}`);
}

function entryPoints(installed: string) {
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    exports: Exports;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            name: `bigfleet${path.slice(1)}`,
            types: join(installed, target.types),
            code: join(installed, target.default),
          },
        ],
  );
}

/** The installed command runs on the Node of the path, and on one that npm installed beside it. */
function checkCommand(consumer: string): void {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const bin = join(consumer, 'node_modules/.bin/bigfleet');
  const beside = join(consumer, 'node_modules/node');
  const check = (path: string): void => {
    const printed = execFileSync(bin, ['--version'], {
      cwd: consumer,
      encoding: 'utf8',
      env: { PATH: path },
    });
    if (printed !== `${version}\n`)
      throw new Error(`bigfleet --version printed ${printed}instead of ${version}.`);
  };
  check(`${dirname(process.execPath)}:/usr/bin:/bin`);
  mkdirSync(join(beside, 'bin'), { recursive: true });
  symlinkSync(process.execPath, join(beside, 'bin/node'));
  writeFileSync(join(beside, 'package.json'), '{ "version": "24.0.0" }\n');
  check('/usr/bin:/bin');
}

function exampleNames(): readonly string[] {
  return readdirSync('examples').filter((name) => existsSync(join('examples', name, 'main.ts')));
}

/** With the checkout's compiler and Node types, and with library checks, so that broken declarations are found. */
function typeCheck(consumer: string): void {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    lib: ['es2024', 'esnext.typedarrays'],
    module: 'nodenext',
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false,
    typeRoots: [resolve('node_modules/@types')],
    types: ['node'],
  };
  writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['examples'] }));
  execFileSync(resolve('node_modules/.bin/tsc'), ['-p', consumer], { stdio: 'inherit' });
}

function runExample(consumer: string, name: string): void {
  const main = join(consumer, 'examples', name, 'main.ts');
  const output = execFileSync(process.execPath, [main], { cwd: consumer, encoding: 'utf8' });
  const expected = readFileSync(join('examples', name, 'expected.txt'), 'utf8');
  if (output !== expected) {
    throw new Error(`examples/${name} printed:\n${output}\ninstead of its expected.txt:\n${expected}`);
  }
}

/** Serves an example and runs the suite of the installed command against it. */
async function certify(consumer: string, name: string): Promise<void> {
  const started = performance.now();
  const main = join(consumer, 'examples', name, 'main.ts');
  const flags = ['--addr', '127.0.0.1:0', '--seed-count', '64'];
  const server = spawn(process.execPath, [main, ...flags], {
    cwd: consumer,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise((resolve) => server.once('close', resolve));
  try {
    const address = await addressOf(server.stdout);
    const bin = join(consumer, 'node_modules/.bin/bigfleet');
    const args = ['provider', 'conformance', '--target', address, '--only', 'lifecycle,B302'];
    const report = execFileSync(bin, args, { cwd: consumer, encoding: 'utf8' });
    if (!report.includes('CERTIFIED'))
      throw new Error(`The suite does not certify examples/${name}:\n${report}`);
  } finally {
    server.kill();
    await closed;
  }
  console.log(`ok   examples/${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}

function addressOf(stdout: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => reject(new Error(`No address within ${START_MS} ms: ${text}`)), START_MS);
    stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const [, address] = /machines at (\S+)\.\n/.exec(text) ?? [];
      if (address === undefined) return;
      clearTimeout(late);
      resolve(address);
    });
    stdout.once('end', () => reject(new Error(`The example ended before it printed its address: ${text}`)));
  });
}
