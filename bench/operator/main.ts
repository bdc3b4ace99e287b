// `npm run --silent bench -- operator`: what a roll-up costs an operator of a large cluster, and how much memory and start-up
// time it takes. The operator runs in a process of its own; this one generates the cluster and feeds it page by page.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { optionsGiven } from '../options.ts';
import type { OperatorFigures } from './operator-process.ts';
import { type ClusterSize, GeneratedCluster } from './workload.ts';

const HELP = `bench operator: roll-ups, memory and start of the operator of one cluster

  --pods N         pods (default 250000)
  --nodes N        nodes (default 5000)
  --workloads N    workloads, each a row of demand (default 2600)
  --rollups N      roll-ups that are measured, after 10 that are not (default 100)
  --share F        pod events before each roll-up, as a share of the pods (default 0.01)
  --seed N         (default 1)
  --json           one JSON document on standard output

Fails if a limit is exceeded: roll-up 50 ms (p99), 400 MiB, 60 s of CPU to start.

example:
  npm run --silent bench -- operator --pods 50000 --nodes 1000
`;

const LIMITS = { rollupMs: 50, rssMiB: 400, startCpuSeconds: 60 } as const;
const PAGE = 500;
/** As the operator's Deployment sets it: parsed pages are short-lived, and a large young generation only takes memory. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
const WARM_UP_ROLLUPS = 10;

const values = optionsGiven({
  pods: { type: 'string', default: '250000' },
  nodes: { type: 'string', default: '5000' },
  workloads: { type: 'string', default: '2600' },
  rollups: { type: 'string', default: '100' },
  share: { type: 'string', default: '0.01' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
});
const size: ClusterSize = {
  pods: Number(values.pods),
  nodes: Number(values.nodes),
  workloads: Number(values.workloads),
};
const settings = {
  ...size,
  rollups: Number(values.rollups),
  share: Number(values.share),
  seed: Number(values.seed),
};

if (values.help) console.log(HELP);
else if (Object.values(settings).some((value) => !(value > 0))) {
  console.error('Every option is a number above 0. See --help.');
  process.exitCode = 2;
} else await run();

async function run(): Promise<void> {
  const figures = await measured();
  const exceeded = [
    ...(figures.rollupMs.p99 > LIMITS.rollupMs ? [`roll-up p99 above ${LIMITS.rollupMs} ms`] : []),
    ...(figures.peakRssMiB > LIMITS.rssMiB ? [`more than ${LIMITS.rssMiB} MiB`] : []),
    ...(figures.startCpuSeconds > LIMITS.startCpuSeconds
      ? [`start above ${LIMITS.startCpuSeconds} s of CPU`]
      : []),
  ];
  if (values.json) console.log(JSON.stringify({ settings, limits: LIMITS, ...figures, exceeded }, null, 2));
  else print(figures);
  for (const each of exceeded) console.error(`Limit exceeded: ${each}.`);
  if (exceeded.length > 0) process.exitCode = 1;
}

async function measured(): Promise<OperatorFigures> {
  const child = spawn(process.execPath, [...NODE_FLAGS, `${import.meta.dirname}/operator-process.ts`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const ended = once(child, 'close');
  const send = async (line: string): Promise<void> => {
    if (!child.stdin.write(`${line}\n`)) await once(child.stdin, 'drain');
  };
  const cluster = new GeneratedCluster(size, settings.seed);
  await sendLists(cluster, send);
  for (let i = 0; i < WARM_UP_ROLLUPS + settings.rollups; i++) {
    if (i === WARM_UP_ROLLUPS) await send('{"command":"measure"}');
    for (const event of cluster.events(Math.round(size.pods * settings.share))) await send(event);
    await send('{"command":"rollup"}');
  }
  await send('{"command":"end"}');
  child.stdin.end();
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`The operator's process ended with ${code}.`);
  return JSON.parse(Buffer.concat(output).toString()) as OperatorFigures;
}

async function sendLists(cluster: GeneratedCluster, send: (line: string) => Promise<void>): Promise<void> {
  const volumes = [...cluster.volumes()];
  const lists: readonly (readonly [string, Iterable<object>])[] = [
    ['namespaces', cluster.namespaces()],
    ['nodes', cluster.nodes()],
    ['daemonsets', cluster.daemonSets()],
    ['persistentvolumeclaims', volumes.map(({ claim }) => claim)],
    ['persistentvolumes', volumes.map(({ volume }) => volume)],
    ['poddisruptionbudgets', cluster.budgets()],
  ];
  for (const [list, objects] of lists) await sendPages(list, objects, JSON.stringify, send);
  await sendPages('pods', cluster.pods(), String, send);
  await send('{"command":"listed"}');
}

async function sendPages<T>(
  list: string,
  objects: Iterable<T>,
  textOf: (object: T) => string,
  send: (line: string) => Promise<void>,
): Promise<void> {
  let page: string[] = [];
  const flush = async (): Promise<void> => {
    await send(`{"list":"${list}","items":[${page.join(',')}]}`);
    page = [];
  };
  for (const object of objects) {
    page.push(textOf(object));
    if (page.length === PAGE) await flush();
  }
  await flush();
}

function print(figures: OperatorFigures): void {
  const { rollupMs, rollupCpuMs, buildMs, parseMs, nodeUseMs } = figures;
  console.log(
    `${figures.pods} pods in ${figures.rows} rows, ${figures.eventsPerRollup} events per roll-up of ${figures.rollupBytes} bytes`,
  );
  console.table({
    'roll-up: events and build, ms': rollupMs,
    'the same, ms of CPU': rollupCpuMs,
    'of it: build, ms': buildMs,
    'JSON of the events, ms': parseMs,
    'use of all nodes, ms': nodeUseMs,
  });
  console.log(
    `start: ${figures.startCpuSeconds} s of CPU (${figures.startSeconds} s) for ${figures.listedMiB} MiB of JSON; memory: ${figures.peakRssMiB} MiB at most, ${figures.endRssMiB} MiB at the end`,
  );
}
