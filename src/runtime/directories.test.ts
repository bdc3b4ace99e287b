import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory, replaceFile } from './directories.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-dir-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a small file that is replaced', () => {
  it('given a full disk, then the old file stays, no temporary file remains, and the error names the cause', () => {
    const path = join(dir, 'size.json');
    writeFileSync(path, 'old');
    const url = new URL('./directories.ts', import.meta.url).href;
    const script = `import { replaceFile } from ${JSON.stringify(url)};
      try { replaceFile(${JSON.stringify(path)}, 'new'.repeat(1000)); } catch (error) { console.log(error.message); }`;
    // A limit on the size of files simulates a full disk.
    const command = 'ulimit -f 1; exec "$0" --input-type=module -e "$1"';
    const { stdout } = spawnSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    expect(stdout).toMatch(/^BF_STORE_FAILED: .*size\.json: EFBIG: .*Free some space/);
    expect(readdirSync(dir)).toEqual(['size.json']);
    expect(readFileSync(path, 'utf8')).toBe('old');
    replaceFile(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
  });
});

describe('makeDirectory', () => {
  it('given missing parents, then they are created too, and a second call changes nothing', () => {
    const path = join(dir, 'a', 'b', 'c');
    makeDirectory(path, 0o700);
    makeDirectory(path);
    expect(statSync(path).isDirectory()).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it('given a file in place of a parent, then it throws the error of the system', () => {
    writeFileSync(join(dir, 'file'), '');
    expect(() => makeDirectory(join(dir, 'file', 'b'))).toThrow(/ENOTDIR|EEXIST/);
  });

  // Only Linux has /proc.
  it.runIf(process.platform === 'linux')(
    'given a parent in which nothing can be created, then it returns with an error',
    () => {
      expect(() => makeDirectory('/proc/bigfleet/up/clouds')).toThrow(/ENOENT.*\/proc\/bigfleet'/);
    },
  );
});
