// `npm run --silent bench -- operator`: what a roll-up costs the operator of a large cluster, and how much memory and start-up
// time it takes. A whole operator runs in a process of its own; this one is its API server and generates the cluster.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NODE_OPTIONS } from '../../src/operator/manifests/deployment.ts';
import { machineLine } from '../ladder/report.ts';
import { optionsGiven } from '../options.ts';
import { GeneratedApiServer } from './api-server.ts';
import { builtProgram } from './build.ts';
import type { OperatorFigures, OperatorLimits, OperatorResult, RollupLine } from './figures.ts';
import { type ClusterSize, GeneratedCluster } from './workload.ts';

const HELP = `bench operator: roll-ups, memory and start of the operator of one cluster

  --pods N         pods (default 250000)
  --nodes N        nodes (default 5000)
  --workloads N    workloads, each a row of demand (default 2600)
  --rollups N      roll-ups that are measured, after 10 that are not (default 100)
  --share F        pod events before each roll-up, as a share of the pods (default 0.01)
  --seed N         (default 1)
  --report         reports exceeded limits without failing
  --json           one JSON document on standard output

The operator is compiled into a temporary folder first, as an installed package is, and runs with the V8 options of its
Deployment.

Fails if a limit is exceeded: roll-up 50 ms (p99), 400 MiB, 60 s of CPU to start; or if there are fewer rows than workloads.

example:
  npm run --silent bench -- operator --pods 50000 --nodes 1000
`;

const LIMITS: OperatorLimits = { rollupMs: 50, rssMiB: 400, startCpuSeconds: 60 };
const WARM_UP_ROLLUPS = 10;

const values = optionsGiven({
  pods: { type: 'string', default: '250000' },
  nodes: { type: 'string', default: '5000' },
  workloads: { type: 'string', default: '2600' },
  rollups: { type: 'string', default: '100' },
  share: { type: 'string', default: '0.01' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
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
    ...(figures.rows < size.workloads ? [`${figures.rows} rows, fewer than ${size.workloads}`] : []),
    ...(figures.rollupMs.p99 >= LIMITS.rollupMs ? [`roll-up p99 not below ${LIMITS.rollupMs} ms`] : []),
    ...(figures.peakRssMiB >= LIMITS.rssMiB ? [`memory not below ${LIMITS.rssMiB} MiB`] : []),
    ...(figures.startCpuSeconds >= LIMITS.startCpuSeconds
      ? [`start not below ${LIMITS.startCpuSeconds} s of CPU`]
      : []),
  ];
  const result: OperatorResult = { settings, limits: LIMITS, ...figures, exceeded };
  if (values.json) console.log(JSON.stringify(result, null, 2));
  else print(figures);
  for (const each of exceeded) console.error(`Limit exceeded: ${each}.`);
  if (exceeded.length > 0 && !values.report) process.exitCode = 1;
}

async function measured(): Promise<OperatorFigures> {
  const cluster = new GeneratedCluster(size, settings.seed);
  const api = new GeneratedApiServer(cluster);
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-bench-operator-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(await api.listen()));
  const program = builtProgram(mkdtempSync(join(folder, 'build-')));
  const child = spawn(process.execPath, [...NODE_OPTIONS, program, kubeconfig, String(WARM_UP_ROLLUPS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    const lines = createInterface(child.stdout);
    for await (const line of lines) {
      const said = JSON.parse(line) as RollupLine | OperatorFigures;
      if ('peakRssMiB' in said) return said;
      if (said.rollup > WARM_UP_ROLLUPS + settings.rollups) child.stdin.end();
      else await api.send(cluster.events(Math.round(size.pods * settings.share)));
    }
    throw new Error(`The operator's process ended with ${String(await ended)} and without figures.`);
  } finally {
    child.kill('SIGKILL');
    api.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  });
}

function print(figures: OperatorFigures): void {
  const events = Math.round(size.pods * settings.share);
  console.log(
    `${size.pods} pods in ${figures.rows} rows on ${size.nodes} nodes, ${events} events per roll-up of ${figures.rollupBytes} bytes, ${figures.rollups} roll-ups`,
  );
  console.table({
    'building a roll-up, ms': figures.rollupMs,
    'its CPU, ms': figures.rollupCpuMs,
    'CPU of all that a roll-up and its events take, ms': figures.cpuMs,
  });
  console.log(
    `start: ${figures.startCpuSeconds} s of CPU (${figures.startSeconds} s); memory: ${figures.peakRssMiB} MiB at most, ${figures.endRssMiB} MiB at the end`,
  );
  console.log(machineLine());
}
