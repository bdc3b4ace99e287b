// `npm run bench -- hostile`: latencies of well-behaved clusters (the neighbours) during an attack. Every party is a
// process of its own.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, setPriority, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { Authority, wrongFiles } from '../../test/hostile/authority.ts';
import { progressOn } from '../ladder/progress.ts';
import { optionsGiven } from '../options.ts';
import { millisecondsOf } from '../waiting.ts';
import { ATTACKS } from './attacks.ts';
import type { AttackFigures } from './figures.ts';
import { measure } from './measure.ts';
import { reportOf } from './report.ts';
import { type Certificates, neighbourName, type Settings } from './settings.ts';

const NAME_WIDTH = Math.max(...Object.keys(ATTACKS).map(({ length }) => length));

const MEMORY = '/dev/shm';

const HELP = `bench hostile: latencies of well-behaved clusters during attacks on their shard

  --attack NAME    only this one; may be repeated (default: all, one after the other)
  --seconds N      of each period: before, during and after an attack (default 10)
  --neighbours N   small clusters that report throughout (default 50)
  --every T        between two roll-ups of a neighbour, of which a shard reads one a second (default 1100ms)
  --machines N     of the provider (default 2000)
  --settle T       after the first acks, before anything is measured (default 10s)
  --times N        speeds attacks up N times (default 1)
  --seed N         (default 1)
  --nice=N         niceness of all processes but the attacker, which is 10 nicer (default 0)
  --data-root DIR  where shards keep their data; in memory, disk writes of other processes are not in the figures
                   (default ${MEMORY} where there is one)
  --cpu-prof DIR   writes a profile of each thread of each shard
  --json           one JSON document on standard output

attacks, with attempts a minute:
${Object.entries(ATTACKS)
  .map(
    ([name, { about, perMinute }]) =>
      `  ${name.padEnd(NAME_WIDTH)} ${String(perMinute).padStart(5)}  ${about}`,
  )
  .join('\n')}

examples:
  npm run --silent bench -- hostile
  npm run --silent bench -- hostile --attack nothing --attack reconnects --seconds 30
  npm run --silent bench -- hostile --attack spoiled --times 10 --cpu-prof /tmp/profiles
  npm run --silent bench -- hostile --json > hostile.json
`;

const values = optionsGiven({
  attack: { type: 'string', multiple: true, default: Object.keys(ATTACKS) },
  seconds: { type: 'string', default: '10' },
  neighbours: { type: 'string', default: '50' },
  every: { type: 'string', default: '1100ms' },
  machines: { type: 'string', default: '2000' },
  settle: { type: 'string', default: '10s' },
  times: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  nice: { type: 'string', default: '0' },
  'data-root': { type: 'string', default: existsSync(MEMORY) ? MEMORY : tmpdir() },
  'cpu-prof': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

const settings: Settings = {
  neighbours: Number(values.neighbours),
  everyMs: millisecondsOf(values.every),
  machines: Number(values.machines),
  settleMs: millisecondsOf(values.settle),
  seconds: Number(values.seconds),
  times: Number(values.times),
  seed: Number(values.seed),
  niceness: Number(values.nice),
};

/** The problem of the command line; null if there is none. */
function usageProblem(): string | null {
  const unknown = values.attack.find((name) => !Object.hasOwn(ATTACKS, name));
  if (unknown !== undefined) return `There is no attack ${unknown}. --help names them.`;
  const wrong = Object.entries(settings).find(
    ([name, value]) => !Number.isInteger(value) || (value < 1 && name !== 'niceness'),
  );
  if (wrong === undefined) return null;
  const name = wrong[0].replace(/Ms$/, '').replace(/ness$/, '');
  return `--${name} must be above 0: a whole number, or a time such as 50ms. See --help.`;
}

function certificatesIn(folder: string): Certificates {
  const [ours, theirs] = [new Authority(folder, 'ours'), new Authority(folder, 'theirs')];
  return {
    shard: ours.files(['bigfleet://shard/shard-0']),
    provider: ours.files(['bigfleet://provider/cloud-0']),
    neighbours: Array.from({ length: settings.neighbours }, (_, i) =>
      ours.files([`bigfleet://cluster/${neighbourName(i)}`]),
    ),
    wrong: wrongFiles(ours, theirs),
  };
}

async function run(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  // This process is the idle one.
  setPriority(settings.niceness);
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-bench-hostile-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const certificates = certificatesIn(folder);
  const profiler = values['cpu-prof'];
  const progress = progressOn(process.stderr, 'hostile');
  const loadBefore = loadavg()[0];
  const attacks: AttackFigures[] = [];
  for (const attack of values.attack) {
    const found = await measure(attack, settings, {
      certificates: ATTACKS[attack]!.hasTls ? certificates : null,
      nodeFlags: profiler === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profiler, attack)}`],
      dataRoot: values['data-root'],
      logFile: join(folder, `${attack}.log`),
      progress,
    });
    attacks.push(found);
  }
  progress.done();
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    loadAverage: { before: loadBefore, after: loadavg()[0] },
  };
  const about = { benchmark: 'hostile', node: process.version, ...machine };
  if (values.json) console.log(JSON.stringify({ ...about, settings, attacks }, null, 2));
  else {
    console.log(reportOf(settings, attacks));
    console.log(`\nload average ${loadBefore?.toFixed(1)} before, ${loadavg()[0]?.toFixed(1)} after`);
  }
  process.exit();
}

const problem = usageProblem();
if (values.help) console.log(HELP);
else if (problem === null) await run();
else {
  console.error(problem);
  process.exitCode = 2;
}
