// `npm run bench -- shard`: providers, load generators and the shard, each a process of its own, over gRPC on loopback.

import { mkdtempSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { progressOn } from '../ladder/progress.ts';
import { optionsGiven } from '../options.ts';
import { millisecondsOf } from '../waiting.ts';
import { measure } from './measure.ts';
import { tableOf } from './report.ts';
import type { Settings } from './settings.ts';

const HELP = `bench shard: a shard over gRPC, its clusters and providers in separate processes

  --clusters N     clusters with a session (default 200)
  --needs N        Needs of each cluster (default 388)
  --machines N     machines of all providers together (default 225000)
  --providers N    processes that serve them (default 2)
  --generators N   processes that share the clusters, niced (default 2)
  --interval T     between two roll-ups of a cluster, such as 10s (default 10s)
  --settle T       from the start to the measurement (default 20s)
  --seconds N      duration of the measurement (default 60)
  --seed N         (default 1)
  --nice=N         niceness of shard and providers; below 0 on a shared machine (default 0)
  --heap MIB       heap of each thread of the shard (default 8192)
  --cpu-prof DIR   writes a profile of each thread of the shard
  --flag TEXT      one more flag for the shard, such as --flag=--phase1-workers=1; may be repeated
  --json           one JSON document on standard output

examples:
  npm run --silent bench -- shard --clusters 20 --machines 22500 --seconds 10
  npm run --silent bench -- shard --clusters 2000 --machines 2250000 --providers 5 --json
`;

const values = optionsGiven({
  clusters: { type: 'string', default: '200' },
  needs: { type: 'string', default: '388' },
  machines: { type: 'string', default: '225000' },
  providers: { type: 'string', default: '2' },
  generators: { type: 'string', default: '2' },
  interval: { type: 'string', default: '10s' },
  settle: { type: 'string', default: '20s' },
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  nice: { type: 'string', default: '0' },
  heap: { type: 'string', default: '8192' },
  'cpu-prof': { type: 'string' },
  flag: { type: 'string', multiple: true, default: [] },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

const settings: Settings = {
  clusters: Number(values.clusters),
  needs: Number(values.needs),
  machines: Number(values.machines),
  providers: Number(values.providers),
  generators: Math.min(Number(values.generators), Number(values.clusters)),
  intervalMs: millisecondsOf(values.interval),
  settleMs: millisecondsOf(values.settle),
  seconds: Number(values.seconds),
  seed: Number(values.seed),
  niceness: Number(values.nice),
};

const wrong = Object.entries(settings).find(
  ([name, value]) => !Number.isInteger(value) || (value < 1 && name !== 'niceness'),
);
if (values.help) console.log(HELP);
else if (wrong !== undefined) {
  const name = wrong[0].replace(/Ms$/, '');
  console.error(`--${name} must be above 0: a whole number, or a time such as 10s. See --help.`);
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const profiler = values['cpu-prof'];
  const progress = progressOn(process.stderr, 'shard');
  const loadBefore = loadavg()[0];
  const figures = await measure(settings, {
    nodeFlags: [
      `--max-old-space-size=${values.heap}`,
      ...(profiler === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiler}`]),
    ],
    flags: values.flag,
    logFile: join(mkdtempSync(join(tmpdir(), 'bigfleet-bench-log-')), 'shard.log'),
    progress,
  });
  progress.done();
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
  const loadAverage = { before: loadBefore, after: loadavg()[0] };
  const about = { benchmark: 'shard', node: process.version, ...machine, loadAverage };
  if (values.json) console.log(JSON.stringify({ ...about, settings, ...figures }, null, 2));
  else console.log(tableOf(settings, figures, loadAverage));
  process.exit();
}
