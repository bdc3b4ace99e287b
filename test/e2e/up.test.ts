// `bigfleet up` as a user runs it: what it removes, what it goes on with after a kill, and what it refuses.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startUp, type UpNews, type UpProcess } from './up-process.ts';

// Starts processes, one after the other, on however slow a machine.
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

const SIZE = ['--machines', '80', '--clusters', '2'];
const started = (...args: readonly string[]): UpProcess => {
  const up = startUp(['--port', '27801', ...SIZE, ...args]);
  running.push(up);
  return up;
};

/** Machines of these states in the first figures after all clouds were listed. */
const inStates = ({ status }: UpNews, ...states: readonly string[]): number =>
  states.reduce((sum, state) => sum + (status?.machinesByState[state] ?? 0), 0);

describe('bigfleet up', () => {
  it('given files of the user in the directory, then it refuses with or without --fresh and touches none', () => {
    writeFileSync(join(dir, 'thesis.txt'), 'mine');
    for (const args of [
      ['--dir', dir],
      ['--dir', '.', '--fresh'],
    ]) {
      const main = resolve('src/cli/main.ts');
      const options = { cwd: dir, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [main, 'up', '--plain', ...args],
        options,
      );
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^BF_UP_DIR_FOREIGN: .*thesis\.txt.*\n$/);
    }
    expect(readdirSync(dir)).toEqual(['thesis.txt']);
  });

  it('given a kill in the midst of transitions, then they go on at the next start; --fresh waits for its end', async () => {
    const state = join(dir, 'state');
    const first = started('--dir', state, '--speed', '1');
    const isMoving = (news: UpNews) => inStates(news, 'CREATING') > 0 && inStates(news, 'CONFIGURING') > 0;
    await first.until(isMoving);

    const beside = await started('--dir', state, '--fresh').exited;
    expect(beside).toMatchObject({ code: 2, stderr: expect.stringContaining('BF_STORE_LOCKED') });
    expect(existsSync(join(state, 'clouds', 'metal.db'))).toBe(true);
    expect(await first.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });

    const second = started('--dir', state, '--speed', '100');
    const figures = await second.until((news) => inStates(news, 'CREATING', 'CONFIGURING', 'CONFIGURED') > 0);
    expect(inStates(figures, 'FAILED')).toBe(0);
    await second.until((news) => inStates(news, 'CONFIGURED') > 0 && inStates(news, 'CREATING') === 0);
    expect(await second.end('SIGTERM')).toMatchObject({ code: 0, stderr: '' });

    const size = readFileSync(join(state, 'clouds', 'size.json'), 'utf8');
    const third = started('--dir', state, '--fresh');
    await third.until(({ fields }) => fields?.text?.startsWith('Built a fleet of ') === true);
    const { code, stderr } = await third.end('SIGTERM');
    expect({ code, stderr }).toEqual({
      code: 0,
      // Everything that a start has written is known to be ours: nothing is left over.
      stderr: expect.stringMatching(
        /^Starting over: removing clouds\/ \(\d+ files\), shard\/ \(\d+ files\), shard.log in \S+state\.\n$/,
      ),
    });
    expect(readFileSync(join(state, 'clouds', 'size.json'), 'utf8')).toBe(size);
  });
});
