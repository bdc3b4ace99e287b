// `bigfleet up` as a user runs it: what it removes, what it resumes after a kill, and what it refuses.

import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startUp, type UpEvent, type UpProcess } from './up-process.ts';

// Starts processes sequentially; the timeout allows for a slow machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

let dir: string;
const running: UpProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-up-'));
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.end('SIGKILL');
  rmSync(dir, { recursive: true });
});

const state = (): string => join(dir, 'state');
const SIZE = ['--machines', '80', '--clusters', '2'];
/** A limit on the size of files (`ulimit -f`) simulates a full disk. */
function startedWith(prefix: string, ...args: readonly string[]): UpProcess {
  const up = startUp(['--port', '27801', ...SIZE, '--dir', state(), ...args], prefix);
  running.push(up);
  return up;
}
const started = (...args: readonly string[]): UpProcess => startedWith('', ...args);

const saying =
  (text: string) =>
  ({ fields }: UpEvent): boolean =>
    fields?.text?.startsWith(text) === true;

/** Machines of these states in the first figures after all clouds were listed. */
const inStates = ({ status }: UpEvent, ...states: readonly string[]): number =>
  states.reduce((sum, state) => sum + (status?.machinesByState[state] ?? 0), 0);

describe('bigfleet up', () => {
  it('given files of the user in the directory, then --fresh is refused and changes none of them', () => {
    writeFileSync(join(dir, 'thesis.txt'), 'mine');
    const args = [resolve('src/cli/main.ts'), 'up', '--plain', '--dir', '.', '--fresh'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^BF_UP_DIR_FOREIGN: .*thesis\.txt.*\n$/);
    expect(readdirSync(dir)).toEqual(['thesis.txt']);
  });

  it('given a kill during transitions, then they continue at the next start, and a concurrent --fresh is refused', async () => {
    const first = started('--speed', '1');
    await first.until((event) => inStates(event, 'CREATING') > 0 && inStates(event, 'CONFIGURING') > 0);

    const beside = await started('--fresh').exited;
    expect(beside).toMatchObject({ code: 2, stderr: expect.stringContaining('BF_STORE_LOCKED') });
    expect(existsSync(join(state(), 'clouds', 'metal.db'))).toBe(true);
    expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });

    const second = started('--speed', '100');
    const figures = await second.until(
      (event) => inStates(event, 'CREATING', 'CONFIGURING', 'CONFIGURED') > 0,
    );
    expect(inStates(figures, 'FAILED')).toBe(0);
    await second.until((event) => inStates(event, 'CONFIGURED') > 0 && inStates(event, 'CREATING') === 0);
    expect(await second.end('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });

  it('given a disk too full to start, then it exits with 1 and one line', () => {
    const command = 'ulimit -f 40; exec "$0" src/cli/main.ts up --plain --dir "$1"';
    const args = ['-c', command, process.execPath, state()];
    const { status, stderr } = spawnSync('bash', args, { encoding: 'utf8' });
    // A code, the file, and what to do.
    const line = /^BF_STORE_FAILED: \S+\.db: [^\n]*Free some space[^\n]*\n$/;
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(line) });
  });

  it('given a disk that fills while it runs, then it exits with 1 and the reason, and --fresh removes its files', async () => {
    const up = startedWith('ulimit -f 200;', '--speed', '100');
    await up.until(saying('Watch it at '));
    const { code, stderr } = await up.end(0);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'BF_STORE_FAILED',
      message: expect.stringMatching(/^\S+\.db: disk I\/O error\.$/),
    });

    const fresh = started('--fresh');
    await fresh.until(saying('Built a fleet of '));
    // Every file that a start has written is known to be ours, so --fresh reports that nothing is left.
    expect((await fresh.end('SIGTERM')).stderr).toMatch(
      /^Starting over: removing clouds\/ \(\d+ files\), shard\/ \(\d+ files\), shard.log in \S+state\.\n$/,
    );
  });
});

describe.runIf(existsSync('/dev/full'))('output that cannot be written', () => {
  it('given a full disk, then a command exits with 1 and one line', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, ['src/cli/main.ts', 'explain'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^BF_OUTPUT_FAILED: ENOSPC[^\n]*\n$/),
    });
  });
});
