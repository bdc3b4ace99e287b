// Which modules a command loads, and that a checkout's cache of compiled sources is never stale.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-startup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the modules that a command loads', () => {
  const SCENARIO = 'examples/scenarios/first-look.yaml';
  const ENGINE = ['src/engine/', 'src/fleet/'];
  const GRPC = ['@grpc/grpc-js', 'src/wire/gen/'];
  const HTTP = ['node:http'];
  const SQLITE = ['node:sqlite'];
  const YAML = ['node_modules/yaml/'];
  const X509 = ['node_modules/@peculiar/'];
  const FASTIFY = ['node_modules/fastify/'];
  const ZOD = ['node_modules/zod/'];
  const PACKAGES = [...YAML, ...X509, ...FASTIFY, ...ZOD];
  const HEAVY = [...ENGINE, ...GRPC, ...SQLITE, ...PACKAGES, 'src/shard/process/shard.ts'];

  /** Runs a command and returns which of `parts` it loaded. */
  function loaded(words: readonly string[], parts: readonly string[]): readonly string[] {
    const list = join(folder, 'loaded');
    const hooks = `import { registerHooks } from 'node:module';
      import { writeFileSync } from 'node:fs';
      const urls = [];
      registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
      process.on('exit', () => writeFileSync(${JSON.stringify(list)}, urls.join('\\n')));`;
    const preload = `data:text/javascript,${encodeURIComponent(hooks)}`;
    const { status, stderr } = spawnSync(process.execPath, [
      '--import',
      preload,
      'bin/bigfleet.js',
      ...words,
    ]);
    expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: '' });
    const urls = readFileSync(list, 'utf8');
    return parts.filter((part) => urls.includes(part));
  }

  it.each([
    ['--version', [...HEAVY, ...HTTP], []],
    ['--help', [...HEAVY, ...HTTP], []],
    ['explain BF_USAGE', HEAVY, []],
    ['get machines --help', HEAVY, []],
    ['freeze --help', HEAVY, []],
    ['history --help', HEAVY, []],
    ['describe --help', HEAVY, []],
    ['top --help', HEAVY, []],
    ['config --help', HEAVY, []],
    ['completion names', HEAVY, []],
    ['shard --print-config', HEAVY, [...YAML, ...ZOD]],
    ['provider fake --help', HEAVY, []],
    ['provider conformance --help', HEAVY, []],
    ['certs --help', HEAVY, []],
    ['up --help', HEAVY, [...YAML, ...ZOD]],
    [`decide ${SCENARIO}`, HEAVY, [...ENGINE, ...YAML, ...ZOD]],
  ])('given bigfleet %s, then it loads none that it does not run', (command, parts, expected) => {
    expect(loaded(command.split(' '), parts)).toEqual(expected);
  });
});

describe('the compile cache of a checkout', () => {
  const MAIN = 'src/cli/main.ts';
  const CACHE = 'node_modules/.cache/bigfleet';
  /** Tests use the cache directory of this checkout; the checkout below has its own. */
  const ENV = { ...process.env, NODE_COMPILE_CACHE: undefined };

  /** A checkout whose command prints a word, in TypeScript. */
  function checkout(word: string): void {
    cpSync('bin', join(folder, 'bin'), { recursive: true });
    mkdirSync(join(folder, 'src/cli'), { recursive: true });
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    write(word);
  }

  function write(word: string): void {
    writeFileSync(join(folder, MAIN), `const word: string = '${word}';\nconsole.log(word);\n`);
  }

  function said(): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
    const bin = join(folder, 'bin/bigfleet.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin], { encoding: 'utf8', env: ENV });
    return { status, stdout, stderr };
  }

  it('given an edit that changes neither length nor time of the file, then the next start runs the edit', () => {
    checkout('one');
    expect(said().stdout).toBe('one\n');
    expect(said().stdout).toBe('one\n');
    expect(existsSync(join(folder, CACHE))).toBe(true);
    const { atime, mtime } = statSync(join(folder, MAIN));
    write('two');
    utimesSync(join(folder, MAIN), atime, mtime);
    expect(said().stdout).toBe('two\n');
    write('one');
    expect(said().stdout).toBe('one\n');
  });

  it('given an edit of the code of a thread, then the thread runs the edit', () => {
    checkout('main');
    const thread = `import { Worker } from 'node:worker_threads';
      const file: URL = new URL('./thread.ts', import.meta.url);
      new Worker(file);`;
    writeFileSync(join(folder, MAIN), thread);
    const kept = () => readdirSync(join(folder, CACHE), { recursive: true }).length;
    for (const word of ['one', 'two']) {
      writeFileSync(
        join(folder, 'src/cli/thread.ts'),
        `const word: string = '${word}';\nconsole.log(word);\n`,
      );
      expect(said().stdout).toBe(`${word}\n`);
    }
    // In the folder of this version of Node: command and thread, each without types and compiled.
    expect(kept()).toBe(1 + 2 * 2);
  });

  it('given many concurrent starts, then each of them runs', async () => {
    checkout('one');
    const starts = Array.from({ length: 6 }, async () => {
      const child = spawn(process.execPath, [join(folder, 'bin/bigfleet.js')], { env: ENV });
      const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      return { out, code: code as number };
    });
    expect(await Promise.all(starts)).toEqual(starts.map(() => ({ out: 'one\n', code: 0 })));
    expect(said()).toEqual({ status: 0, stdout: 'one\n', stderr: '' });
  });

  it('given a cache directory that cannot be created, then it runs without a cache', () => {
    checkout('one');
    writeFileSync(join(folder, 'node_modules/.cache'), 'a file where a folder should be');
    expect(said()).toEqual({ status: 0, stdout: 'one\n', stderr: '' });
  });
});

it('given an installed package, then its launcher has no cache', () => {
  cpSync(resolve('bin'), join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'dist/cli'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'dist/cli/main.js'), 'console.log("built");');
  const { stdout } = spawnSync(process.execPath, [join(folder, 'bin/bigfleet.js')], { encoding: 'utf8' });
  expect(stdout).toBe('built\n');
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});
