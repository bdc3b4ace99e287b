// Computes the figures of `bench shard` from the measurements of all its processes, for measure.ts. `bench hostile`
// computes those of its periods with parts of it.

import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import type { LoadReport } from './load-generator.ts';
import type { Ack, NodeObservation } from './load-operator.ts';
import type { Usage } from './processes.ts';
import type { Arrival } from './provider.ts';
import type { Settings } from './settings.ts';
import { type Cycle, type ShardProcess, seriesIn } from './shard-process.ts';

export interface ProcessFigures {
  readonly name: string;
  /** Percent of one core. */
  readonly cpuPercent: number;
  readonly rssMiB: number;
  readonly peakRssMiB: number;
  /** Threads that used more than 1 %. */
  readonly threads: readonly { readonly name: string; readonly cpuPercent: number }[];
}

export type Timed = Quantiles & { readonly samples: number };

/** From the start of the process to the end of the settling time. */
export interface ColdFigures {
  readonly listeningSeconds: number;
  readonly firstDecisionSeconds: number;
  /** From the start of the shard until every cluster had its first ack. */
  readonly allAckedSeconds: number;
  /** First roll-ups, all sent at once. */
  readonly ackMs: Timed;
  readonly lagMs: Quantiles;
  readonly longestCycleMs: number;
  readonly nodeStates: number;
}

export interface Figures {
  /** Time of the slowest provider to generate its machines. */
  readonly providerReadySeconds: number;
  readonly cold: ColdFigures;
  readonly ackMs: Timed;
  readonly ackChangedMs: Timed;
  /** Acks of a cluster whose process is not niced. */
  readonly ackProbeMs: Timed;
  readonly appliedMs: Timed;
  readonly cycleMs: Timed;
  readonly publishMs: Timed & { readonly missed: number };
  readonly lagMs: Quantiles;
  readonly demandToCallMs: Timed & { readonly missed: number };
  readonly rollupsPerSecond: number;
  readonly actions: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly unmet: number;
  readonly sessionsLost: Readonly<Record<string, number>>;
  readonly generatorLagMs: Quantiles;
  /** Event-loop lag of an idle process: the noise of the machine, which is part of every figure. */
  readonly idleLagMs: Quantiles;
  readonly processes: readonly ProcessFigures[];
}

/** Measurements of a run. */
export interface Measurements {
  readonly before: ReadonlyMap<string, Usage>;
  readonly after: ReadonlyMap<string, Usage>;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly metrics: string;
  readonly reports: readonly LoadReport[];
  readonly probeReport: LoadReport;
  readonly idleLagMs: Quantiles;
  readonly cycles: readonly Cycle[];
  readonly arrivals: readonly Arrival[];
  readonly calls: number;
  /** Time from demand to the call at the provider; NaN where there was none. */
  readonly probes: readonly number[];
}

export function coldFigures(seen: {
  readonly shard: ShardProcess;
  readonly ackedMs: number;
  readonly metrics: string;
  readonly reports: readonly LoadReport[];
}): ColdFigures {
  const { shard, ackedMs, metrics, reports } = seen;
  const [first] = shard.cycles;
  const firstAcks = reports.flatMap(({ acks }) => acks).filter((ack) => ack.ackMs <= ackedMs);
  return {
    listeningSeconds: rounded(shard.listeningMs / 1000),
    firstDecisionSeconds: rounded((first!.endedMs - shard.startedMs) / 1000),
    allAckedSeconds: rounded((ackedMs - shard.startedMs) / 1000),
    ackMs: timed(firstAcks.map(tookMs)),
    lagMs: lagIn(metrics),
    longestCycleMs: rounded(Math.max(...shard.cycles.map(({ durationMs }) => durationMs))),
    nodeStates: reports.reduce((sum, { nodeFrames }) => sum + nodeFrames, 0),
  };
}

export function steadyFigures(
  { seconds }: Settings,
  measurements: Measurements,
): Omit<Figures, 'cold' | 'providerReadySeconds'> {
  const { reports, probeReport, cycles, arrivals, probes, beganMs } = measurements;
  const acks = reports.flatMap((report) => report.acks).filter(({ sentMs }) => sentMs >= beganMs);
  const changed = acks.filter(({ isChanged }) => isChanged);
  const nodes = [...reports, probeReport].flatMap((report) => report.nodes);
  const called = probes.filter((ms) => !Number.isNaN(ms));
  return {
    ackMs: timed(acks.map(tookMs)),
    ackChangedMs: timed(changed.map(tookMs)),
    ackProbeMs: timed(probeReport.acks.map(tookMs)),
    appliedMs: timed(changed.flatMap((ack) => appliedAfter(ack, cycles))),
    cycleMs: timed(cycles.map(({ durationMs }) => durationMs)),
    publishMs: published(arrivals, nodes, measurements.endedMs),
    lagMs: lagIn(measurements.metrics),
    demandToCallMs: { ...timed(called), missed: probes.length - called.length },
    rollupsPerSecond: rounded(acks.length / seconds),
    actions: summed(cycles.map(({ decided }) => Object.entries(decided))),
    calls: measurements.calls,
    unmet: cycles.at(-1)?.unmet ?? 0,
    sessionsLost: summed([...reports, probeReport].map(({ lost }) => [...lost])),
    generatorLagMs: worst(reports.map(({ lagMs }) => lagMs)),
    idleLagMs: measurements.idleLagMs,
    processes: [...measurements.after].map(([name, after]) =>
      processFigures(name, measurements.before.get(name)!, after, measurements.endedMs - beganMs),
    ),
  };
}

export function timed(durationsMs: readonly number[]): Timed {
  return { ...quantilesOf(durationsMs), samples: durationsMs.length };
}

export function tookMs({ sentMs, ackMs }: Ack): number {
  return ackMs - sentMs;
}

/** Time to the end of the first cycle that began after the ack. A cycle that began just before may have applied it. */
function appliedAfter({ sentMs, ackMs }: Ack, cycles: readonly Cycle[]): number[] {
  const cycle = cycles.find(({ beganMs }) => beganMs >= ackMs);
  return cycle === undefined ? [] : [cycle.endedMs - sentMs];
}

/** Arrivals near the end may be published only after the measurement has ended. */
const PUBLISH_GRACE_MS = 5000;

/** From the arrival of a machine at its provider until its cluster is notified. */
function published(
  arrivals: readonly Arrival[],
  nodes: readonly NodeObservation[],
  endedMs: number,
): Figures['publishMs'] {
  const received = new Map<string, number[]>();
  for (const { machine, state, atMs } of nodes) {
    const key = `${machine} ${state}`;
    received.set(key, [...(received.get(key) ?? []), atMs]);
  }
  const due = arrivals.filter(({ atMs }) => atMs < endedMs - PUBLISH_GRACE_MS);
  const took = due.map(({ machine, state, atMs }) => {
    const at = received.get(`${machine} ${state}`)?.find((each) => each >= atMs);
    return at === undefined ? Number.NaN : at - atMs;
  });
  const published = took.filter((ms) => !Number.isNaN(ms));
  return { ...timed(published), missed: took.length - published.length };
}

export function lagIn(metrics: string): Quantiles {
  const at = (quantile: string): number =>
    rounded(seriesIn(metrics, `bigfleet_shard_event_loop_lag_seconds{quantile="${quantile}"}`) * 1000);
  return { p50: at('0.5'), p99: at('0.99'), max: at('1') };
}

function summed(lists: readonly (readonly (readonly [string, number])[])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, count] of lists.flat()) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function worst(quantiles: readonly Quantiles[]): Quantiles {
  const most = (key: keyof Quantiles): number => Math.max(...quantiles.map((each) => each[key]));
  return { p50: most('p50'), p99: most('p99'), max: most('max') };
}

export function processFigures(name: string, before: Usage, after: Usage, ms: number): ProcessFigures {
  const percent = (from: number, to: number): number => Math.round(((to - from) * 100_000) / ms);
  const threads = [...after.threads].map(([id, thread]) => ({
    name: thread.name,
    cpuPercent: percent(before.threads.get(id)?.cpuSeconds ?? 0, thread.cpuSeconds),
  }));
  return {
    name,
    cpuPercent: percent(before.cpuSeconds, after.cpuSeconds),
    rssMiB: after.rssMiB,
    peakRssMiB: after.peakRssMiB,
    threads: threads.filter(({ cpuPercent }) => cpuPercent > 1).sort((a, b) => b.cpuPercent - a.cpuPercent),
  };
}
