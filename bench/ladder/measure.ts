// Measures a rung: a first cycle whose result is checked, warm-up cycles, timed cycles, and the floor in the same
// process.

import type { Fleet } from '../../src/fleet/index.ts';
import type { Regime, ScaleProfile } from '../../src/sim/index.ts';
import { floorOf } from '../floor.ts';
import { type Quantiles, quantilesOf, rounded } from '../quantiles.ts';
import { digestOf } from './digest.ts';
import type { Progress } from './progress.ts';
import { PARTS, type Part, Rung, type TimedCycle } from './rung.ts';

export interface Settings {
  readonly cycles: number;
  /** Cycles before anything is timed. */
  readonly warmUp: number;
  /** Begin no cycle after so many seconds spent in cycles, a third of them on the warm-up; but time at least three. */
  readonly seconds: number;
  readonly workers: number;
  readonly seed: number;
  /** The rung will be exported. */
  readonly exports: boolean;
}

export interface RungResult {
  readonly profile: string;
  readonly regime: Regime;
  readonly workers: number;
  /** Rows that are served from the pools at a time. */
  readonly lanes: number;
  /** Timed cycles; fewer than asked for if time ran out. */
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
  readonly floorMs: number;
  /** Median cycle ÷ floor. */
  readonly ratioToFloor: number;
  readonly conflictFraction: { readonly incremental: number; readonly allOrNothing: number };
  readonly retries: number;
  readonly displacements: number;
  readonly exhausted: number;
  /** All buffers of the machine ledger, reserve and sorted runs included. */
  readonly bytesPerMachine: number;
  readonly rssMiB: number;
  /** Of the last cycle, as are `unmet` and `digest`. */
  readonly actions: number;
  readonly unmet: number;
  readonly digest: string;
}

/** What a row costs on each of the ways it can go, in microseconds; 0 where no row went that way. */
export interface PathsUs {
  /** Credit ÷ rows credited: all of them, or those of the clusters that changed (at the mean number of rows). */
  readonly absorb: number;
  /** Acquire ÷ rows that went to the pools and took something or came away short. */
  readonly shortfall: number;
  /** Preempt ÷ rows that Phase 1 left unmet: finding and scoring victims. */
  readonly score: number;
}

const LEAST_CYCLES = 3;
const FLOOR_ROUNDS = 30;

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
  progress.say('making the fleet');
  const { seed, workers, exports: remembers } = settings;
  const rung = new Rung(profile, regime, seed, { workers, remembers });
  progress.say('first cycle');
  let last = rung.first();
  let spentMs = last.ms;
  let warmUp = 0;
  for (; warmUp < settings.warmUp && spentMs < (settings.seconds * 1000) / 3; warmUp++) {
    last = rung.next();
    spentMs += last.ms;
    progress.say(`warm-up ${warmUp + 1} of ${settings.warmUp}, ${Math.round(last.ms)} ms`);
  }
  const cycles: TimedCycleSummary[] = [];
  const mayGoOn = (): boolean => cycles.length < LEAST_CYCLES || spentMs < settings.seconds * 1000;
  while (cycles.length < settings.cycles && mayGoOn()) {
    last = rung.next();
    spentMs += last.ms;
    cycles.push(summaryOf(last));
    progress.say(`cycle ${cycles.length} of ${settings.cycles}, ${Math.round(last.ms)} ms`);
  }
  const cut = warmUp < settings.warmUp || cycles.length < settings.cycles;
  progress.say('floor and digest');
  return { rung, cut, result: resultOf(rung, settings, cycles, last) };
}

/** What is kept of a cycle; a decision is good until the next one only. */
type TimedCycleSummary = Pick<TimedCycle, 'ms' | 'partsMs' | 'clusters'>;

function summaryOf({ ms, partsMs, clusters }: TimedCycle): TimedCycleSummary {
  return { ms, partsMs, clusters };
}

function resultOf(
  rung: Rung,
  settings: Settings,
  cycles: readonly TimedCycleSummary[],
  { decision }: TimedCycle,
): RungResult {
  const { fleet, workload } = rung;
  const cycleMs = quantilesOf(cycles.map(({ ms }) => ms));
  const phaseOneMs = cycles.map(({ partsMs: p }) => p.normalise + p.credit + p.acquire);
  const rssMiB = Math.round(process.memoryUsage.rss() / 2 ** 20);
  const floorMs = floorOf(fleet, FLOOR_ROUNDS).p50;
  const rowsAfterFold = rowsOf(rung, decision.rows);
  const actions = decision.actions();
  return {
    profile: workload.profile.name,
    regime: rung.regime,
    workers: settings.workers,
    lanes: 1,
    cycles: cycles.length,
    seed: settings.seed,
    machines: fleet.machines.count,
    needs: fleet.demand.count,
    clusters: workload.profile.clusters,
    classes: fleet.classes.count,
    cycleMs,
    phasesMs: partsOf(cycles),
    rowsAfterFold,
    perNeedUs: rounded((quantilesOf(phaseOneMs).p99 * 1000) / Math.max(1, fleet.demand.count)),
    pathsUs: pathsOf(rung, cycles, rowsAfterFold, actions, decision.unmet.length),
    floorMs,
    ratioToFloor: rounded(cycleMs.p50 / floorMs),
    conflictFraction: { incremental: 0, allOrNothing: 0 },
    retries: 0,
    displacements: 0,
    exhausted: 0,
    bytesPerMachine: rounded(ledgerBytes(fleet) / Math.max(1, fleet.machines.count)),
    rssMiB,
    actions: actions.length,
    unmet: decision.unmet.length,
    digest: digestOf(actions),
  };
}

function partsOf(cycles: readonly TimedCycleSummary[]): Record<Part, number> {
  const parts = PARTS.map((part) => [part, quantilesOf(cycles.map(({ partsMs }) => partsMs[part])).p50]);
  return Object.fromEntries(parts) as Record<Part, number>;
}

function pathsOf(
  { workload }: Rung,
  cycles: readonly TimedCycleSummary[],
  rows: number,
  actions: readonly { readonly kind: string; readonly need: unknown }[],
  unmet: number,
): PathsUs {
  const parts = partsOf(cycles);
  const clusters = cycles.reduce((sum, cycle) => sum + cycle.clusters, 0) / Math.max(1, cycles.length);
  const credited = (rows * clusters) / workload.profile.clusters;
  // Actions of a row stand together, and each was told the key of its row anew.
  const served = new Set<string>();
  for (const { kind, need } of actions) {
    if (kind === 'Bootstrap' || kind === 'Provision') served.add(JSON.stringify(need));
  }
  const each = (ms: number, count: number): number => (count < 1 ? 0 : rounded((ms * 1000) / count));
  return {
    absorb: each(parts.credit, credited),
    shortfall: each(parts.acquire, served.size + unmet),
    score: each(parts.preempt, unmet),
  };
}

/**
 * A decision also counts members of folds that found no place and were served again on their own. They are many only
 * where nothing is bound; how many rows that fleet folds into, its maker knows.
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
