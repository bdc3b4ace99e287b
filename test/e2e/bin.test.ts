// bin/bigfleet: which Node it executes, from any working directory, and that it replaces its own process, so that a
// kill leaves no child behind.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConformanceReport } from '../../src/provider/index.ts';
import { CONTROLLER_FLAGS } from '../../src/shard/process/heap-limits.ts';

// Processes are started sequentially; the timeout allows for a slow machine.
vi.setConfig({ testTimeout: 180_000 });

let folder: string;
/** A path on which there is an old Node, a new one, or none. */
let old: string;
let recent: string;
let none: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bigfleet bin-')));
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  for (const tool of ['readlink', 'sh']) {
    const found = execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
    symlinkSync(found, join(tools, tool));
  }
  none = tools;
  // The current Node, made to report an old version before anything starts.
  const preload = write('old.cjs', `Object.defineProperty(process.versions, 'node', { value: '20.1.0' });`);
  script('old/node', `exec "${process.execPath}" --require "${preload}" "$@"`);
  old = `${join(folder, 'old')}:${tools}`;
  link(process.execPath, 'recent/node');
  recent = `${join(folder, 'recent')}:${tools}`;
});

afterEach(async () => {
  for (const child of children.splice(0)) await endGroup(child);
  rmSync(folder, { recursive: true });
});

/** Kills a process and any children it left behind. */
async function endGroup(child: ChildProcess): Promise<void> {
  const isGone = child.exitCode !== null || child.signalCode !== null;
  const ended = isGone ? undefined : once(child, 'exit');
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // The group was already empty.
  }
  await ended;
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function script(name: string, text: string): string {
  const file = write(name, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

function link(to: string, name: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  symlinkSync(to, file);
  return file;
}

/** The package as npm installs it, with a command that prints how it was started; returns the file to call. */
function installed(place: string): string {
  const root = join(folder, place);
  cpSync('bin', join(root, 'bin'), { recursive: true });
  write(join(place, 'package.json'), '{"name":"bigfleet","type":"module"}');
  const tell = `const { pid, argv, execArgv: flags, title } = process;
    console.log(JSON.stringify({ pid, words: argv.slice(2), flags, by: process.env.BY ?? title }));`;
  write(join(place, 'dist/cli/main.js'), tell);
  return join(root, 'bin/bigfleet');
}

/** A Node as the npm package of that name leaves it. */
function pinned(place: string, version: string): void {
  script(join(place, 'bin/node'), `BY="${place}" exec "${process.execPath}" "$@"`);
  write(
    join(place, 'package.json'),
    `{\n  "name": "node",\n  "version": "${version}",\n  "main": "index.js"\n}`,
  );
}

interface Told {
  readonly pid: number;
  readonly words: readonly string[];
  readonly flags: readonly string[];
  readonly by: string;
}

function call(bin: string, path: string, words: readonly string[] = [], cwd = folder) {
  const { status, stdout, stderr, pid } = spawnSync(bin, words, {
    encoding: 'utf8',
    cwd,
    env: { PATH: path },
  });
  return { status, stderr, pid, told: stdout === '' ? null : (JSON.parse(stdout) as Told) };
}

describe('the Node that bigfleet executes', () => {
  it('given a checkout, then it is the Node of the checkout, whatever is in PATH, and replaces the process', () => {
    const bin = installed('checkout');
    pinned('checkout/node_modules/node', '24.21.0');
    for (const path of [old, recent, none]) {
      const { status, stderr, pid, told } = call(bin, path);
      expect({ status, stderr, told }).toEqual({
        status: 0,
        stderr: '',
        told: { pid, words: [], flags: [], by: 'checkout/node_modules/node' },
      });
    }
  });

  it.each(['shard', 'up'])(
    'given the command %s, then it has the flags of a process with a controller',
    (name) => {
      const bin = installed('checkout');
      expect(call(bin, recent, [name, '--help']).told).toMatchObject({
        words: [name, '--help'],
        flags: CONTROLLER_FLAGS,
      });
      pinned('checkout/node_modules/node', '24.21.0');
      expect(call(bin, recent, [name]).told?.flags).toEqual(CONTROLLER_FLAGS);
      expect(call(bin, recent, ['get', name]).told?.flags).toEqual([]);
    },
  );

  it.each([
    ['npm', 'project/node_modules/bigfleet', 'project/node_modules/node'],
    [
      'pnpm',
      'p/node_modules/.pnpm/bigfleet@1/node_modules/bigfleet',
      'p/node_modules/.pnpm/bigfleet@1/node_modules/node',
    ],
    ['npm, from further above', 'p/node_modules/a/node_modules/bigfleet', 'p/node_modules/node'],
  ])('given a Node that %s installed beside or above the package, then it is that one', (_, place, node) => {
    const bin = installed(place);
    pinned(node, '25.0.1');
    expect(call(bin, old).told?.by).toBe(node);
  });

  it('given an old, incomplete or missing Node beside the package, then it is the one in PATH', () => {
    const bin = installed('project/node_modules/bigfleet');
    expect(call(bin, recent)).toMatchObject({ status: 0, stderr: '' });
    pinned('project/node_modules/node', '20.19.0');
    expect(call(bin, recent)).toMatchObject({
      status: 0,
      told: { by: expect.not.stringContaining('project') as string },
    });
    rmSync(join(folder, 'project/node_modules/node/bin'), { recursive: true });
    expect(call(bin, recent)).toMatchObject({ status: 0, stderr: '' });
  });

  it('given a Node in an unrelated folder above, then it is not that one', () => {
    const bin = installed('checkout');
    pinned('node_modules/node', '24.21.0');
    expect(call(bin, recent).told?.by).not.toContain('node_modules');
  });

  it('given a checkout without a Node, then the error names the command that installs one', () => {
    const bin = installed('checkout');
    write('checkout/src/cli/main.ts', '');
    expect(call(bin, old)).toMatchObject({
      status: 2,
      stderr:
        'BF_NODE_VERSION: bigfleet needs Node 24 or newer, but this is Node 20.1.0. "npm install", without --omit=dev, brings one.\n',
    });
  });

  it('given no Node of 24 or newer, then it exits with 2 and one line', () => {
    const bin = installed('project/node_modules/bigfleet');
    pinned('project/node_modules/node', '9.0.0');
    expect(call(bin, old)).toMatchObject({
      status: 2,
      stderr: 'BF_NODE_VERSION: bigfleet needs Node 24 or newer, but this is Node 20.1.0.\n',
      told: null,
    });
    expect(call(bin, none)).toMatchObject({
      status: 2,
      stderr: 'BF_NODE_VERSION: bigfleet needs Node 24 or newer, but there is none.\n',
      told: null,
    });
  });
});

describe('the bigfleet command', () => {
  const words = ['a b', '', '*', '"$HOME"', `it's`, '--flag=x y', 'line\nend', '\\'];

  it('given chains of relative and absolute links, then it finds its package and passes every argument on', () => {
    const bin = installed('pro ject/node_modules/bigfleet');
    pinned('pro ject/node_modules/node', '24.0.0');
    const ways = [
      bin,
      link('../bigfleet/bin/bigfleet', 'pro ject/node_modules/.bin/bigfleet'),
      link('pro ject/node_modules/.bin/bigfleet', 'first'),
      link('../first', 'else where/second'),
      link(join(folder, 'else where/second'), 'else where/deep/third'),
      join(link('pro ject/node_modules', 'modules'), '.bin/bigfleet'),
    ];
    for (const way of ways) {
      const { status, stderr, told } = call(way, old, words);
      expect({ way, status, stderr, told: told?.words }).toEqual({ way, status: 0, stderr: '', told: words });
    }
  });

  it('given a relative path, its name in PATH, or a shell in its folder, then it passes every argument on', () => {
    const bin = installed('project/node_modules/bigfleet');
    pinned('project/node_modules/node', '24.0.0');
    link('../bigfleet/bin/bigfleet', 'project/node_modules/.bin/bigfleet');
    const bins = join(folder, 'project/node_modules/.bin');
    expect(call('./.bin/bigfleet', old, words, dirname(bins)).told?.words).toEqual(words);
    expect(call('sh', `${bins}:${old}`, ['-c', 'bigfleet "$@"', 'sh', ...words]).told?.words).toEqual(words);
    expect(call('sh', old, ['bigfleet', ...words], dirname(bin)).told?.words).toEqual(words);
    expect(call('sh', old, ['bigfleet', ...words], bins).told?.words).toEqual(words);
  });

  it('given a checkout and an old Node in PATH, then it runs', () => {
    const { status, stdout } = spawnSync(resolve('bin/bigfleet'), ['--version'], {
      encoding: 'utf8',
      env: { PATH: old },
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '0.1.0\n' });
  });
});

describe('bigfleet provider fake, started on an old Node and killed', () => {
  async function started(address: string, state: string): Promise<{ child: ChildProcess; address: string }> {
    const words = ['provider', 'fake', '--addr', address, '--state', state, '--seed-count', '8'];
    const bin = link(resolve('bin/bigfleet'), `bigfleet-${children.length}`);
    // In a process group of its own, in which a leftover process would be found.
    const child = spawn(bin, words, { detached: true, env: { PATH: old } });
    children.push(child);
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const first = once(child.stdout, 'data').then(([text]) => String(text));
    const ended = once(child, 'exit').then(() => `it ended: ${said}`);
    const line = await Promise.race([first, ended]);
    return { child, address: / at (\S+:\d+)/.exec(line)?.[1] ?? line };
  }

  it('given the kill, then no process remains, and its port and state file can be used again at once', async () => {
    const state = join(folder, 'state.db');
    let address = '127.0.0.1:0';
    for (let start = 0; start < 3; start++) {
      const running = await started(address, state);
      expect(running.address).toMatch(address === '127.0.0.1:0' ? /^127\.0\.0\.1:\d+$/ : address);
      address = running.address;
      const { child } = running;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
      expect(() => process.kill(-child.pid!, 0)).toThrow('ESRCH');
    }
  });
});

describe('the durable target, started by and testing the command line, with an old Node in PATH', () => {
  const flags = '--faults --addr 127.0.0.1:{port} --seed-count {seed} --transition-timeout {timeout}';
  const durable = (state: string): ConformanceReport => {
    const bin = resolve('bin/bigfleet');
    const start = `exec "${bin}" provider fake ${flags} --state ${state}`;
    const words = ['provider', 'conformance', '--profile', 'durable', '--start', start, '-o', 'json'];
    const { stdout } = spawnSync(bin, words, { encoding: 'utf8', env: { PATH: old } });
    return JSON.parse(stdout) as ConformanceReport;
  };

  it('given a provider that keeps its state, then it is certified', () => {
    expect(durable('{state}')).toMatchObject({ verdict: 'certified', totals: { passed: 7 } });
  });

  it('given a provider that finds another state at every start, then it fails', () => {
    const failed = durable('{state}-$$').behaviours.filter(({ status }) => status === 'failed');
    expect(failed.map(({ id }) => id)).toEqual(['B1001', 'B1002', 'B1003', 'B1004', 'B1005', 'B1006']);
  });
});
