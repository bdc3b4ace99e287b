// Counts and durations of a cycle, and the sums over all cycles: plain numbers in memory, which a shard exposes under the
// names of docs/reference/metrics.md. The engine reads no clock; if the caller provides none, all times stay 0.

import { Histogram } from '../collections/histogram.ts';
import type { Phase } from './assign/solve.ts';

/** Monotonic, in milliseconds from any start. */
export type Clock = () => number;

/** How a proposal is committed: the part without conflicts, or all or nothing (gangs). */
export type Mode = 'incremental' | 'allOrNothing';
export const MODES: readonly Mode[] = ['incremental', 'allOrNothing'];

/** Rows that waited for other lanes, by outcome: committed after a few reads, or after their thread was parked. */
export type Retries = Readonly<Record<'committed' | 'exhausted', number>>;

/** Phases of a cycle, in the order they end. */
const PHASES: readonly Phase[] = ['normalise', 'credit', 'acquire', 'preempt', 'reclaim', 'plan'];

/**
 * Paths of a row, which differ in cost by orders of magnitude:
 *  absorb     credited with machines that its cluster has
 *  shortfall  acquires no free machine
 *  score      acquires free machines
 * A row that is short after its credit is counted twice: once for the credit and once for the free machines.
 */
export type Path = 'absorb' | 'shortfall' | 'score';
export const PATHS: readonly Path[] = ['absorb', 'shortfall', 'score'];

export interface PathStats {
  rows: number;
  ms: number;
}

/** Counts of rows of one mode that were served from the free machines. */
export interface ModeStats {
  proposals: number;
  commits: number;
  /** Rows that found another lane behind and had to wait for it. */
  conflicts: number;
  /** The subset of `conflicts` whose thread was parked, because all retries were used. */
  exhausted: number;
  /** From the start of a row to its commit; only with one lane and timed rows. */
  readonly proposalMs: Histogram;
}

function byName<K extends string, V>(names: readonly K[], make: (name: K) => V): Record<K, V> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, V>;
}

function noProposals(): ModeStats {
  return {
    proposals: 0,
    commits: 0,
    conflicts: 0,
    exhausted: 0,
    proposalMs: new Histogram(),
  };
}

/** Conflicts per commit; 0 if there were no conflicts. */
export function conflictFraction({ commits, conflicts }: ModeStats): number {
  return conflicts === 0 ? 0 : conflicts / Math.max(1, commits);
}

/** How the waits of rows ended. */
export function retriesOf({ conflicts, exhausted }: ModeStats): Retries {
  return { committed: conflicts - exhausted, exhausted };
}

/** Written while the cycle runs, and constant afterwards. */
export class CycleStats {
  /** Rows of demand, before the fold. */
  needs = 0;
  /** Clusters solved again because they changed. */
  clusters = 0;
  /** Lanes that had rows to serve; 1 if there were no rows. */
  lanes = 1;
  /** Threads that lanes ran on. */
  laneThreads = 1;
  /**
   * For rows served from the free machines, `ms` stays 0 unless rows are timed: two clock reads cost as much as a small
   * row.
   */
  readonly paths: Record<Path, PathStats> = byName(PATHS, () => ({ rows: 0, ms: 0 }));
  readonly modes: Record<Mode, ModeStats> = byName(MODES, noProposals);
  readonly phaseMs: Record<Phase, number> = byName(PHASES, () => 0);
  /** Without the check. */
  cycleMs = 0;
  /** Whether a full solve gave the same plan; null: this cycle was not checked. */
  checkedEqual: boolean | null = null;
  checkMs = 0;
  readonly #clock: Clock;
  readonly #timesRows: boolean;
  readonly #startMs: number;
  #lastMs: number;

  constructor(clock: Clock = () => 0, timesRows = false) {
    this.#clock = clock;
    this.#timesRows = timesRows;
    this.#startMs = clock();
    this.#lastMs = this.#startMs;
  }

  /** Phase 1, the part that grows with the Needs: microseconds per Need. */
  get perNeedUs(): number {
    const { normalise, credit, acquire } = this.phaseMs;
    return this.needs === 0 ? 0 : ((normalise + credit + acquire) * 1000) / this.needs;
  }

  ended(phase: Phase): void {
    this.phaseMs[phase] = this.#lap();
    if (phase === 'credit') this.paths.absorb.ms = this.phaseMs.credit;
    this.cycleMs = this.#lastMs - this.#startMs;
  }

  /** Counts `clusters` that were solved again, with `rows` rows in all. */
  credited(clusters: number, rows: number): void {
    this.clusters += clusters;
    this.paths.absorb.rows += rows;
  }

  /** A row was served from the free machines; `took`: it acquired at least one. */
  served(took: boolean, startMs: number): void {
    const path = took ? this.paths.score : this.paths.shortfall;
    path.rows++;
    path.ms += this.rowMs() - startMs;
  }

  /** What a row claims was committed; the row was begun at `startMs`. */
  committed(mode: Mode, startMs: number): void {
    const stats = this.modes[mode];
    stats.proposals++;
    stats.commits++;
    if (this.#timesRows) stats.proposalMs.add(this.#clock() - startMs);
  }

  /** The time, if rows are timed; else 0. */
  rowMs(): number {
    return this.#timesRows ? this.#clock() : 0;
  }

  /** A full solve of the same fleet has been compared with this cycle. */
  checked(equal: boolean): void {
    this.checkedEqual = equal;
    this.checkMs = this.#lap();
  }

  #lap(): number {
    const nowMs = this.#clock();
    const ms = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    return ms;
  }
}

/** Sums and distributions over all cycles of an engine. */
export class EngineMetrics {
  cycles = 0;
  readonly cycleMs = new Histogram();
  readonly phaseMs: Readonly<Record<Phase, Histogram>> = byName(PHASES, () => new Histogram());
  readonly perNeedUs = new Histogram();
  readonly paths: Readonly<Record<Path, PathStats>> = byName(PATHS, () => ({ rows: 0, ms: 0 }));
  readonly modes: Readonly<Record<Mode, ModeStats>> = byName(MODES, noProposals);
  /** Of the last cycle. */
  lanes = 1;
  checks = 0;
  /** Checked cycles whose plan differs from that of a full solve. Any value but 0 is a defect of the engine. */
  differences = 0;
  readonly checkMs = new Histogram();

  add(stats: CycleStats): void {
    this.cycles++;
    this.cycleMs.add(stats.cycleMs);
    this.perNeedUs.add(stats.perNeedUs);
    for (const phase of PHASES) this.phaseMs[phase].add(stats.phaseMs[phase]);
    for (const path of PATHS) {
      this.paths[path].rows += stats.paths[path].rows;
      this.paths[path].ms += stats.paths[path].ms;
    }
    for (const mode of MODES) addMode(this.modes[mode], stats.modes[mode]);
    this.lanes = stats.lanes;
    if (stats.checkedEqual === null) return;
    this.checks++;
    this.checkMs.add(stats.checkMs);
    if (!stats.checkedEqual) this.differences++;
  }
}

function addMode(sum: ModeStats, more: ModeStats): void {
  sum.proposals += more.proposals;
  sum.commits += more.commits;
  sum.conflicts += more.conflicts;
  sum.exhausted += more.exhausted;
  sum.proposalMs.addAll(more.proposalMs);
}
