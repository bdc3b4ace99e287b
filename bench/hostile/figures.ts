// From what the processes saw of one attack to its figures.

import { type Quantiles, rounded } from '../quantiles.ts';
import { lagIn, type ProcessFigures, processFigures, type Timed, timed, tookMs } from '../shard/figures.ts';
import type { Usage } from '../shard/processes.ts';
import type { Cycle } from '../shard/shard.ts';
import type { AttackerTold } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import type { NeighboursReport } from './neighbours.ts';

/** At the end of a phase; lags are those since the look before. */
export interface Look {
  readonly atMs: number;
  readonly metrics: string;
  readonly idleLagMs: Quantiles;
  readonly usage: ReadonlyMap<string, Usage>;
}

export interface Phase {
  /** Of roll-ups of neighbours that were sent in it. */
  readonly ackMs: Timed;
  /** Of the shard's thread of sessions. */
  readonly lagMs: Quantiles;
  /** Decision cycles that ended in it. */
  readonly cycleMs: Timed;
  /** Of a process with nothing to do: what the machine itself adds to everything. */
  readonly idleLagMs: Quantiles;
  readonly processes: readonly ProcessFigures[];
}

export interface AttackFigures {
  readonly attack: string;
  readonly about: string;
  readonly attempts: number;
  readonly heldBack: number;
  /** What the attacker saw of its attempts. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What the shard counted during the attack. */
  readonly counted: Readonly<Record<string, number>>;
  /** Of neighbours, over all phases. */
  readonly sessionsLost: Readonly<Record<string, number>>;
  /** Roll-ups of neighbours that no ack came for, over all phases. */
  readonly unacknowledged: number;
  /** Of the neighbours' own process, over all phases: what it was late by is in its figures, and not the shard's. */
  readonly neighbourLagMs: Quantiles;
  readonly before: Phase;
  readonly during: Phase;
  readonly after: Phase;
  /** Of the p99 of acks, during to before. */
  readonly ratio: number;
  /** Of the median of decision cycles, during to before. */
  readonly cycleRatio: number;
}

interface Seen {
  readonly attack: string;
  /** At the beginning and after each of the three phases. */
  readonly looks: readonly [Look, Look, Look, Look];
  readonly ended: Extract<AttackerTold, { readonly kind: 'ended' }>;
  readonly report: NeighboursReport;
  readonly cycles: readonly Cycle[];
}

export function figuresOf({ attack, looks, ended, report, cycles }: Seen): AttackFigures {
  const [first, before, during, after] = looks;
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

/** Acks of the last ones have had time to come when the report is made. */
function unacknowledged({ sentMs, acks }: NeighboursReport, fromMs: number, toMs: number): number {
  const isIn = (atMs: number): boolean => atMs >= fromMs && atMs < toMs;
  return sentMs.filter(isIn).length - acks.filter((ack) => isIn(ack.sentMs)).length;
}

function phaseOf(from: Look, to: Look, { acks }: NeighboursReport, cycles: readonly Cycle[]): Phase {
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

/** Counters of what a peer did wrong; what a good one does is counted with the neighbours' and says nothing. */
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
