// The house style that a program can hold: where imports may go, what must not be left lying about, how long a
// file may get.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const MAX_LINES = 600;
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'bin', 'examples', 'docs', 'api'];

const files = FOLDERS.filter((folder) => existsSync(folder))
  .flatMap(filesBelow)
  .filter((file) => !file.includes('/gen/'));
const code = files.filter((file) => /\.(ts|js)$/.test(file));

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function cruise(...paths: string[]): { status: number | null; output: string } {
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...paths];
  const { status, stdout } = spawnSync('node_modules/.bin/depcruise', args, { encoding: 'utf8' });
  return { status, output: stdout };
}

describe('tidy', () => {
  it('imports between rooms go one way', () => {
    expect(cruise('src', 'test', 'bench', 'scripts')).toMatchObject({ status: 0 });
  });

  it.each([
    ['fleet', '../cli/main.ts', 'fleet-imports'],
    ['model', '../wire/need.ts', 'model-imports'],
    ['wire', '../model/quantity.ts', 'room-front-door'],
    ['model', 'node:fs', 'engine-is-pure'],
  ])('an import from %s of %s is caught', (room, target, rule) => {
    const folder = `src/${room}/tidy-probe`;
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${folder}/probe.ts`, `import '${target.replace(/^\.\./, '../..')}';\n`);
      expect(cruise(folder).output).toContain(rule);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('no stray markers', () => {
    const marker = new RegExp(`\\b(${['TO', 'DO'].join('')}|FIX${'ME'}|X{3}|HA${'CK'})\\b`);
    expect(
      files.filter((file) => !file.endsWith('.binpb') && marker.test(readFileSync(file, 'utf8'))),
    ).toEqual([]);
  });

  it('no test is skipped or singled out', () => {
    const skipped = /\b(it|test|describe)\.(skip|only|todo)\b/;
    expect(
      code.filter((file) => skipped.test(readFileSync(file, 'utf8')) && !file.endsWith('tidy.test.ts')),
    ).toEqual([]);
  });

  it('no file is too long to read in a sitting', () => {
    expect(code.filter((file) => readFileSync(file, 'utf8').split('\n').length > MAX_LINES)).toEqual([]);
  });

  it('every source file says in its first lines what it is for', () => {
    const sources = code.filter((file) => /^(src|bench|scripts)\//.test(file) && !file.endsWith('.test.ts'));
    expect(sources.filter((file) => !/^(#!.*\n)?\/\//.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
