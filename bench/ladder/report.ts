// How results are shown: a table and a few lines for people, and the ladder as a table of docs/reference/performance.md.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import type { ScaleProfile, Threshold } from '../../src/demo/workload/scale-profile.ts';
import type { RungResult } from './measure.ts';
import { PARTS } from './rung.ts';

export interface Verdict {
  readonly threshold: Threshold;
  readonly met: boolean;
}

/** What the profile asks of this regime, and whether the result keeps it. */
export function verdictsOn({ regime, cycleMs }: RungResult, profile: ScaleProfile): Verdict[] {
  return profile.thresholds
    .filter((threshold) => threshold.regime === regime)
    .map((threshold) => ({ threshold, met: cycleMs.p99 <= threshold.p99Ms }));
}

export function printResult(result: RungResult, verdicts: readonly Verdict[]): void {
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
      `retries ${result.retries}, displacements ${result.displacements}, exhausted ${result.exhausted}`,
  );
  console.log(`workers ${result.workers}, lanes ${result.lanes}, seed ${result.seed}`);
  console.log(`digest ${result.digest}`);
  for (const { threshold, met } of verdicts) {
    const outcome = met ? 'met' : 'NOT met';
    console.log(`${outcome}: p99 ${cycleMs.p99} ms, at most ${threshold.p99Ms} ms (${threshold.why})`);
  }
}

export interface LadderRow {
  readonly profile: ScaleProfile;
  readonly regime: string;
  /** null: did not end in time, or failed; then `problem` says so. */
  readonly result: RungResult | null;
  readonly problem: string;
}

const HEADER = [
  'profile',
  'regime',
  'rows',
  'cycles',
  'p50 ms',
  'p99 ms',
  'at most',
  ...PARTS,
  'µs/Need',
  '× floor',
  'B/machine',
  'RSS MiB',
  'actions',
  'unmet',
];

export function ladderTable(rows: readonly LadderRow[]): string {
  const lines = [HEADER, HEADER.map((_, i) => (i < 2 ? '---' : '---:')), ...rows.map(cellsOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf({ profile, regime, result, problem }: LadderRow): string[] {
  if (result === null) {
    const cells = HEADER.map(() => '');
    return [profile.name, regime, problem, ...cells.slice(3)];
  }
  const { cycleMs, phasesMs } = result;
  const thresholds = verdictsOn(result, profile).map(
    ({ threshold, met }) => `${threshold.p99Ms} ${met ? 'met' : '**not met**'}`,
  );
  return [
    profile.name,
    regime,
    whole(result.rowsAfterFold),
    `${result.cycles}`,
    short(cycleMs.p50),
    short(cycleMs.p99),
    thresholds.join(', '),
    ...PARTS.map((part) => short(phasesMs[part])),
    short(result.perNeedUs),
    short(result.ratioToFloor),
    `${Math.round(result.bytesPerMachine)}`,
    whole(result.rssMiB),
    whole(result.actions),
    whole(result.unmet),
  ];
}

/** Three significant digits, the precision of a measurement. */
export function short(value: number): string {
  if (value >= 100) return whole(Math.round(value));
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function whole(value: number): string {
  return value.toLocaleString('en');
}

/** The machine a table was measured on, and how busy it was. */
export function machineLine(): string {
  const load = loadavg().map((value) => value.toFixed(2));
  const cpu = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `Node ${process.version}, ${availableParallelism()} × ${cpu}, load ${load.join(' ')}`;
}

const BEGIN = '<!-- ladder:begin -->';
const END = '<!-- ladder:end -->';

/** Replaces the text between the markers of a document. */
export function writeBetweenMarkers(file: string, text: string): void {
  const document = readFileSync(file, 'utf8');
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`${file} has no ${BEGIN} … ${END}`);
  const before = document.slice(0, begin + BEGIN.length);
  writeFileSync(file, `${before}\n${text}\n${document.slice(end)}`);
}
