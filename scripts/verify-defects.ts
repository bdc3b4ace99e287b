// `npm run verify:defects`: injects every defect of testing/mutants/defects.ts, one at a time, into a copy of the
// source and runs the simulation until an invariant is violated. Prints the table of docs/internals/robustness.md. Exit
// code 0: all were found. 1: one was not. 2: the place of a defect has changed.

import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { optionsGiven } from '../bench/options.ts';
import { DEFECTS, type Defect } from '../testing/mutants/defects.ts';

const USAGE = `npm run verify:defects -- [--only TEXT] [--seeds N] [--jobs N]
  --only TEXT   only defects whose name contains TEXT
  --seeds N     maximum number of worlds per defect (default 1000)
  --jobs N      concurrent defects (default 2)`;

interface SearchResult {
  readonly defect: Defect;
  /** null: not found. */
  readonly seed: number | null;
  readonly invariant: string;
  readonly seconds: number;
  readonly output: string;
}

/** What the simulation runs: the product and the simulated world around it. */
const COPIED = ['src', 'testing'];

const options = optionsGiven({
  only: { type: 'string', default: '' },
  seeds: { type: 'string', default: '1000' },
  jobs: { type: 'string', default: '2' },
  help: { type: 'boolean', default: false },
});
const chosen = DEFECTS.filter(({ name }) => name.includes(options.only));
if (options.help || chosen.length === 0 || !(Number(options.seeds) > 0) || !(Number(options.jobs) > 0)) {
  console.error(USAGE);
  process.exit(options.help ? 0 : 2);
}
const root = resolve(import.meta.dirname, '..');
const moved = (await Promise.all(chosen.map(placeProblem))).filter((problem) => problem !== null);
if (moved.length > 0) {
  console.error(
    `The source has changed at the places of these defects; update testing/mutants/defects.ts:\n${moved.join('\n')}`,
  );
  process.exit(2);
}
const found: SearchResult[] = [];
const left = [...chosen];
await Promise.all(Array.from({ length: Number(options.jobs) }, work));
const inOrder = chosen.map((defect) => found.find((one) => one.defect === defect)!);
console.log('| defect | found by | seed | s |\n|---|---|---|---|');
for (const { defect, seed, invariant, seconds } of inOrder)
  console.log(
    `| **${defect.name}**: ${defect.what} | \`${invariant}\` | ${seed ?? 'NOT FOUND'} | ${seconds} |`,
  );
const missed = inOrder.filter(({ seed }) => seed === null);
for (const { defect, output } of missed) console.error(`NOT FOUND: ${defect.name}\n${output}`);
process.exit(missed.length === 0 ? 0 : 1);

async function work(): Promise<void> {
  for (let defect = left.shift(); defect !== undefined; defect = left.shift()) {
    const one = await search(defect);
    found.push(one);
    console.error(
      `${found.length}/${chosen.length}  ${defect.name}: ${one.seed ?? 'NOT FOUND'} ${one.invariant}`,
    );
  }
}

async function search(defect: Defect): Promise<SearchResult> {
  const started = performance.now();
  const copy = join(root, '.cache', 'defects', defect.name.replaceAll(' ', '-'));
  await inject(defect, copy);
  const output = await soak(copy);
  await rm(copy, { recursive: true, force: true });
  const [, seed, invariant] = /^FAULT seed (\d+), \d+ ms: ([a-z-]+)/m.exec(output) ?? [];
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  return {
    defect,
    seed: seed === undefined ? null : Number(seed),
    invariant: invariant ?? '',
    seconds,
    output,
  };
}

/** Why a defect cannot be injected: its text must occur exactly once in its file. null: it can. */
async function placeProblem({ file, text, name }: Defect): Promise<string | null> {
  const source = await readFile(join(root, file), 'utf8').catch(() => null);
  if (source === null) return `  ${name}: there is no file ${file}.`;
  const times = source.split(text).length - 1;
  return times === 1
    ? null
    : `  ${name}: its text occurs ${times} times in ${file}:\n${text.replaceAll(/^/gm, '    ')}`;
}

async function inject({ file, text, replacement }: Defect, copy: string): Promise<void> {
  await rm(copy, { recursive: true, force: true });
  await mkdir(join(copy, 'scripts'), { recursive: true });
  for (const folder of COPIED) await cp(join(root, folder), join(copy, folder), { recursive: true });
  await cp(join(root, 'scripts', 'soak.ts'), join(copy, 'scripts', 'soak.ts'));
  await cp(join(root, 'package.json'), join(copy, 'package.json'));
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const source = await readFile(join(copy, file), 'utf8');
  await writeFile(
    join(copy, file),
    source.replace(text, () => replacement),
  );
}

function soak(copy: string): Promise<string> {
  const args = ['scripts/soak.ts', '--seeds', options.seeds, '--no-shrink'];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const append = (text: Buffer): void => {
    output = (output + text.toString()).slice(-4000);
  };
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  return new Promise((done) => child.on('close', () => done(output)));
}
