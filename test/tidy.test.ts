// The house style as far as a program can check it: import rules, leftover markers, file sizes.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, matchesGlob, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALONE, LONGEST } from './projects.ts';

const MAX_LINES = 600;
const FOLDERS = ['src', 'test', 'testing', 'bench', 'scripts', 'bin', 'examples', 'docs', 'api'];

const files = FOLDERS.filter((folder) => existsSync(folder))
  .flatMap(filesBelow)
  .filter((file) => !file.includes('/gen/'));
const code = files.filter((file) => /\.(ts|js)$/.test(file));

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function cruise(folder: string, ...paths: string[]): { status: number | null; output: string } {
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...paths];
  const depcruise = resolve('node_modules/.bin/depcruise');
  const { status, stdout } = spawnSync(depcruise, args, { encoding: 'utf8', cwd: folder });
  return { status, output: stdout };
}

/** The import rules applied to one import, in a scratch directory. */
function cruiseProbe(room: string, target: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-tidy-'));
  try {
    cpSync('.dependency-cruiser.cjs', join(folder, '.dependency-cruiser.cjs'));
    const probe = join(folder, 'src', room, 'probe.ts');
    for (const file of [probe, ...(target.startsWith('.') ? [join(dirname(probe), target)] : [])]) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, 'export {};\n');
    }
    writeFileSync(probe, `import '${target}';\n`);
    return cruise(folder, 'src').output;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the repository', () => {
  it('given the imports between rooms, then none violates a rule', () => {
    expect(cruise('.', 'src', 'test', 'testing', 'bench', 'scripts')).toMatchObject({ status: 0 });
  });

  it.each([
    ['fleet', '../cli/main.ts', 'fleet-imports'],
    ['model', '../wire/codec/need.ts', 'model-imports'],
    ['wire', '../model/quantity.ts', 'room-front-door'],
    ['model', 'node:fs', 'engine-is-pure'],
    // A shard keeps deciding without a coordinator, so none of its code may depend on one.
    ['shard', '../coordinator/index.ts', 'shard-imports'],
    ['shard/planning', '../../coordinator/index.ts', 'shard-imports'],
    ['shard/planning', '../sessions/session.ts', 'planning-is-pure'],
    ['shard/actuation', 'node:timers', 'planning-is-pure'],
    ['shard/journal', 'node:worker_threads', 'worker-threads'],
    // Nor indirectly, by way of another room.
    ['provider', '../coordinator/index.ts', 'provider-imports'],
    ['engine', '../coordinator/index.ts', 'engine-imports'],
  ])('given an import from %s of %s, then it violates a rule', (room, target, rule) => {
    expect(cruiseProbe(room, target)).toContain(rule);
  });

  it('given the code of decisions, then it imports only the read-only view of the fleet', () => {
    const writers = code.filter(
      (file) =>
        file.startsWith('src/engine/') &&
        !file.endsWith('.test.ts') &&
        /import [^;]*\b(Fleet|MachineTable|PendingChanges)\b[^;]* from '[./]*fleet/.test(
          readFileSync(file, 'utf8'),
        ),
    );
    // A worker thread makes a fleet of its own, which follows the one of the cycle.
    expect(writers).toEqual(['src/engine/parallel/shared-state.ts']);
  });

  it('given all files, then none has a leftover marker', () => {
    const marker = new RegExp(`\\b(${['TO', 'DO'].join('')}|FIX${'ME'}|X{3}|HA${'CK'})\\b`);
    expect(
      files.filter((file) => !/\.(binpb|png)$/.test(file) && marker.test(readFileSync(file, 'utf8'))),
    ).toEqual([]);
  });

  it('given all comments, texts and pages, then none uses a word that hides the actor', () => {
    const words = ['nobody', 'somebody', 'whoever', 'anew', 'so many', 'so long', 'stands', 'the same of'];
    const style = new RegExp(`\\b(${words.join('|')})\\b`, 'i');
    const texts = [...files, 'README.md', 'CONTRIBUTING.md'].filter(
      (file) => /\.(ts|js|md|yaml|proto|html)$/.test(file) && !/^docs\/adr\/|tidy\.test\.ts$/.test(file),
    );
    expect(texts.filter((file) => style.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('given comments that name files, then each exists', () => {
    const names = new Set([...files, ...readdirSync('.')].map((file) => basename(file)));
    const missing = code.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line))
        .flatMap((line) => line.match(/(?<![\w.-])[a-z0-9][\w-]*(?:\.[\w-]+)*\.ts\b/g) ?? [])
        .filter((name) => !names.has(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('given all tests, then none is skipped or singled out', () => {
    const skipped = /\b(it|test|describe)\.(skip|only|todo)\b/;
    expect(
      code.filter((file) => skipped.test(readFileSync(file, 'utf8')) && !file.endsWith('tidy.test.ts')),
    ).toEqual([]);
  });

  it('given a test file that changes state of its process, then it has a process of its own', () => {
    const changes = /\bvi\.(mock|doMock|resetModules|stubGlobal)\(|process\.chdir\(|new Worker\(/;
    const shared = code.filter(
      (file) => file.endsWith('.test.ts') && !ALONE.some((pattern) => matchesGlob(file, pattern)),
    );
    expect(shared.length).toBeGreaterThan(100);
    expect(shared.filter((file) => changes.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('given the list of files that start first, then each exists', () => {
    expect(LONGEST.filter((file) => !existsSync(file))).toEqual([]);
  });

  it('given all files, then none exceeds the maximum length', () => {
    expect(code.filter((file) => readFileSync(file, 'utf8').split('\n').length > MAX_LINES)).toEqual([]);
  });

  it('given all source files, then each begins with a comment on its purpose', () => {
    const sources = code.filter(
      (file) => /^(src|testing|bench|scripts)\//.test(file) && !file.endsWith('.test.ts'),
    );
    expect(sources.filter((file) => !/^(#!.*\n)?\/\//.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
