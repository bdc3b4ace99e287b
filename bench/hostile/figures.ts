// Computes the figures of one attack of `bench hostile` from the measurements of all processes, for measure.ts. They
// are what `--json` prints and `bench record` keeps.

import { type Quantiles, rounded } from '../quantiles.ts';
import { lagIn, type ProcessFigures, processFigures, type Timed, timed, tookMs } from '../shard/figures.ts';
import type { Usage } from '../shard/processes.ts';
import type { Cycle } from '../shard/shard-process.ts';
import type { AttackerMessage } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import type { NeighboursReport } from './neighbours.ts';

/** Taken at the end of a period; lags are those since the previous snapshot. */
export interface Snapshot {
  readonly atMs: number;
  readonly metrics: string;
  readonly idleLagMs: Quantiles;
  readonly usage: ReadonlyMap<string, Usage>;
}

export interface Period {
  /** Acks of the roll-ups that neighbours sent in this period. */
  readonly ackMs: Timed;
  /** Event-loop lag of the shard's session thread. */
  readonly lagMs: Quantiles;
  /** Decision cycles that ended in this period. */
  readonly cycleMs: Timed;
  /** Event-loop lag of an idle process: the noise of the machine, which is part of every figure. */
  readonly idleLagMs: Quantiles;
  readonly processes: readonly ProcessFigures[];
}

export interface AttackFigures {
  readonly attack: string;
  readonly about: string;
  readonly attempts: number;
  /** Attempts that the attacker skipped, because too many were in flight. */
  readonly heldBack: number;
  /** By outcome as seen by the attacker: number of attempts. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Counters of the shard that grew during the attack. */
  readonly counted: Readonly<Record<string, number>>;
  /** Sessions of neighbours, over all periods, by reason. */
  readonly sessionsLost: Readonly<Record<string, number>>;
  /** Roll-ups of neighbours without an ack, over all periods. */
  readonly unacknowledged: number;
  /** Lag of the neighbours' process, over all periods; part of the measured ack times, and not caused by the shard. */
  readonly neighbourLagMs: Quantiles;
  readonly before: Period;
  readonly during: Period;
  readonly after: Period;
  /** p99 of acks during the attack ÷ before it. */
  readonly ratio: number;
  /** Median of decision cycles during the attack ÷ before it. */
  readonly cycleRatio: number;
}

interface Measurements {
  readonly attack: string;
  /** At the start and after each of the three periods. */
  readonly snapshots: readonly [Snapshot, Snapshot, Snapshot, Snapshot];
  readonly ended: Extract<AttackerMessage, { readonly kind: 'ended' }>;
  readonly report: NeighboursReport;
  readonly cycles: readonly Cycle[];
}

export function figuresOf({ attack, snapshots, ended, report, cycles }: Measurements): AttackFigures {
  const [first, before, during, after] = snapshots;
  const periods = {
    before: periodOf(first, before, report, cycles),
    during: periodOf(before, during, report, cycles),
    after: periodOf(during, after, report, cycles),
  };
  return {
    attack,
    about: ATTACKS[attack]!.about,
    attempts: ended.attempts,
    heldBack: ended.skipped,
    outcomes: Object.fromEntries(ended.outcomes),
    counted: counted(before.metrics, after.metrics),
    sessionsLost: Object.fromEntries(report.lost),
    unacknowledged: unacknowledged(report, first.atMs, after.atMs),
    neighbourLagMs: report.lagMs,
    ...periods,
    ratio: rounded(periods.during.ackMs.p99 / periods.before.ackMs.p99),
    cycleRatio: rounded(periods.during.cycleMs.p50 / periods.before.cycleMs.p50),
  };
}

/** The report is made late enough for the acks of the last roll-ups to arrive. */
function unacknowledged({ sentMs, acks }: NeighboursReport, fromMs: number, toMs: number): number {
  const isIn = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
  return sentMs.filter(isIn).length - acks.filter((ack) => isIn(ack.sentMs)).length;
}

function periodOf(
  from: Snapshot,
  to: Snapshot,
  { acks }: NeighboursReport,
  cycles: readonly Cycle[],
): Period {
  const ended = cycles.filter(({ endedMs }) => endedMs >= from.atMs && endedMs < to.atMs);
  const sent = acks.filter(({ sentMs }) => sentMs >= from.atMs && sentMs < to.atMs);
  return {
    ackMs: timed(sent.map(tookMs)),
    lagMs: lagIn(to.metrics),
    cycleMs: timed(ended.map(({ durationMs }) => durationMs)),
    idleLagMs: to.idleLagMs,
    processes: [...to.usage].map(([name, usage]) =>
      processFigures(name, from.usage.get(name)!, usage, to.atMs - from.atMs),
    ),
  };
}

/** Counters of faults of a peer only: the others also count what the neighbours do. */
const COUNTERS = /^bigfleet_shard_(?:session_events|readers_cut)_total\{(?:event|reason)="(\w+)"\} (\d+)$/gm;
const EVERYDAY = new Set(['rollups_accepted', 'rollups_unchanged', 'frames_sent']);

function counted(before: string, after: string): Record<string, number> {
  const earlier = new Map(countersIn(before));
  const grown = countersIn(after).map(([name, count]) => [name, count - (earlier.get(name) ?? 0)] as const);
  return Object.fromEntries(grown.filter(([name, count]) => count > 0 && !EVERYDAY.has(name)));
}

function countersIn(metrics: string): (readonly [name: string, count: number])[] {
  return [...metrics.matchAll(COUNTERS)].map(([, name, count]) => [name!, Number(count)] as const);
}
