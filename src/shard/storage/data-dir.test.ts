// The data directory: one process, and an epoch that rises whatever happens.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDataDir } from './data-dir.ts';

/** What was done to the disk, in order. */
const disk = vi.hoisted(() => ({ done: [] as string[], names: new Map<number, string>() }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const openSync: typeof fs.openSync = (path, ...rest) => {
    const opened = fs.openSync(path, ...rest);
    disk.names.set(opened, basename(String(path)));
    return opened;
  };
  const fsyncSync: typeof fs.fsyncSync = (opened) => {
    disk.done.push(`sync ${disk.names.get(opened)}`);
    fs.fsyncSync(opened);
  };
  const renameSync: typeof fs.renameSync = (from, to) => {
    disk.done.push(`rename ${basename(String(from))} to ${basename(String(to))}`);
    fs.renameSync(from, to);
  };
  return { ...fs, openSync, fsyncSync, renameSync };
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-data-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const CLOCK = 1_700_000_000_000_000n;

/** A start of the shard, ended at once. */
function start(atLeast = 0n, path = folder): bigint {
  const dir = openDataDir(path, atLeast, () => CLOCK);
  dir.close();
  return dir.epoch;
}

function setEpoch(text: string): void {
  writeFileSync(join(folder, 'epoch'), text);
}

// 7.6.24 of the specification.
describe('the epoch of a shard', () => {
  it('given a new directory, then it is the clock, and one more at every start', () => {
    const path = join(folder, 'not', 'there', 'yet');
    expect([start(0n, path), start(0n, path), start(0n, path)]).toEqual([CLOCK, CLOCK + 1n, CLOCK + 2n]);
    expect(readFileSync(join(path, 'epoch'), 'utf8')).toBe(`${CLOCK + 2n}\n`);
    expect(readdirSync(path)).not.toContain('epoch.new');
  });

  it('is on disk before it takes the place of the last one, and its place is before it is used', () => {
    start();
    disk.done.length = 0;
    start();
    expect(disk.done).toEqual(['sync epoch.new', 'rename epoch.new to epoch', `sync ${basename(folder)}`]);
  });

  it('given a volume with files of somebody else, then it is new', () => {
    mkdirSync(join(folder, 'lost+found'));
    expect(start()).toBe(CLOCK);
  });

  it('given a start that was cut off before its epoch was in place, then that one was never used', () => {
    start();
    writeFileSync(join(folder, 'epoch.new'), '');
    expect(start()).toBe(CLOCK + 1n);
  });

  it('given an epoch beyond doubles, then it is counted exactly', () => {
    setEpoch('9223372036854775805');
    expect(start()).toBe(9223372036854775806n);
  });

  it.each(['brain.db', 'demand.db'])('given %s without an epoch, then the start is refused', (file) => {
    writeFileSync(join(folder, file), '');
    expect(() => start()).toThrow(/BF_EPOCH_LOST: .*epoch is missing\..*--epoch-at-least/);
    expect(start(8n)).toBe(8n);
    expect(start()).toBe(9n);
  });

  it.each(['', '\n', 'seven', '-1', '0', '1.5', '7 8', '\0\0', '9223372036854775807', '1'.repeat(30)])(
    'given an epoch file with %j, then the start is refused and nothing is changed',
    (text) => {
      setEpoch(text);
      expect(() => start()).toThrow('BF_EPOCH_LOST');
      expect(readFileSync(join(folder, 'epoch'), 'utf8')).toBe(text);
      expect(start(8n)).toBe(8n);
    },
  );

  it('given a number to begin at, then it raises the epoch and never lowers it', () => {
    expect([start(5n), start(5n), start(3n), start(100n)]).toEqual([5n, 6n, 7n, 100n]);
  });
});

describe('a directory that began without its past', () => {
  it('given no clock, then it begins at the microsecond, and says that it is new once', () => {
    const before = BigInt(Date.now()) * 1000n;
    const first = openDataDir(folder, 0n);
    first.close();
    const second = openDataDir(folder, 0n);
    second.close();
    expect(first.epoch >= before && first.epoch < before + 60_000_000n).toBe(true);
    expect([first.isNew, second.isNew]).toEqual([true, false]);
  });

  it('given an epoch that others have seen, then the next start is above it, and nothing is ever lowered', () => {
    const first = openDataDir(folder, 0n, () => 100n);
    first.raiseTo(50n);
    expect(readFileSync(join(folder, 'epoch'), 'utf8')).toBe('100\n');
    first.raiseTo(500n);
    first.raiseTo(2n ** 63n - 1n);
    first.close();
    expect(start()).toBe(501n);
  });
});

describe('a data directory', () => {
  it('given one that is in use, then a second is refused and uses up no epoch', () => {
    const first = openDataDir(folder, 0n);
    expect(() => start()).toThrow('BF_STORE_LOCKED');
    first.close();
    expect(start()).toBe(first.epoch + 1n);
  });

  it('given a process that was killed, then the next one gets in', () => {
    const url = new URL('./data-dir.ts', import.meta.url).href;
    const script = `import { openDataDir } from ${JSON.stringify(url)};
      openDataDir(${JSON.stringify(folder)}, 7n);
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(signal).toBe('SIGKILL');
    expect(start()).toBe(8n);
  });

  it('given a path that is no directory, then it says so', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => start(0n, join(folder, 'file', 'data'))).toThrow('BF_DATA_DIR');
  });
});
