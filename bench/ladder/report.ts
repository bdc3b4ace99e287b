// Shows results of `bench ladder`: a table and a few lines on the terminal (main.ts), and the table of the ladder in
// docs/reference/performance.md (record/page.ts). speedup.ts prints `machineLine` as well; rung-process.ts fills
// `LadderRow`s.

import { availableParallelism, cpus, loadavg } from 'node:os';
import type { ScaleProfile, Threshold } from '../../src/demo/workload/scale-profile.ts';
import { columnsOf, markdownTable, short, whole } from '../record/markdown.ts';
import type { RungResult } from './measure.ts';
import { PARTS } from './rung.ts';

/** A limit on p99 from the profile's `thresholds`; not a goal, for which see bench/record/goals.ts. */
export interface LimitCheck {
  readonly threshold: Threshold;
  readonly isWithin: boolean;
}

/** Fields of a result that the table of the ladder shows; recorded results may have no others. */
export type RungFigures = Pick<
  RungResult,
  | 'regime'
  | 'cycles'
  | 'phasesMs'
  | 'rowsAfterFold'
  | 'perNeedUs'
  | 'ratioToFloor'
  | 'bytesPerMachine'
  | 'rssMiB'
  | 'actions'
  | 'unmet'
> & { readonly cycleMs: { readonly p50: number; readonly p99: number } };

/** The limits of the profile for this regime, and whether the result is within them. */
export function limitChecksOf({ regime, cycleMs }: RungFigures, profile: ScaleProfile): LimitCheck[] {
  return profile.thresholds
    .filter((threshold) => threshold.regime === regime)
    .map((threshold) => ({ threshold, isWithin: cycleMs.p99 <= threshold.p99Ms }));
}

export function printResult(result: RungResult, limitChecks: readonly LimitCheck[]): void {
  const { cycleMs, pathsUs, phasesMs } = result;
  console.table({
    [`${result.profile} ${result.regime}`]: {
      machines: result.machines,
      needs: result.needs,
      rows: result.rowsAfterFold,
      classes: result.classes,
      cycles: result.cycles,
      'p50 ms': cycleMs.p50,
      'p99 ms': cycleMs.p99,
      'max ms': cycleMs.max,
      'µs/need': result.perNeedUs,
      'floor ms': result.floorMs,
      '× floor': result.ratioToFloor,
      'B/machine': result.bytesPerMachine,
      'rss MiB': result.rssMiB,
      actions: result.actions,
      unmet: result.unmet,
    },
  });
  console.table({ 'phase p50 ms': phasesMs });
  console.log(
    `per row: absorb ${pathsUs.absorb} µs, shortfall ${pathsUs.shortfall} µs, score ${pathsUs.score} µs`,
  );
  const { incremental, allOrNothing } = result.conflictFraction;
  console.log(
    `conflicts per commit: incremental ${incremental}, all-or-nothing ${allOrNothing}; ` +
      `on ${result.laneThreads} threads, parked ${result.exhausted} times`,
  );
  console.log(`workers ${result.workers}, lanes ${result.lanes}, seed ${result.seed}`);
  console.log(`digest ${result.digest}`);
  for (const { threshold, isWithin } of limitChecks) {
    const outcome = isWithin ? 'within the limit' : 'ABOVE THE LIMIT';
    console.log(`${outcome}: p99 ${cycleMs.p99} ms, at most ${threshold.p99Ms} ms (${threshold.why})`);
  }
}

export interface LadderRow<Result extends RungFigures = RungFigures> {
  readonly profile: ScaleProfile;
  readonly regime: string;
  /** null: did not end in time, or failed; then `problem` says so. */
  readonly result: Result | null;
  readonly problem: string;
}

const HEADER = [
  'profile',
  'regime',
  'rows',
  'cycles',
  'p50 ms',
  'p99 ms',
  'limit',
  ...PARTS,
  'µs/Need',
  '× floor',
  'B/machine',
  'RSS MiB',
  'actions',
  'unmet',
];

export function ladderTable(rows: readonly LadderRow[]): string {
  return markdownTable(columnsOf(HEADER, 2), rows.map(cellsOf));
}

function cellsOf({ profile, regime, result, problem }: LadderRow): string[] {
  if (result === null) {
    const cells = HEADER.map(() => '');
    return [profile.name, regime, problem, ...cells.slice(3)];
  }
  const { cycleMs, phasesMs } = result;
  const limits = limitChecksOf(result, profile).map(
    ({ threshold, isWithin }) => `${threshold.p99Ms}${isWithin ? '' : ' **exceeded**'}`,
  );
  return [
    profile.name,
    regime,
    whole(result.rowsAfterFold),
    `${result.cycles}`,
    short(cycleMs.p50),
    short(cycleMs.p99),
    limits.join(', '),
    ...PARTS.map((part) => short(phasesMs[part])),
    short(result.perNeedUs),
    short(result.ratioToFloor),
    `${Math.round(result.bytesPerMachine)}`,
    whole(result.rssMiB),
    whole(result.actions),
    whole(result.unmet),
  ];
}

/** The machine a table was measured on, and how busy it was. */
export function machineLine(): string {
  const load = loadavg().map((value) => value.toFixed(2));
  const cpu = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `Node ${process.version}, ${availableParallelism()} × ${cpu}, load ${load.join(' ')}`;
}
