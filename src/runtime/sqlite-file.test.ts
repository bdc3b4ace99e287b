// The two write paths of a file: batched per turn of the event loop, or immediate.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteFile } from './sqlite-file.ts';

const FORMAT = {
  applicationId: 7,
  version: 1,
  schema: 'CREATE TABLE words (word TEXT)',
  isNot: 'is no test',
};

let folder: string;
let file: SqliteFile;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-sqlite-'));
  file = new SqliteFile(join(folder, 'words.db'), FORMAT);
});
afterEach(() => {
  file.close();
  rmSync(folder, { recursive: true });
});

function say(word: string): () => void {
  return () => file.database.prepare('INSERT INTO words VALUES (?)').run(word);
}

function fail(): void {
  throw new Error('disk full');
}

function words(): unknown[] {
  return file.database
    .prepare('SELECT word FROM words ORDER BY rowid')
    .all()
    .map(({ word }) => word);
}

describe('a SQLite file', () => {
  it('given an immediate write while others are queued, then the queued ones are committed first', async () => {
    const waiting = file.write(say('first'));
    file.writeNow(say('second'));
    expect(words()).toEqual(['first', 'second']);
    await waiting;
  });

  it('given an immediate write that fails, then it is rolled back and later writes fail', async () => {
    const half = (): void => {
      say('half')();
      fail();
    };
    expect(() => file.writeNow(half)).toThrow('disk full');
    expect(() => file.writeNow(say('later'))).toThrow('disk full');
    await expect(file.write(say('later still'))).rejects.toThrow('disk full');
    expect(words()).toEqual([]);
  });

  it('given a batch that fails, then an immediate write after it fails too', async () => {
    const waiting = file.write(fail);
    expect(() => file.writeNow(say('after'))).toThrow('disk full');
    await expect(waiting).rejects.toThrow('disk full');
  });
});
