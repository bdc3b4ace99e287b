// Computes the figures of one attack from the measurements of all processes.

import { type Quantiles, rounded } from '../quantiles.ts';
import { lagIn, type ProcessFigures, processFigures, type Timed, timed, tookMs } from '../shard/figures.ts';
import type { Usage } from '../shard/processes.ts';
import type { Cycle } from '../shard/shard.ts';
import type { AttackerMessage } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import type { NeighboursReport } from './neighbours.ts';

/** Taken at the end of a phase; lags are those since the previous snapshot. */
export interface Snapshot {
  readonly atMs: number;
  readonly metrics: string;
  readonly idleLagMs: Quantiles;
  readonly usage: ReadonlyMap<string, Usage>;
}

export interface Phase {
  /** Acks of the roll-ups that neighbours sent in this phase. */
  readonly ackMs: Timed;
  /** Event-loop lag of the shard's session thread. */
  readonly lagMs: Quantiles;
  /** Decision cycles that ended in this phase. */
  readonly cycleMs: Timed;
  /** Event-loop lag of an idle process: the noise of the machine, which is part of every figure. */
  readonly idleLagMs: Quantiles;
  readonly processes: readonly ProcessFigures[];
}

export interface AttackFigures {
  readonly attack: string;
  readonly about: string;
  readonly attempts: number;
  readonly heldBack: number;
  /** By outcome as seen by the attacker: number of attempts. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Counters of the shard that grew during the attack. */
  readonly counted: Readonly<Record<string, number>>;
  /** Sessions of neighbours, over all phases, by reason. */
  readonly sessionsLost: Readonly<Record<string, number>>;
  /** Roll-ups of neighbours without an ack, over all phases. */
  readonly unacknowledged: number;
  /** Lag of the neighbours' process, over all phases: it is part of the measured ack times, and not caused by the shard. */
  readonly neighbourLagMs: Quantiles;
  readonly before: Phase;
  readonly during: Phase;
  readonly after: Phase;
  /** p99 of acks during the attack ÷ before it. */
  readonly ratio: number;
  /** Median of decision cycles during the attack ÷ before it. */
  readonly cycleRatio: number;
}

interface Seen {
  readonly attack: string;
  /** At the start and after each of the three phases. */
  readonly snapshots: readonly [Snapshot, Snapshot, Snapshot, Snapshot];
  readonly ended: Extract<AttackerMessage, { readonly kind: 'ended' }>;
  readonly report: NeighboursReport;
  readonly cycles: readonly Cycle[];
}

export function figuresOf({ attack, snapshots, ended, report, cycles }: Seen): AttackFigures {
  const [first, before, during, after] = snapshots;
  const phases = {
    before: phaseOf(first, before, report, cycles),
    during: phaseOf(before, during, report, cycles),
    after: phaseOf(during, after, report, cycles),
  };
  return {
    attack,
    about: ATTACKS[attack]!.about,
    attempts: ended.attempts,
    heldBack: ended.heldBack,
    outcomes: Object.fromEntries(ended.outcomes),
    counted: counted(before.metrics, after.metrics),
    sessionsLost: Object.fromEntries(report.lost),
    unacknowledged: unacknowledged(report, first.atMs, after.atMs),
    neighbourLagMs: report.lagMs,
    ...phases,
    ratio: rounded(phases.during.ackMs.p99 / phases.before.ackMs.p99),
    cycleRatio: rounded(phases.during.cycleMs.p50 / phases.before.cycleMs.p50),
  };
}

/** The report is made late enough for the acks of the last roll-ups to arrive. */
function unacknowledged({ sentMs, acks }: NeighboursReport, fromMs: number, toMs: number): number {
  const isIn = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
  return sentMs.filter(isIn).length - acks.filter((ack) => isIn(ack.sentMs)).length;
}

function phaseOf(from: Snapshot, to: Snapshot, { acks }: NeighboursReport, cycles: readonly Cycle[]): Phase {
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
