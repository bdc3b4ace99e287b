// The directory of `bigfleet up`: what is removed from it, what stays, and which places are refused.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDataDir } from '../../shard/index.ts';
import { openUpDirectory } from './directory.ts';

let root: string;
let dir: string;
let said: string[];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'bigfleet-up-')));
  dir = join(root, 'state');
  said = [];
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

/** Opens the directory as `up` does, and releases it. */
function open(fresh = false, path = dir): void {
  openUpDirectory({ dir: path, fresh, notify: (text) => said.push(text), home: join(root, 'home') }).close();
}

function put(...files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), `${file}\n`);
  }
}

const all = (): readonly string[] => readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
/** Files of a version that wrote no marker. */
const OLD = ['clouds/metal.db-wal', 'clouds/size.json', 'shard/epoch', 'shard/journal.db', 'shard.log'];
const OURS = ['.gitignore', 'bigfleet-up.json', 'lock.db'];

describe('the directory of up', () => {
  it('given no directory, then it is created and marked, and git ignores it', () => {
    open();
    expect(all()).toEqual(OURS);
    expect(JSON.parse(readFileSync(join(dir, 'bigfleet-up.json'), 'utf8'))).toMatchObject({ format: 1 });
    expect(readFileSync(join(dir, '.gitignore'), 'utf8')).toMatch(/^\*$/m);
  });

  it('given a directory without a marker, then its state stays, or is removed by --fresh', () => {
    put(...OLD);
    open();
    expect(all()).toEqual([...OURS, ...OLD, 'clouds', 'shard'].sort());
    expect(said).toEqual([]);
    open(true);
    expect(all()).toEqual(OURS);
    expect(said).toEqual([
      `Starting over: removing clouds/ (2 files), shard/ (2 files), shard.log in ${dir}.`,
    ]);
  });

  it('given a directory without a marker, when --fresh comes first, then its state is removed', () => {
    put(...OLD);
    open(true);
    expect(all()).toEqual(OURS);
  });

  it.each([
    ['notes.txt'],
    ['.git/HEAD'],
    ['clouds/photos/cat.jpg'],
    ['shard/thesis.db'],
    ['shard.log/not-a-log'],
  ])('given %s of the user, then it is refused, and nothing changes', (file) => {
    put(file);
    const before = all();
    for (const fresh of [true, false])
      expect(() => open(fresh)).toThrow(/^BF_UP_DIR_FOREIGN: .*did not write: .*--dir .*state\/bigfleet-up/);
    expect(all()).toEqual(before);
  });

  it('given a git checkout, then the error names it', () => {
    put('.git/HEAD', 'a', 'b', 'c', 'd');
    expect(() => open()).toThrow(
      `${dir} is a git checkout, with files that bigfleet did not write: .git, a, b and 2 more.`,
    );
  });

  it('given state of an old version beside files of the user, then it still opens, but not with --fresh', () => {
    put(...OLD, 'notes.txt');
    const before = all();
    open();
    expect(said).toEqual([expect.stringContaining('--fresh will refuse it')]);
    expect(() => open(true)).toThrow('BF_UP_DIR_FOREIGN');
    expect(all()).toEqual(before);
  });

  it('given a file that the user added, then --fresh leaves it, and prints that', () => {
    open();
    put(...OLD, 'notes.txt', 'shard/notes.txt');
    open(true);
    expect(all()).toEqual([...OURS, 'notes.txt', 'shard', 'shard/notes.txt'].sort());
    expect(said[1]).toBe('Files that bigfleet did not write stay: notes.txt, shard/notes.txt.');
  });

  it('given a link in place of a directory, then --fresh does not follow it', () => {
    open();
    mkdirSync(join(root, 'elsewhere'));
    writeFileSync(join(root, 'elsewhere', 'epoch'), '7\n');
    symlinkSync(join(root, 'elsewhere'), join(dir, 'shard'));
    expect(() => open(true)).toThrow(/BF_UP_DIR_FOREIGN: .*has shard of another kind/);
    expect(existsSync(join(root, 'elsewhere', 'epoch'))).toBe(true);
  });

  it.each([
    ['the root of the file system', () => '/'],
    ['your home directory', () => join(root, 'home')],
    ['the current directory', () => '.'],
  ])('given %s, then it is refused even if it is empty', (_, path) => {
    mkdirSync(join(root, 'home'));
    for (const fresh of [true, false]) expect(() => open(fresh, path())).toThrow('BF_UP_DIR_FOREIGN');
    expect(readdirSync(join(root, 'home'))).toEqual([]);
  });

  it('given a newer format, then it is refused, and nothing is removed', () => {
    put(...OLD);
    writeFileSync(join(dir, 'bigfleet-up.json'), '{"format": 2}');
    const before = all();
    for (const fresh of [true, false])
      expect(() => open(fresh)).toThrow(
        /^BF_UP_DIR_NEWER: .*is of format 2; this version knows formats up to 1/,
      );
    expect(all()).toEqual(before);
  });

  it.each(['', '[]', '{"format": "1"}', 'not JSON'])('given a marker with %j, then it is refused', (text) => {
    put('shard.log');
    writeFileSync(join(dir, 'bigfleet-up.json'), text);
    expect(() => open(true)).toThrow(/BF_UP_DIR_FOREIGN: .*does not say which format/);
    expect(existsSync(join(dir, 'shard.log'))).toBe(true);
  });

  it('given another process that uses it, then --fresh is refused and removes nothing', () => {
    const first = openUpDirectory({ dir, fresh: false, notify: () => {} });
    put(...OLD);
    expect(() => open(true)).toThrow('BF_STORE_LOCKED');
    first.close();
    expect(all()).toEqual(expect.arrayContaining(OLD));
  });

  it('given a process of a version without a marker that uses it, then --fresh is refused', () => {
    const shard = openDataDir(join(dir, 'shard'), 1n);
    expect(() => open(true)).toThrow('BF_STORE_LOCKED');
    expect(existsSync(join(dir, 'shard', 'epoch'))).toBe(true);
    shard.close();
    open(true);
    expect(all()).toEqual(OURS);
  });

  it('given an interrupted removal, then the next start completes it', () => {
    open();
    put('shard/brain.db');
    writeFileSync(join(dir, 'bigfleet-up.json'), '{"format": 1, "isRemoving": true}');
    open();
    expect(all()).toEqual(OURS);
    put('shard/brain.db');
    open();
    expect(all()).toContain('shard/brain.db');
  });
});
