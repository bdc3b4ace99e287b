// The command line as a user runs it from a checkout. bin.test.ts tests which Node it executes, and what a kill leaves
// behind; `npm run verify:package` installs the packed package.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ERRORS } from '../../src/model/index.ts';

// Each test starts processes sequentially and waits for them.
vi.setConfig({ testTimeout: 180_000 });

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Outcome {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return { status, stdout, stderr };
}

const bigfleet = (...args: string[]): Outcome => run('bin/bigfleet', args);

describe('bigfleet from a checkout', () => {
  it('given --help, then it lists the commands and exits with 0', () => {
    const { status, stdout } = run('npm', ['run', '--silent', 'bigfleet', '--', '--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('explain');
  });

  it('given an error code in lower case, then explain prints its entry', () => {
    const told = bigfleet('explain', 'bf_quantity_syntax').stdout;
    // On one line, since the output is not a terminal.
    expect(told.split('\n')).toContain(`  ${ERRORS.BF_QUANTITY_SYNTAX.remedy}`);
  });

  it('given explain -o json, then the whole catalogue is printed', () => {
    const entries = JSON.parse(bigfleet('explain', '-o', 'json').stdout) as {
      code?: string;
      group: string;
    }[];
    const codes = entries.filter(({ group }) => group === 'errors').map(({ code }) => code);
    expect(codes).toEqual(Object.keys(ERRORS));
    expect(entries.length).toBeGreaterThan(codes.length);
  });

  it.each([
    [['frobnicate']],
    [['explain', 'BF_NO_SUCH_CODE']],
    [['explain', '--loud']],
    [['explain', '-o', 'yaml']],
  ])('given %j, then it exits with 2 and a reason', (args) => {
    const { status, stderr } = bigfleet(...args);
    expect(status).toBe(2);
    expect(stderr).not.toBe('');
    expect(stderr).not.toContain('    at ');
  });
});

describe('bigfleet up with data it cannot use', () => {
  /** Runs the command on a directory with these files, and expects it to fail before it prints an address. */
  function refusedWith(files: Readonly<Record<string, string>>, ...args: string[]): string {
    const dir = mkdtempSync(join(tmpdir(), 'bigfleet-up-'));
    try {
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, file)), { recursive: true });
        writeFileSync(join(dir, file), content);
      }
      const { status, stdout, stderr } = bigfleet('up', '--plain', '--dir', dir, ...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      return stderr;
    } finally {
      rmSync(dir, { recursive: true });
    }
  }

  it('given a size other than that of the data, then the error names --fresh', () => {
    const size = JSON.stringify({ clusters: 6, machines: 400, seed: 1 });
    const said = refusedWith({ 'clouds/size.json': size }, '--machines', '80');
    expect(said).toContain('has the state of 6 clusters, 400 machines and seed 1');
    expect(said).toContain('--fresh');
  });

  it('given a data directory without its epoch, then the error names it', () => {
    expect(refusedWith({ 'shard/brain.db': '' }, '--machines', '80', '--clusters', '1')).toContain(
      'BF_EPOCH_LOST',
    );
  });
});

describe('a system call that fails', () => {
  const PLACE = '/proc/bigfleet';

  it.runIf(process.platform === 'linux').each([
    ['up', '--plain', '--dir', PLACE],
    ['shard', '--provider', 'p=127.0.0.1:1', '--data-dir', PLACE],
  ])('given a directory that is not writable, then bigfleet %s reports it and exits with 2', (...args) => {
    const { status, stderr } = run(process.execPath, ['src/cli/main.ts', ...args], { timeout: 120_000 });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^BF_DATA_DIR: .*ENOENT.*\n$/),
    });
  });

  it('given a port in use, then bigfleet shard reports it in one line', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-taken-'));
    const words = ['--provider', 'p=127.0.0.1:1', '--data-dir', folder, '--listen', `127.0.0.1:${port}`];
    const { status, stderr } = run(process.execPath, ['src/cli/main.ts', 'shard', ...words]);
    taken.close();
    rmSync(folder, { recursive: true });
    const said = stderr.split('\n').filter((line) => !line.startsWith('{"level":'));
    expect({ status, said }).toEqual({
      status: 2,
      said: [expect.stringMatching(/^BF_LISTEN_FAILED: .*EADDRINUSE/), ''],
    });
  });
});

describe('bigfleet decide', () => {
  const scenario = (parts: object): string => JSON.stringify({ now: '2026-01-01T00:00:00Z', ...parts });
  const onInput = (input: string, script: string): Outcome => {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', input });
    return { status, stdout, stderr };
  };

  it('given a reader that stops reading, then it ends without output', () => {
    const needs = Array.from({ length: 5_000 }, (_, i) => ({
      cluster: `c${i}`,
      aggregateResources: { cpu: '1' },
    }));
    const command = `set -o pipefail; bin/bigfleet decide - -o json | head -c 10`;
    expect(onInput(scenario({ needs }), command)).toEqual({ status: 0, stdout: '{\n  "actio', stderr: '' });
  });

  it('given one resource name too many, then it is reported as a problem of the input', () => {
    const resources = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`r${i}`, '1']));
    const machines = [{ id: 'm', state: 'SPECULATIVE', resources }];
    const { status, stdout } = onInput(scenario({ machines }), `bin/bigfleet decide - -o json`);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [{ code: 'BF_DIMENSION_LIMIT' }] });
  });

  it('given names with terminal escapes, then errors print them escaped', () => {
    const needs = [{ cluster: 'a\u001b[31m', aggregateResources: { cpu: '1' } }];
    const { stderr } = onInput(scenario({ needs }), `bin/bigfleet decide - --explain unknown`);
    expect(stderr).toContain('\\u001b');
    expect(stderr).not.toContain('\u001b');
  });
});
