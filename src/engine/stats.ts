// What a cycle counted and how long its parts took, and the sums over all cycles: plain numbers in memory, which a shard
// exposes under the names of docs/metrics.md. The engine reads no clock; without one from the caller all times stay 0.

import { Histogram } from './histogram.ts';
import type { Phase } from './solve.ts';

/** Milliseconds from any start, never going back. */
export type Clock = () => number;

/** How a proposal is committed: what is free of it, or all of it or nothing (gangs). */
export type Mode = 'incremental' | 'allOrNothing';
export const MODES: readonly Mode[] = ['incremental', 'allOrNothing'];

/** Rows that were solved again, by what became of them. */
export type Retries = Readonly<Record<'committed' | 'conflict' | 'displaced' | 'exhausted', number>>;

/** Parts of a cycle by name, in the order they end. */
const PHASES: readonly Phase[] = ['normalise', 'credit', 'acquire', 'preempt', 'reclaim', 'plan'];

/**
 * The ways a row can go, which differ in cost by orders of magnitude:
 *  absorb     credited with machines that its cluster has
 *  shortfall  comes away from the pools with nothing
 *  score      takes machines from the pools
 * A row that is short after its credit is counted twice: once for the credit and once for the pools.
 */
export type Path = 'absorb' | 'shortfall' | 'score';
const PATHS: readonly Path[] = ['absorb', 'shortfall', 'score'];

/** Rows that went one way, and their time. */
export interface PathStats {
  rows: number;
  ms: number;
}

/** What the broker saw of the proposals of one mode. */
export interface ModeStats {
  proposals: number;
  commits: number;
  /** Proposals refused because what they had read had changed. */
  conflicts: number;
  /** Of the commits: those of rows that were solved again. */
  recommits: number;
  /** Commits taken back in favour of a row of better rank. */
  displacements: number;
  /** Rows that spent their retries and were settled at the barrier. */
  exhausted: number;
  /** From a row's start to its commit, with one lane and where rows are timed. */
  readonly proposalMs: Histogram;
}

/** One entry for each name. */
function byName<K extends string, V>(names: readonly K[], make: (name: K) => V): Record<K, V> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, V>;
}

function noProposals(): ModeStats {
  return {
    proposals: 0,
    commits: 0,
    conflicts: 0,
    recommits: 0,
    displacements: 0,
    exhausted: 0,
    proposalMs: new Histogram(),
  };
}

/** Conflicts for each commit; 0 where nothing was committed and nothing conflicted. */
export function conflictFraction({ commits, conflicts }: ModeStats): number {
  return conflicts === 0 ? 0 : conflicts / Math.max(1, commits);
}

/** Whoever was refused or displaced is solved again, until its retries are spent. */
export function retriesOf({ recommits, conflicts, displacements, exhausted }: ModeStats): Retries {
  return { committed: recommits, conflict: conflicts, displaced: displacements, exhausted };
}

/** One cycle. Filled while it runs, and not touched afterwards. */
export class CycleStats {
  /** Rows of demand, before the fold. */
  needs = 0;
  /** Clusters solved again because they changed. */
  clusters = 0;
  /** Rows that were served from the pools at a time, at most. */
  lanes = 1;
  /** Of the pools only rows are counted, unless rows are timed: two looks at a clock cost as much as a small row. */
  readonly paths: Record<Path, PathStats> = byName(PATHS, () => ({ rows: 0, ms: 0 }));
  readonly modes: Record<Mode, ModeStats> = byName(MODES, noProposals);
  readonly phaseMs: Record<Phase, number> = byName(PHASES, () => 0);
  /** All of it but the check. */
  cycleMs = 0;
  /** Whether a full solve came to the same plan; null: this cycle was not checked. */
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

  /** Phase 1, the part that grows with the Needs: microseconds for each of them. */
  get perNeedUs(): number {
    const { normalise, credit, acquire } = this.phaseMs;
    return this.needs === 0 ? 0 : ((normalise + credit + acquire) * 1000) / this.needs;
  }

  /** A part of the cycle has ended. */
  ended(phase: Phase): void {
    this.phaseMs[phase] = this.#lap();
    if (phase === 'credit') this.paths.absorb.ms = this.phaseMs.credit;
    this.cycleMs = this.#lastMs - this.#startMs;
  }

  /** Clusters were solved again, with so many rows in all. */
  credited(clusters: number, rows: number): void {
    this.clusters += clusters;
    this.paths.absorb.rows += rows;
  }

  /** A row was served from the pools, and took something or nothing. */
  served(took: boolean, startMs: number): void {
    const path = took ? this.paths.score : this.paths.shortfall;
    path.rows++;
    path.ms += this.rowMs() - startMs;
  }

  /** A proposal that nobody raced with was committed; its row was begun at `startMs`. */
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
  /** Checked cycles whose plan was not that of a full solve. Anything but 0 is a fault of the engine. */
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
  sum.recommits += more.recommits;
  sum.displacements += more.displacements;
  sum.exhausted += more.exhausted;
  sum.proposalMs.addAll(more.proposalMs);
}
