// One run of `bench shard`, for main.ts: starts all processes, connects the shard to a fleet that is bound already and
// to all clusters at once, waits until it settles, and then measures it for a while.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Progress } from '../ladder/progress.ts';
import { rounded } from '../quantiles.ts';
import { pause, until, withProgress } from '../waiting.ts';
import { type ColdFigures, coldFigures, type Figures, type Measurements, steadyFigures } from './figures.ts';
import { LAG_RESOLUTION_MS, lagOf } from './lag.ts';
import {
  type LoadMessage,
  type LoadOrder,
  type LoadReport,
  type LoadSetup,
  PROBE,
} from './load-generator.ts';
import { type Child, NICER, nowMs, startChild, type Usage, usageOf } from './processes.ts';
import type { Call, ProviderMessage, ProviderOrder, ProviderSetup } from './provider.ts';
import type { Settings } from './settings.ts';
import { ShardProcess } from './shard-process.ts';

export interface RunOptions {
  readonly nodeFlags: readonly string[];
  readonly flags: readonly string[];
  readonly logFile: string;
  readonly progress: Progress;
}

type LoadProcess = Child<LoadMessage, LoadOrder>;
type ProviderProcess = Child<ProviderMessage, ProviderOrder>;

interface Stage {
  readonly settings: Settings;
  readonly progress: Progress;
  readonly providers: readonly ProviderProcess[];
  readonly generators: readonly LoadProcess[];
  readonly probe: LoadProcess;
  /** Calls of all providers, as they arrive. */
  readonly calls: Call[];
  readonly ready: Promise<{ readonly addresses: readonly string[]; readonly seconds: number }>;
}

const HERE = import.meta.dirname;
const HEAP_MIB = 8192;
const PROBE_WITHIN_MS = 15_000;
const PROBE_PAUSE_MS = 1000;

export function measure(settings: Settings, options: RunOptions): Promise<Figures> {
  return onStage(settings, options, async (stage, shard, providerReadySeconds) => {
    const cold = await measureColdStart(stage, shard);
    const measurements = await measureSteadyState(stage, shard);
    return { providerReadySeconds, cold, ...steadyFigures(stage.settings, measurements) };
  });
}

/** Other measurements of the shard once it has settled, under the same load. */
export function onSettledShard<T>(
  settings: Settings,
  options: RunOptions,
  work: (shard: ShardProcess) => Promise<T>,
): Promise<T> {
  return onStage(settings, options, async (stage, shard) => {
    await measureColdStart(stage, shard);
    return await work(shard);
  });
}

type Work<T> = (stage: Stage, shard: ShardProcess, providerReadySeconds: number) => Promise<T>;

async function onStage<T>(settings: Settings, options: RunOptions, work: Work<T>): Promise<T> {
  const broken = Promise.withResolvers<never>();
  const stage = startStage(settings, options.progress, broken.reject);
  try {
    return await Promise.race([runOn(stage, options, broken.reject, work), broken.promise]);
  } finally {
    for (const child of [...stage.providers, ...stage.generators, stage.probe]) child.stop();
  }
}

function startStage(settings: Settings, progress: Progress, onExit: (error: Error) => void): Stage {
  const { clusters } = settings;
  const calls: Call[] = [];
  const providers = Array.from({ length: settings.providers }, (_, index) => {
    const setup: ProviderSetup = { settings, index };
    const options = { niceness: settings.niceness, heapMiB: HEAP_MIB, onExit };
    const child = startChild<ProviderMessage, ProviderOrder>(`${HERE}/provider.ts`, setup, options);
    child.listen((message) => {
      if (message.kind === 'called') calls.push(message.call);
    });
    return child;
  });
  const load = (setup: Omit<LoadSetup, 'settings'>): LoadProcess =>
    startChild(
      `${HERE}/load-generator.ts`,
      { settings, ...setup },
      { niceness: settings.niceness + (setup.isProbe ? 0 : NICER), heapMiB: HEAP_MIB, onExit },
    );
  const edge = (i: number): number => Math.floor((clusters * i) / settings.generators);
  const generators = Array.from({ length: settings.generators }, (_, i) =>
    load({ from: edge(i), to: edge(i + 1), isProbe: false }),
  );
  const probe = load({ from: 0, to: 1, isProbe: true });
  // Subscribed now, because messages that arrive before the subscription are lost.
  const ready = Promise.all([
    Promise.all(providers.map((each) => each.received('ready'))),
    ...[...generators, probe].map((each) => each.received('ready')),
  ]).then(([ready]) => ({
    addresses: ready.map(({ address }) => address),
    seconds: Math.max(...ready.map(({ seconds }) => seconds)),
  }));
  return { settings, progress, providers, generators, probe, calls, ready };
}

async function runOn<T>(
  stage: Stage,
  { nodeFlags, flags, logFile }: RunOptions,
  onExit: (error: Error) => void,
  work: Work<T>,
): Promise<T> {
  const { addresses, seconds } = await withProgress(
    stage.progress,
    stage.ready,
    () => 'generating machines and clusters',
  );
  const { niceness } = stage.settings;
  const shard = await ShardProcess.start({
    ...{ providers: addresses, niceness, nodeFlags, flags, logFile, onExit },
  });
  try {
    return await work(stage, shard, rounded(seconds));
  } finally {
    await withProgress(stage.progress, shard.stop(), () => 'stopping the shard');
  }
}

/** All operators connect at once, and the shard reads all Lists and roll-ups. */
async function measureColdStart(stage: Stage, shard: ShardProcess): Promise<ColdFigures> {
  const { generators, probe, settings } = stage;
  const all = [...generators, probe];
  const acked = Promise.all(all.map((each) => each.received('acked')));
  for (const each of all) each.send({ kind: 'dial', address: shard.sessions });
  await withProgress(stage.progress, acked, () => 'connecting all clusters');
  const ackedMs = nowMs();
  await withProgress(
    stage.progress,
    until(() => shard.cycles.length > 0),
    () => 'waiting for the first decision',
  );
  for (const each of all) each.send({ kind: 'begin' });
  const settledMs = nowMs() + settings.settleMs;
  await withProgress(
    stage.progress,
    pause(settings.settleMs),
    () => `settling, ${leftOf(settledMs)} s to go, ${summary(shard)}`,
  );
  const metrics = await shard.metrics();
  const reports = await reportsOf(generators);
  await reportsOf([probe]);
  await arrivalsOf(stage);
  return coldFigures({ shard, ackedMs, metrics, reports });
}

async function measureSteadyState(stage: Stage, shard: ShardProcess): Promise<Measurements> {
  const { settings, generators, probe, providers, calls } = stage;
  const pids = new Map<string, number>([
    ['shard', shard.pid],
    ...providers.map((each, i) => [`provider ${i}`, each.pid] as const),
    ...generators.map((each, i) => [`clusters ${i}`, each.pid] as const),
    ['probe', probe.pid],
  ]);
  const usage = (): Map<string, Usage> => new Map([...pids].map(([name, pid]) => [name, usageOf(pid)]));
  const [before, beganMs] = [usage(), nowMs()];
  const idle = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  idle.enable();
  calls.length = 0;
  const lastMs = beganMs + settings.seconds * 1000;
  const probes = probing(stage, lastMs);
  await withProgress(
    stage.progress,
    pause(lastMs - nowMs()),
    () => `measuring, ${leftOf(lastMs)} s to go, ${summary(shard)}`,
  );
  const [after, endedMs] = [usage(), nowMs()];
  const metrics = await shard.metrics();
  const reports = await reportsOf(generators);
  const [probeReport] = await reportsOf([probe]);
  return {
    ...{ before, after, beganMs, endedMs, metrics, reports, calls: calls.length },
    cycles: shard.cycles.filter((cycle) => cycle.endedMs >= beganMs),
    arrivals: await arrivalsOf(stage),
    probeReport: probeReport!,
    idleLagMs: lagOf(idle),
    probes: await probes,
  };
}

/** Raises the demand of the probe repeatedly; the time from each to a call, NaN where there was none. */
async function probing({ probe, calls }: Stage, lastMs: number): Promise<number[]> {
  const took: number[] = [];
  while (nowMs() < lastMs - PROBE_PAUSE_MS) {
    const raised = probe.received('raised');
    probe.send({ kind: 'raise' });
    const { atMs } = await raised;
    const isIt = (call: Call): boolean => call.cluster === PROBE && call.atMs >= atMs;
    await until(() => calls.some(isIt) || nowMs() > atMs + PROBE_WITHIN_MS);
    took.push((calls.find(isIt)?.atMs ?? Number.NaN) - atMs);
    await pause(PROBE_PAUSE_MS * (0.5 + Math.random()));
  }
  return took;
}

function reportsOf(processes: readonly LoadProcess[]): Promise<LoadReport[]> {
  return Promise.all(
    processes.map((each) => {
      const report = each.received('report');
      each.send({ kind: 'report' });
      return report;
    }),
  );
}

async function arrivalsOf({ providers }: Stage) {
  const reports = providers.map((each) => {
    const report = each.received('report');
    each.send({ kind: 'report' });
    return report;
  });
  return (await Promise.all(reports)).flatMap(({ arrivals }) => arrivals);
}

function summary({ status, cycles }: ShardProcess): string {
  if (status === null) return 'no decision yet';
  const { sessions, machines, cycle } = status;
  return `cycle ${cycles.length} in ${Math.round(cycle.durationMs)} ms, ${sessions} sessions, ${machines} machines`;
}

function leftOf(lastMs: number): number {
  return Math.max(0, Math.round((lastMs - nowMs()) / 1000));
}
