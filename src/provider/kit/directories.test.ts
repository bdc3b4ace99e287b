import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from './directories.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-dir-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a directory that is made', () => {
  it('given none above it, then those are made too, and a second time changes nothing', () => {
    const path = join(dir, 'a', 'b', 'c');
    makeDirectory(path, 0o700);
    makeDirectory(path);
    expect(statSync(path).isDirectory()).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('given a file in the way, then it says so', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => makeDirectory(join(dir, 'file', 'b'))).toThrow(/ENOTDIR|EEXIST/);
  });

  // Only where there is such a place.
  it.runIf(process.platform === 'linux')('given a place where nothing can be made, then it ends', () => {
    expect(() => makeDirectory('/proc/bigfleet/up/clouds')).toThrow(/ENOENT.*\/proc\/bigfleet'/);
  });
});
