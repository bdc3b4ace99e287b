// `npm run bench -- record [NAME…]`: runs benchmarks with fixed options, keeps their JSON in bench/results, and renders
// the pages that show it. One run of everything takes about an hour on two cores; nothing else should run on the
// machine.

import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { type ResultName, writeResult } from './results.ts';
import { writeRecordedPages } from './write.ts';

/** `economy-today` is not measured again: it is what the rules cost before rows shared machines. */
const COMMANDS: Readonly<Record<Exclude<ResultName, 'economy-today'>, string>> = {
  ladder: 'ladder --all --workers 2 --cycles 30 --seconds 40 --seed 1',
  limits: 'limits --seconds 20',
  lanes:
    'lanes --profile uber-5k --profile uber-50k --profile uber-500k --profile uber-50k-regions --profile uber-500k-regions --regime cold --regime full --lanes auto,2,8',
  speedup: 'speedup --profile uber-500k --regime full',
  'shard-200': 'shard --clusters 200 --needs 388 --machines 225000 --providers 2 --interval 10s --seconds 60',
  'shard-2000':
    'shard --clusters 2000 --needs 388 --machines 2250000 --providers 5 --interval 10s --seconds 60',
  hostile: 'hostile --seconds 6 --settle 5s',
  'worst-frames': 'hostile --attack worst-frames --seconds 20 --settle 80s',
  provider: 'provider',
  operator: 'operator --report',
  web: 'web --clusters 200 --needs 388 --machines 225000 --providers 2 --interval 10s --seconds 60',
  whatif: 'whatif --profile uber-5k --profile uber-500k --runs 5 --seconds 60',
  startup: 'startup --rounds 15',
  economy: 'economy --seed 1 --seed 2 --seed 3 --seed 4 --seed 5',
};

const HELP = `bench record: measures the figures of the pages again, and renders them

  NAME…            only these: ${Object.keys(COMMANDS).join(', ')} (default: all)
  --render         measures nothing; renders the pages from bench/results

examples:
  npm run bench -- record
  npm run bench -- record ladder startup
`;

const args = process.argv.slice(2);
const names = args.filter((word) => !word.startsWith('-'));
const unknown = args.find((word) => !Object.hasOwn(COMMANDS, word) && !['--render', '--help'].includes(word));
if (args.includes('--help')) console.log(HELP);
else if (unknown !== undefined) {
  console.error(`There is nothing to record named ${unknown}.\n\n${HELP}`);
  process.exitCode = 2;
} else {
  const all = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];
  const wanted = args.includes('--render')
    ? []
    : all.filter((name) => names.length === 0 || names.includes(name));
  const failed = wanted.filter((name) => !record(name));
  writeRecordedPages();
  if (failed.length > 0) {
    console.error(`No result of ${failed.join(', ')}; the former ones stay.`);
    process.exitCode = 1;
  }
}

/** Whether the benchmark ran to its end; its result is then written. */
function record(name: keyof typeof COMMANDS): boolean {
  const command = COMMANDS[name];
  console.error(`${name}: bench ${command}`);
  const [before = 0] = loadavg();
  const { status, stdout } = spawnSync(
    process.execPath,
    [`${import.meta.dirname}/../main.ts`, ...command.split(' '), '--json'],
    { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) return false;
  const [after = 0] = loadavg();
  const load = { before: Number(before.toFixed(2)), after: Number(after.toFixed(2)) };
  writeResult(name, { command: `npm run --silent bench -- ${command}`, load, result: JSON.parse(stdout) });
  return true;
}
