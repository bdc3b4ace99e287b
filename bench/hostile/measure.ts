// One attack: provider, neighbours, attacker and a shard are started, things settle, and the neighbours' acks are timed
// before, during and after it. Every attack meets a shard of its own.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Progress } from '../ladder/progress.ts';
import { LAG_RESOLUTION_MS, lagOf } from '../shard/lag.ts';
import { NICER, nowMs, startWorker, type Usage, usageOf, type Worker } from '../shard/processes.ts';
import { ShardProcess } from '../shard/shard.ts';
import { pause, saying } from '../waiting.ts';
import type { AttackerOrder, AttackerTold } from './attacker.ts';
import type { Target } from './attacks.ts';
import { type AttackFigures, figuresOf, type Look } from './figures.ts';
import type { NeighboursOrder, NeighboursTold } from './neighbours.ts';
import type { ProviderTold } from './provider.ts';
import type { Papers, Settings } from './settings.ts';

export interface RunOptions {
  /** Null without TLS. */
  readonly papers: Papers | null;
  readonly nodeFlags: readonly string[];
  readonly dataRoot: string;
  readonly logFile: string;
  readonly progress: Progress;
}

interface Stage {
  readonly settings: Settings;
  readonly attack: string;
  readonly options: RunOptions;
  readonly provider: Worker<ProviderTold, never>;
  readonly neighbours: Worker<NeighboursTold, NeighboursOrder>;
  readonly attacker: Worker<AttackerTold, AttackerOrder>;
  /** Resolves to the address of the provider once all processes are ready. */
  readonly ready: Promise<string>;
}

const HERE = import.meta.dirname;
const HEAP_MIB = 2048;
/** Acks of what was sent last may still come. */
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
  const { papers } = options;
  const { niceness } = settings;
  const same = { heapMiB: HEAP_MIB, onExit };
  const provider: Stage['provider'] = startWorker(
    `${HERE}/provider.ts`,
    { settings, papers },
    { ...same, niceness },
  );
  const neighbours: Stage['neighbours'] = startWorker(
    `${HERE}/neighbours.ts`,
    { settings, papers },
    { ...same, niceness },
  );
  const attacker: Stage['attacker'] = startWorker(
    `${HERE}/attacker.ts`,
    { settings, attack },
    { ...same, niceness: niceness + NICER },
  );
  // Subscribed now, because messages that arrive before the subscription are lost.
  const ready = Promise.all([
    provider.heard('ready'),
    neighbours.heard('ready'),
    attacker.heard('ready'),
  ]).then(([{ address }]) => address);
  return { settings, attack, options, provider, neighbours, attacker, ready };
}

async function runOn(stage: Stage, onExit: (error: Error) => void): Promise<AttackFigures> {
  const { settings, attack, options, neighbours } = stage;
  const { papers, nodeFlags, dataRoot, logFile, progress } = options;
  const provider = await stage.ready;
  const shard = await ShardProcess.start({
    ...{ providers: [provider], niceness: settings.niceness, nodeFlags, dataRoot, logFile, onExit },
    flags: papers === null ? [] : tlsFlags(papers),
  });
  try {
    const acked = neighbours.heard('acked');
    neighbours.tell({ kind: 'dial', address: shard.sessions });
    await saying(progress, acked, () => `${attack}: neighbours say hello`);
    const target = {
      sessions: shard.sessions,
      api: new URL(shard.api).host,
      ...{ provider, papers: stage.options.papers },
    };
    stage.attacker.tell({ kind: 'prepare', target });
    await saying(progress, pause(settings.settleMs), () => `${attack}: settles`);
    return await watch(stage, shard, target);
  } finally {
    // Before the shard, or neighbours would dial it again.
    stopAll(stage);
    await shard.stop();
  }
}

function stopAll({ provider, neighbours, attacker }: Stage): void {
  for (const worker of [provider, neighbours, attacker]) worker.stop();
}

/** The API stays plain: certificates are an attack on sessions here. */
function tlsFlags({ shard: { cert, key, ca } }: Papers): string[] {
  return ['--tls-cert', cert, '--tls-key', key, '--tls-ca', ca, '--tls-api=false'];
}

async function watch(stage: Stage, shard: ShardProcess, target: Target): Promise<AttackFigures> {
  const { attack, attacker, neighbours } = stage;
  const idle = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  idle.enable();
  const look = async (): Promise<Look> => {
    const metrics = await shard.metrics();
    const idleLagMs = lagOf(idle);
    idle.reset();
    return { atMs: nowMs(), metrics, idleLagMs, usage: usageIn(stage, shard) };
  };
  const phase = async (name: string): Promise<Look> => {
    const lastMs = nowMs() + stage.settings.seconds * 1000;
    const left = (): number => Math.max(0, Math.round((lastMs - nowMs()) / 1000));
    await saying(
      stage.options.progress,
      pause(lastMs - nowMs()),
      () => `${attack}: ${name}, ${left()} s to go`,
    );
    return look();
  };
  await reportOf(neighbours);
  const first = await look();
  const before = await phase('before');
  attacker.tell({ kind: 'begin', target });
  const during = await phase('during');
  const ended = attacker.heard('ended');
  attacker.tell({ kind: 'end' });
  const after = await phase('after');
  await pause(TAIL_MS);
  return figuresOf({
    attack,
    looks: [first, before, during, after],
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
  const report = neighbours.heard('report');
  neighbours.tell({ kind: 'report' });
  return report;
}
