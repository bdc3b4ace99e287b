// The data directory: one process, and an epoch that rises whatever happens.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataDir } from './data-dir.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-data-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A start of the shard, ended at once. */
function start(atLeast = 0n, path = folder): bigint {
  const { epoch, close } = openDataDir(path, atLeast);
  close();
  return epoch;
}

function setEpoch(text: string): void {
  writeFileSync(join(folder, 'epoch'), text);
}

describe('the epoch of a shard', () => {
  it('given a new directory, then it is 1, and one more at every start', () => {
    const path = join(folder, 'not', 'there', 'yet');
    expect([start(0n, path), start(0n, path), start(0n, path)]).toEqual([1n, 2n, 3n]);
    expect(readFileSync(join(path, 'epoch'), 'utf8')).toBe('3\n');
    expect(readdirSync(path)).not.toContain('epoch.new');
  });

  it('given a volume with files of somebody else, then it is new', () => {
    mkdirSync(join(folder, 'lost+found'));
    expect(start()).toBe(1n);
  });

  it('given a start that was cut off before its epoch was in place, then that one was never used', () => {
    start();
    writeFileSync(join(folder, 'epoch.new'), '');
    expect(start()).toBe(2n);
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

describe('a data directory', () => {
  it('given one that is in use, then a second is refused and uses up no epoch', () => {
    const first = openDataDir(folder, 0n);
    expect(() => start()).toThrow('BF_STORE_LOCKED');
    first.close();
    expect(start()).toBe(2n);
  });

  it('given a process that was killed, then the next one gets in', () => {
    const url = new URL('./data-dir.ts', import.meta.url).href;
    const script = `import { openDataDir } from ${JSON.stringify(url)};
      openDataDir(${JSON.stringify(folder)}, 0n);
      process.kill(process.pid, 'SIGKILL');`;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    expect(signal).toBe('SIGKILL');
    expect(start()).toBe(2n);
  });

  it('given a path that is no directory, then it says so', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => start(0n, join(folder, 'file', 'data'))).toThrow('BF_DATA_DIR');
  });
});
