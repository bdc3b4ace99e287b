// `npm run bench -- web`: the processor time that one open dashboard takes in a shard. The shard, its clusters and its
// providers are those of `bench shard`; the page is a client without a browser.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { progressOn } from '../ladder/progress.ts';
import { optionsGiven } from '../options.ts';
import { rounded } from '../quantiles.ts';
import { onSettledShard } from '../shard/measure.ts';
import { nowMs, usageOf } from '../shard/processes.ts';
import type { Settings } from '../shard/settings.ts';
import type { ShardProcess } from '../shard/shard-process.ts';
import { millisecondsOf, pause, withProgress } from '../waiting.ts';
import { Dashboard } from './dashboard.ts';
import type { ShardCpu, WebFigures } from './figures.ts';

const HELP = `bench web: the processor time that one open dashboard takes in a shard

  --clusters N     clusters with a session (default 200)
  --needs N        Needs of each cluster (default 388)
  --machines N     machines of all providers together (default 225000)
  --providers N    processes that serve them (default 2)
  --interval T     between two roll-ups of a cluster, such as 10s (default 10s)
  --settle T       from the start to the measurement (default 20s)
  --seconds N      duration of each of three windows: without, with and without the page (default 60)
  --json           one JSON document on standard output

examples:
  npm run --silent bench -- web --clusters 20 --machines 22500 --seconds 10
`;

const values = optionsGiven({
  clusters: { type: 'string', default: '200' },
  needs: { type: 'string', default: '388' },
  machines: { type: 'string', default: '225000' },
  providers: { type: 'string', default: '2' },
  interval: { type: 'string', default: '10s' },
  settle: { type: 'string', default: '20s' },
  seconds: { type: 'string', default: '60' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});

const settings: Settings = {
  clusters: Number(values.clusters),
  needs: Number(values.needs),
  machines: Number(values.machines),
  providers: Number(values.providers),
  generators: Math.min(2, Number(values.clusters)),
  intervalMs: millisecondsOf(values.interval),
  settleMs: millisecondsOf(values.settle),
  seconds: Number(values.seconds),
  seed: 1,
  niceness: 0,
};

if (values.help) console.log(HELP);
else if (Object.entries(settings).some(([name, value]) => !(value >= 1) && name !== 'niceness')) {
  console.error('Every option is a whole number above 0, or a time such as 10s. See --help.');
  process.exitCode = 2;
} else {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const progress = progressOn(process.stderr, 'web');
  const logFile = join(mkdtempSync(join(tmpdir(), 'bigfleet-bench-log-')), 'shard.log');
  const options = { nodeFlags: ['--max-old-space-size=8192'], flags: [], logFile, progress };
  const figures = await onSettledShard(settings, options, async (shard) => {
    // Only the page follows the event stream.
    shard.unfollow();
    const window = (about: string): Promise<ShardCpu> =>
      withProgress(progress, cpuDuring(shard, settings.seconds), () => `measuring ${about}`);
    const before = await window('without a page');
    const page = new Dashboard(shard.api);
    page.open();
    const withPage = await window('with one page');
    const traffic = await page.close();
    const without = [before, await window('without a page')];
    const base = without.reduce((sum, { cpuPercent }) => sum + cpuPercent, 0) / without.length;
    const differencePercent = rounded(withPage.cpuPercent - base);
    const { clusters, needs, machines, intervalMs, seconds } = settings;
    const size = { clusters, needs, machines, intervalMs, seconds };
    return { settings: size, without, withPage, differencePercent, page: traffic } satisfies WebFigures;
  });
  progress.done();
  if (values.json) console.log(JSON.stringify(figures, null, 2));
  else print(figures);
  process.exit();
}

async function cpuDuring(shard: ShardProcess, seconds: number): Promise<ShardCpu> {
  const [from, beganMs, first] = [usageOf(shard.pid), nowMs(), await cyclesOf(shard)];
  await pause(seconds * 1000);
  const [to, endedMs, last] = [usageOf(shard.pid), nowMs(), await cyclesOf(shard)];
  const cpuPercent = rounded(((to.cpuSeconds - from.cpuSeconds) * 100_000) / (endedMs - beganMs));
  return { cpuPercent, cycles: last - first };
}

async function cyclesOf({ api }: ShardProcess): Promise<number> {
  const { cycle } = (await (await fetch(`${api}/v1/status`)).json()) as { cycle: { number: number } };
  return cycle.number;
}

function print({ without, withPage, differencePercent, page }: WebFigures): void {
  const [before, after] = without;
  console.log(
    `shard: ${before!.cpuPercent} % of a core without a page, ${withPage.cpuPercent} % with one, ${after!.cpuPercent} % after it: ${differencePercent} % for the page`,
  );
  console.log(
    `page: ${page.events} events, ${page.requests} requests (${page.refused} refused), ${page.megabytes.toFixed(1)} MB, answers p50 ${page.answerMs.p50.toFixed(1)}, p99 ${page.answerMs.p99.toFixed(1)} ms`,
  );
}
