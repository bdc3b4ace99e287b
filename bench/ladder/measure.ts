// Measures a rung for main.ts: a first cycle whose result is checked, warm-up cycles, timed cycles, and the floor in
// the same process.

import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import {
  type CycleStats,
  conflictFraction,
  EngineMetrics,
  type EngineOptions,
  MODES,
  type ModeStats,
  type Path,
} from '../../src/engine/index.ts';
import type { Fleet } from '../../src/fleet/index.ts';
import type { Regime } from '../../testing/workload/regimes.ts';
import { floorOf } from '../floor.ts';
import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import { digestOf } from './digest.ts';
import type { Progress } from './progress.ts';
import { PARTS, type Part, type RulesName, Rung, type TimedCycle } from './rung.ts';

export interface Settings {
  readonly cycles: number;
  /** Cycles before anything is timed. */
  readonly warmUp: number;
  /** Time budget for cycles, at most a third of it for the warm-up. At least three cycles are timed in any case. */
  readonly seconds: number;
  readonly workers: number;
  readonly lanes: number | 'auto';
  readonly seed: number;
  /** Interval, in cycles, of comparisons with a full solve; 0: none. The check is part of the cycle's time. */
  readonly checkEvery: number;
  readonly onDifference?: EngineOptions['onDifference'];
  readonly rules: RulesName;
}

export interface RungResult {
  readonly profile: string;
  readonly regime: Regime;
  /** Left out if they are `unshared`. */
  readonly options?: RulesName;
  readonly workers: number;
  /** Maximum number of lanes of a cycle. */
  readonly lanes: number;
  /** Timed cycles; fewer than requested if time ran out. */
  readonly cycles: number;
  readonly seed: number;
  readonly machines: number;
  readonly needs: number;
  readonly clusters: number;
  readonly classes: number;
  readonly cycleMs: Quantiles;
  /** The median of each part; they need not add up to that of the cycle. */
  readonly phasesMs: Readonly<Record<Part, number>>;
  readonly rowsAfterFold: number;
  /** Phase 1 (normalise, credit, acquire) ÷ Needs, the 99th percentile over the cycles. */
  readonly perNeedUs: number;
  readonly pathsUs: PathsUs;
  /** The first cycle of the fleet, in which every class is examined for the first time. */
  readonly firstMs: number;
  readonly floorMs: number;
  /** Median cycle ÷ floor. */
  readonly ratioToFloor: number;
  /** Threads that lanes ran on, at most, over the timed cycles, as are `conflictFraction` and `exhausted`. */
  readonly laneThreads: number;
  readonly conflictFraction: { readonly incremental: number; readonly allOrNothing: number };
  readonly exhausted: number;
  /** All buffers of the machine ledger, reserve and sorted runs included. */
  readonly bytesPerMachine: number;
  readonly rssMiB: number;
  /** Of the last cycle, as are `unmet` and `digest`. */
  readonly actions: number;
  readonly unmet: number;
  readonly digest: string;
}

/**
 * Microseconds per row on each path; 0 where no row took it: credited (`absorb`), or in need of free machines and given
 * none (`shortfall`) or some (`score`).
 */
export type PathsUs = Readonly<Record<Path, number>>;

const MIN_CYCLES = 3;
/** Poll interval and maximum number of polls for threads to start: 20 s in total. */
const POLL_MS = 10;
const MAX_POLLS = 2_000;
const FLOOR_ROUNDS = 30;
/** Warm-up cycles, the last ones, whose row timings are reported: timing rows would slow down the timed cycles. */
const ROW_TIMED_CYCLES = 5;

export interface Measured {
  readonly rung: Rung;
  /** Time was up before all cycles were done. */
  readonly cut: boolean;
  readonly result: RungResult;
}

export function measure(
  profile: ScaleProfile,
  regime: Regime,
  settings: Settings,
  progress: Progress,
): Measured {
  progress.update('generating the fleet');
  const { rules, seed } = settings;
  const engine = engineOptionsOf(settings);
  const rung = new Rung(profile, regime, seed, { engine, rules });
  waitForThreads(rung, settings.workers);
  progress.update('first cycle');
  let last = rung.first();
  const firstMs = last.ms;
  let spentMs = last.ms;
  const warmUp: CycleStats[] = [];
  while (warmUp.length < settings.warmUp && spentMs < (settings.seconds * 1000) / 3) {
    last = rung.next(true);
    spentMs += last.ms;
    warmUp.push(last.stats);
    progress.update(`warm-up ${warmUp.length} of ${settings.warmUp}, ${Math.round(last.ms)} ms`);
  }
  const cycles: TimedCycleSummary[] = [];
  const mayGoOn = (): boolean => cycles.length < MIN_CYCLES || spentMs < settings.seconds * 1000;
  while (cycles.length < settings.cycles && mayGoOn()) {
    last = rung.next();
    spentMs += last.ms;
    cycles.push(summaryOf(last));
    progress.update(`cycle ${cycles.length} of ${settings.cycles}, ${Math.round(last.ms)} ms`);
  }
  const cut = warmUp.length < settings.warmUp || cycles.length < settings.cycles;
  progress.update('floor and digest');
  const rowTimed = warmUp.slice(-ROW_TIMED_CYCLES);
  return {
    rung,
    cut,
    result: { ...resultOf(rung, settings, cycles, rowTimed, last), firstMs: rounded(firstMs) },
  };
}

/** Waits until all threads run. Small rungs could otherwise finish before the threads have started. */
function waitForThreads({ engine }: Rung, workers: number): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let polls = 0; engine.threads < workers; polls++) {
    if (polls === MAX_POLLS) throw new Error(`only ${engine.threads} of ${workers} threads started`);
    Atomics.wait(never, 0, 0, POLL_MS);
  }
}

function engineOptionsOf({ checkEvery, lanes, onDifference, workers }: Settings): EngineOptions {
  return { checkEvery, lanes, workers, ...(onDifference === undefined ? {} : { onDifference }) };
}

/** The part of a cycle that is kept; its decision is valid only until the next cycle. */
type TimedCycleSummary = Pick<TimedCycle, 'ms' | 'partsMs' | 'stats'>;

function summaryOf({ ms, partsMs, stats }: TimedCycle): TimedCycleSummary {
  return { ms, partsMs, stats };
}

function resultOf(
  rung: Rung,
  settings: Settings,
  cycles: readonly TimedCycleSummary[],
  rowTimed: readonly CycleStats[],
  { decision }: TimedCycle,
): Omit<RungResult, 'firstMs'> {
  const { fleet, workload } = rung;
  const cycleMs = quantilesOf(cycles.map(({ ms }) => ms));
  const stats = cycles.map((cycle) => cycle.stats);
  const rssMiB = Math.round(process.memoryUsage.rss() / 2 ** 20);
  const floorMs = floorOf(fleet, FLOOR_ROUNDS).p50;
  const rowsAfterFold = rowsOf(rung, decision.rows);
  return {
    profile: workload.profile.name,
    regime: rung.regime,
    ...(settings.rules === 'unshared' ? {} : { options: settings.rules }),
    workers: settings.workers,
    lanes: Math.max(...stats.map(({ lanes }) => lanes)),
    cycles: cycles.length,
    seed: settings.seed,
    machines: fleet.machines.count,
    needs: fleet.demand.count,
    clusters: workload.profile.clusters,
    classes: fleet.classes.count,
    cycleMs,
    phasesMs: partsOf(cycles),
    rowsAfterFold,
    perNeedUs: quantilesOf(stats.map(({ perNeedUs }) => perNeedUs)).p99,
    pathsUs: {
      absorb: pathUs('absorb', stats),
      shortfall: pathUs('shortfall', rowTimed),
      score: pathUs('score', rowTimed),
    },
    floorMs,
    ratioToFloor: rounded(cycleMs.p50 / floorMs),
    ...contentionOf(stats),
    bytesPerMachine: rounded(ledgerBytes(fleet) / Math.max(1, fleet.machines.count)),
    rssMiB,
    actions: decision.actionCount,
    unmet: decision.unmet.length,
    digest: digestOf(decision.eachAction()),
  };
}

function partsOf(cycles: readonly TimedCycleSummary[]): Record<Part, number> {
  const parts = PARTS.map((part) => [part, quantilesOf(cycles.map(({ partsMs }) => partsMs[part])).p50]);
  return Object.fromEntries(parts) as Record<Part, number>;
}

function pathUs(path: Path, cycles: readonly CycleStats[]): number {
  let rows = 0;
  let ms = 0;
  for (const { paths } of cycles) {
    rows += paths[path].rows;
    ms += paths[path].ms;
  }
  return rows === 0 ? 0 : rounded((ms * 1000) / rows);
}

type Contention = Pick<RungResult, 'laneThreads' | 'conflictFraction' | 'exhausted'>;

/** How lanes waited for each other in all these cycles. */
function contentionOf(cycles: readonly CycleStats[]): Contention {
  const sum = new EngineMetrics();
  for (const stats of cycles) sum.add(stats);
  const { incremental, allOrNothing } = sum.modes;
  const total = (count: (mode: ModeStats) => number): number => {
    return MODES.reduce((all, mode) => all + count(sum.modes[mode]), 0);
  };
  return {
    laneThreads: Math.max(...cycles.map(({ laneThreads }) => laneThreads)),
    conflictFraction: {
      incremental: rounded(conflictFraction(incremental)),
      allOrNothing: rounded(conflictFraction(allOrNothing)),
    },
    exhausted: total(({ exhausted }) => exhausted),
  };
}

/**
 * A decision also counts members of folds that were not hosted and were served again on their own. They are many only
 * where nothing is bound; the generator of that fleet knows the number of rows after folding.
 */
function rowsOf({ regime, workload }: Rung, decided: number): number {
  if (regime !== 'cold') return decided;
  let rows = 0;
  for (let cluster = 0; cluster < workload.profile.clusters; cluster++)
    rows += workload.rowsAfterFold(cluster);
  return rows;
}

function ledgerBytes({ machines }: Fleet): number {
  let bytes = machines.arena.data.byteLength;
  for (const value of Object.values(machines) as unknown[]) {
    if (ArrayBuffer.isView(value)) bytes += value.byteLength;
  }
  return bytes;
}
