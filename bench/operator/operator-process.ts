// The process that `bench operator` measures: a whole operator, as `bigfleet operator` starts it, against the API server of
// the benchmark, with a session that accepts all that it sends. After each roll-up it prints a line; when its standard input
// ends it prints its figures.

import { clusterFactories, loadSettings, startOperator } from '../../src/operator/index.ts';
import type { Dialer, Link, LinkEnd } from '../../src/operator/session/link.ts';
import type { MonotonicClock } from '../../src/runtime/clock.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { OperatorMessage } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { quantilesOf } from '../quantiles.ts';
import type { OperatorFigures, RollupLine } from './figures.ts';

const kubeconfig = process.argv[2]!;
const warmUp = Number(process.argv[3]);
const FEATURES = ['rollup-report', 'verdicts', 'drain-report', 'withdraw'];
const samples = { rollup: [] as number[], rollupCpu: [] as number[], cpu: [] as number[] };
let start = { cpuSeconds: 0, seconds: 0 };
let last = { rows: 0, bytes: 0 };
let rollups = 0;
let cpuBefore = 0;

/** CPU time of the thread when the operator first read its clock in this turn of the event loop; null between turns. */
let turnCpuMs: number | null = null;
/** The operator takes the time before it builds a roll-up, and builds and sends it in one turn. */
const clock: MonotonicClock = {
  ...systemClock,
  monotonic() {
    if (turnCpuMs === null) {
      turnCpuMs = threadCpuMs();
      setImmediate(() => {
        turnCpuMs = null;
      });
    }
    return systemClock.monotonic();
  },
};

/** Answers the hello and every roll-up at once. */
const dialer: Dialer = {
  open(end: LinkEnd): Link {
    const acknowledge = (echo: string, rollupTimestampUnixNanos: bigint, features: readonly string[]) =>
      setImmediate(() =>
        end.receive({
          payload: {
            $case: 'ack',
            value: { echo, coordinatorTerm: 0n, shardEpoch: 1n, features, rollupTimestampUnixNanos },
          },
        }),
      );
    return {
      isBlocked: false,
      send(frame) {
        const { payload } = OperatorMessage.decode(frame);
        if (payload?.$case === 'hello') acknowledge('hello', 0n, FEATURES);
        if (payload?.$case === 'rollup') acknowledge('rollup', payload.value.timestampUnixNanos, []);
      },
      setPaused() {},
      close() {},
    };
  },
};

const settings = loadSettings({
  file: {
    path: 'operator.yaml',
    text: JSON.stringify({
      cluster: 'bench',
      shard: { addresses: ['127.0.0.1:1'], insecure: true },
      listen: '127.0.0.1:0',
      bootstrap: { mode: 'template', templateFile: 'bootstrap.tmpl' },
      session: { rollupInterval: '1s' },
      kubernetes: { kubeconfig, namespace: 'bigfleet-system' },
      leaderElection: { enabled: false },
    }),
  },
  flags: {},
});
if (!settings.ok) throw new Error(JSON.stringify(settings.problems));
const operator = await startOperator(settings.value, {
  log: (level, event, fields) => {
    if (event === 'rollup-sent') sent(fields as unknown as { rows: number; bytes: number; ms: number });
    else if (level === 'warn' || level === 'error') console.error(level, event, fields);
  },
  clock,
  factories: clusterFactories,
  read: () => '{}',
  dialer,
  seed: 1,
});

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function sent({ rows, bytes, ms }: { rows: number; bytes: number; ms: number }): void {
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1000;
  if (rollups === 0) start = { cpuSeconds: cpuMs / 1000, seconds: performance.now() / 1000 };
  else if (rollups > warmUp) {
    samples.rollup.push(ms);
    samples.rollupCpu.push(threadCpuMs() - turnCpuMs!);
    samples.cpu.push(cpuMs - cpuBefore);
  }
  cpuBefore = cpuMs;
  last = { rows, bytes };
  const line: RollupLine = { rollup: ++rollups };
  console.log(JSON.stringify(line));
}

process.stdin.resume();
process.stdin.on('end', () => {
  const figures: OperatorFigures = {
    rows: last.rows,
    rollups: samples.rollup.length,
    rollupBytes: last.bytes,
    rollupMs: quantilesOf(samples.rollup),
    rollupCpuMs: quantilesOf(samples.rollupCpu),
    cpuMs: quantilesOf(samples.cpu),
    startCpuSeconds: Math.round(start.cpuSeconds * 10) / 10,
    startSeconds: Math.round(start.seconds * 10) / 10,
    peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    endRssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
  console.log(JSON.stringify(figures));
  void operator.stop();
});
