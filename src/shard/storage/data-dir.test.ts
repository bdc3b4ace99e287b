// The data directory: it is used by one process, and its epoch increases at every start.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDataDir } from './data-dir.ts';

/** Operations on the disk, in order. */
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
  it('given a new directory, then the epoch begins at the clock and increases by one at every start', () => {
    const path = join(folder, 'not', 'there', 'yet');
    expect([start(0n, path), start(0n, path), start(0n, path)]).toEqual([CLOCK, CLOCK + 1n, CLOCK + 2n]);
    expect(readFileSync(join(path, 'epoch'), 'utf8')).toBe(`${CLOCK + 2n}\n`);
    expect(readdirSync(path)).not.toContain('epoch.new');
  });

  it('given a start, then the new epoch file is synced before it replaces the old one, and the directory before its use', () => {
    start();
    disk.done.length = 0;
    start();
    expect(disk.done).toEqual(['sync epoch.new', 'rename epoch.new to epoch', `sync ${basename(folder)}`]);
  });

  it('given a volume with unrelated files, then it counts as new', () => {
    mkdirSync(join(folder, 'lost+found'));
    expect(start()).toBe(CLOCK);
  });

  it('given a start that was interrupted before the replacement, then its epoch is ignored', () => {
    start();
    writeFileSync(join(folder, 'epoch.new'), '');
    expect(start()).toBe(CLOCK + 1n);
  });

  it('given an epoch above 2^53, then it is incremented exactly', () => {
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

  it('given a minimum epoch, then it raises the epoch and never lowers it', () => {
    expect([start(5n), start(5n), start(3n), start(100n)]).toEqual([5n, 6n, 7n, 100n]);
  });
});

describe('a new data directory', () => {
  it('given no fixed clock, then it begins at the present microsecond, and `isNew` is true once', () => {
    const before = BigInt(Date.now()) * 1000n;
    const first = openDataDir(folder, 0n);
    first.close();
    const second = openDataDir(folder, 0n);
    second.close();
    expect(first.epoch >= before && first.epoch < before + 60_000_000n).toBe(true);
    expect([first.isNew, second.isNew]).toEqual([true, false]);
  });

  it('given a higher epoch found on machines, then the next start is above it, and the epoch is never lowered', () => {
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
  it('given a directory in use, then a second process is refused and consumes no epoch', () => {
    const first = openDataDir(folder, 0n);
    expect(() => start()).toThrow('BF_STORE_LOCKED');
    first.close();
    expect(start()).toBe(first.epoch + 1n);
  });

  it('given a process that was killed, then the next one acquires the lock', () => {
    const url = new URL('./data-dir.ts', import.meta.url).href;
    const script = `import { openDataDir } from ${JSON.stringify(url)};
      openDataDir(${JSON.stringify(folder)}, 7n);
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(signal).toBe('SIGKILL');
    expect(start()).toBe(8n);
  });

  it('given a path that is not a directory, then the error names it', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => start(0n, join(folder, 'file', 'data'))).toThrow('BF_DATA_DIR');
  });
});
