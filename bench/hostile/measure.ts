// Measures one attack for main.ts: starts provider, neighbours, attacker and a shard, waits until they settle, and
// times the neighbours' acks before, during and after the attack. Every attack has a new shard.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Progress } from '../ladder/progress.ts';
import { LAG_RESOLUTION_MS, lagOf } from '../shard/lag.ts';
import { type Child, NICER, nowMs, startChild, type Usage, usageOf } from '../shard/processes.ts';
import { ShardProcess } from '../shard/shard-process.ts';
import { pause, withProgress } from '../waiting.ts';
import type { AttackerMessage, AttackerOrder } from './attacker.ts';
import type { Target } from './attacks.ts';
import { type AttackFigures, figuresOf, type Snapshot } from './figures.ts';
import type { NeighboursMessage, NeighboursOrder } from './neighbours.ts';
import type { ProviderMessage } from './provider.ts';
import type { Certificates, Settings } from './settings.ts';

export interface RunOptions {
  /** Null without TLS. */
  readonly certificates: Certificates | null;
  readonly nodeFlags: readonly string[];
  readonly dataRoot: string;
  readonly logFile: string;
  readonly progress: Progress;
}

interface Stage {
  readonly settings: Settings;
  readonly attack: string;
  readonly options: RunOptions;
  readonly provider: Child<ProviderMessage, never>;
  readonly neighbours: Child<NeighboursMessage, NeighboursOrder>;
  readonly attacker: Child<AttackerMessage, AttackerOrder>;
  /** Resolves to the address of the provider once all processes are ready. */
  readonly ready: Promise<string>;
}

const HERE = import.meta.dirname;
const HEAP_MIB = 2048;
/** Time for the acks of the last roll-ups to arrive. */
const TAIL_MS = 2000;

export async function measure(
  attack: string,
  settings: Settings,
  options: RunOptions,
): Promise<AttackFigures> {
  const broken = Promise.withResolvers<never>();
  const stage = startStage(attack, settings, options, broken.reject);
  try {
    return await Promise.race([runOn(stage, broken.reject), broken.promise]);
  } finally {
    stopAll(stage);
  }
}

function startStage(
  attack: string,
  settings: Settings,
  options: RunOptions,
  onExit: (error: Error) => void,
): Stage {
  const { certificates } = options;
  const { niceness } = settings;
  const same = { heapMiB: HEAP_MIB, onExit };
  const provider: Stage['provider'] = startChild(
    `${HERE}/provider.ts`,
    { settings, certificates },
    { ...same, niceness },
  );
  const neighbours: Stage['neighbours'] = startChild(
    `${HERE}/neighbours.ts`,
    { settings, certificates },
    { ...same, niceness },
  );
  const attacker: Stage['attacker'] = startChild(
    `${HERE}/attacker.ts`,
    { settings, attack },
    { ...same, niceness: niceness + NICER },
  );
  // Subscribed now, because messages that arrive before the subscription are lost.
  const ready = Promise.all([
    provider.received('ready'),
    neighbours.received('ready'),
    attacker.received('ready'),
  ]).then(([{ address }]) => address);
  return { settings, attack, options, provider, neighbours, attacker, ready };
}

async function runOn(stage: Stage, onExit: (error: Error) => void): Promise<AttackFigures> {
  const { settings, attack, options, neighbours } = stage;
  const { certificates, nodeFlags, dataRoot, logFile, progress } = options;
  const provider = await stage.ready;
  const shard = await ShardProcess.start({
    ...{ providers: [provider], niceness: settings.niceness, nodeFlags, dataRoot, logFile, onExit },
    flags: certificates === null ? [] : tlsFlags(certificates),
  });
  try {
    const acked = neighbours.received('acked');
    neighbours.send({ kind: 'dial', address: shard.sessions });
    await withProgress(progress, acked, () => `${attack}: neighbours connect`);
    const target = {
      sessions: shard.sessions,
      api: new URL(shard.api).host,
      ...{ provider, certificates: stage.options.certificates },
    };
    stage.attacker.send({ kind: 'prepare', target });
    await withProgress(progress, pause(settings.settleMs), () => `${attack}: settles`);
    return await measurePeriods(stage, shard, target);
  } finally {
    // Before the shard, because neighbours would reconnect otherwise.
    stopAll(stage);
    await shard.stop();
  }
}

function stopAll({ provider, neighbours, attacker }: Stage): void {
  for (const child of [provider, neighbours, attacker]) child.stop();
}

/** The API stays without TLS: the attack with certificates is on sessions. */
function tlsFlags({ shard: { cert, key, ca } }: Certificates): string[] {
  return ['--tls-cert', cert, '--tls-key', key, '--tls-ca', ca, '--tls-api=false'];
}

async function measurePeriods(stage: Stage, shard: ShardProcess, target: Target): Promise<AttackFigures> {
  const { attack, attacker, neighbours } = stage;
  const idle = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  idle.enable();
  const snapshot = async (): Promise<Snapshot> => {
    const metrics = await shard.metrics();
    const idleLagMs = lagOf(idle);
    idle.reset();
    return { atMs: nowMs(), metrics, idleLagMs, usage: usageIn(stage, shard) };
  };
  const period = async (name: string): Promise<Snapshot> => {
    const lastMs = nowMs() + stage.settings.seconds * 1000;
    const left = (): number => Math.max(0, Math.round((lastMs - nowMs()) / 1000));
    await withProgress(
      stage.options.progress,
      pause(lastMs - nowMs()),
      () => `${attack}: ${name}, ${left()} s to go`,
    );
    return snapshot();
  };
  await reportOf(neighbours);
  const first = await snapshot();
  const before = await period('before');
  attacker.send({ kind: 'begin', target });
  const during = await period('during');
  const ended = attacker.received('ended');
  attacker.send({ kind: 'end' });
  const after = await period('after');
  await pause(TAIL_MS);
  return figuresOf({
    attack,
    snapshots: [first, before, during, after],
    cycles: shard.cycles,
    ended: await ended,
    report: await reportOf(neighbours),
  });
}

function usageIn({ attacker, neighbours, provider }: Stage, shard: ShardProcess): ReadonlyMap<string, Usage> {
  const pids = { shard, attacker, neighbours, provider };
  return new Map(Object.entries(pids).map(([name, { pid }]) => [name, usageOf(pid)]));
}

function reportOf(neighbours: Stage['neighbours']) {
  const report = neighbours.received('report');
  neighbours.send({ kind: 'report' });
  return report;
}
