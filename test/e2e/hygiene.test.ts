// Rules for every command: closed pipes, output that cannot be written, invalid arguments, machine-readable errors, and
// unwrapped lines where the output is not a terminal.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { invocation } from '../../src/cli/invocation.ts';

const BIN = 'bin/bigfleet.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-hygiene-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function run(...words: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...words], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('a reader that has closed the pipe', () => {
  async function unread(stream: 'stdout' | 'stderr', ...words: string[]) {
    const child = spawn(process.execPath, [BIN, ...words]);
    // Closed before the process has started, so all its writes hit a closed pipe.
    child[stream].destroy();
    const other = text(stream === 'stdout' ? child.stderr : child.stdout);
    const [code] = await once(child, 'close');
    return { code: code as number, other: await other };
  }

  it('given an error that is not read, then the exit code is unchanged', async () => {
    expect(await unread('stderr', 'explain', 'NO_SUCH_WORD')).toEqual({ code: 2, other: '' });
    expect(await unread('stderr', 'explain', '--no-such-flag')).toEqual({ code: 2, other: '' });
    expect(await unread('stderr', 'get', 'status', '--shard', '127.0.0.1:1')).toEqual({ code: 1, other: '' });
  });

  it('given output that is not read, then the command reports nothing and keeps its exit code', async () => {
    expect(await unread('stdout', 'explain')).toEqual({ code: 0, other: '' });
    const { code, other } = await unread('stdout', 'decide', file('bad.json', '{}'), '-o', 'json');
    expect(code).toBe(2);
    expect(JSON.parse(other)).toMatchObject({ code: 'BF_INPUT_INVALID' });
  });
});

describe('invalid arguments', () => {
  const help = (path: string): string => `Help: ${invocation()} ${path}--help\n`;

  it.each([
    ['frobnicate', "BF_USAGE: unknown command 'frobnicate'.", ''],
    ['explian', "BF_USAGE: unknown command 'explian' (Did you mean explain?)", ''],
    ['get', 'BF_USAGE: a command is missing: status, machines, ', 'get '],
    ['get machines --stat x', "BF_USAGE: unknown option '--stat' (Did you mean --state?)", 'get machines '],
    ['decide', "BF_USAGE: missing required argument 'file'.", 'decide '],
    ['provider fake --seed x', "BF_USAGE: option '--seed <n>' argument 'x' is invalid.", 'provider fake '],
  ])('given %s, then one line reports the problem, and one names the help', (words, first, path) => {
    const { status, stdout, stderr } = run(...words.split(' '));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    const lines = stderr.split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain(first);
    expect(`${lines[1]}\n`).toBe(help(path));
  });
});

describe('errors with -o json', () => {
  it.each([
    [['explain', 'NO_SUCH_WORD', '-o', 'json'], 2, 'BF_USAGE'],
    [['explain', '--loud', '-o', 'json'], 2, 'BF_USAGE'],
    [['get', 'status', '--output=json', '--shard', '127.0.0.1:1'], 1, 'BF_SHARD_UNREACHABLE'],
    [['history', 'cluster', 'c', '--data-dir', '/proc/none', '-ojson'], 2, 'BF_JOURNAL_UNREADABLE'],
  ])('given %j, then it exits with %i and prints %s as one JSON object', (words, status, code) => {
    const failed = run(...words);
    expect(failed).toMatchObject({ status, stdout: '' });
    const error = JSON.parse(failed.stderr) as { message: string; problems: { message: string }[] };
    expect(error).toMatchObject({ code, problems: [{ code }] });
    expect(error.message).toContain(error.problems[0]!.message);
    expect(error.message).not.toMatch(/^BF_/);
  });

  it('given malformed JSON, then the error of decide is about JSON', () => {
    const { status, stderr } = run('decide', file('fleet.json', '{"now": 1\n "needs": []}'));
    expect(status).toBe(2);
    expect(stderr).toContain("Line 2, column 2: This is not JSON: Expected ',' or '}' after property value.");
    expect(stderr).not.toMatch(/YAML|flow|block/i);
  });
});

describe('output that is not a terminal', () => {
  const machine = {
    state: 'IDLE',
    zone: 'z',
    instanceType: 't',
    pricePerHour: 0.0416,
    resources: { cpu: '1' },
  };
  const LONG = `cluster-${'of-a-long-name-'.repeat(12)}`;

  it('given a table and a history wider than a terminal, then nothing is truncated, and money has two decimals', () => {
    const scenario = {
      now: '2026-01-01T00:00:00Z',
      machines: [{ id: 'm', ...machine }],
      needs: [{ cluster: LONG, aggregateResources: { cpu: '1' } }],
    };
    const path = file('fleet.json', JSON.stringify(scenario));
    const { stdout } = run('decide', path);
    expect(stdout).toContain(`m  to ${LONG}  for Need 1  idle, and fits`);
    expect(stdout).toContain(`1  ${LONG} `);
    expect(stdout).not.toContain('…');
    expect(stdout).toMatch(/before +\$0\.04 /);
    expect(run('decide', path, '--explain', '1').stdout).toContain(`Need         ${LONG}\n`);
  });
});

it('given a hint that names any command, then it is rewritten to the invocation of this installation', async () => {
  const { asCalledHere } = await import('../../src/cli/invocation.ts');
  for (const { name } of COMMANDS) {
    expect(asCalledHere(`See "bigfleet ${name}".`, () => 'npx bigfleet')).toBe(`See "npx bigfleet ${name}".`);
  }
  expect(asCalledHere('bigfleet shards many', () => 'x')).toBe('bigfleet shards many');
});
