// The engine's counters under the names of docs/reference/metrics.md. The engine keeps plain numbers in milliseconds;
// they are named and converted to seconds here, on each scrape. Used by metrics.ts.

import type { Histogram } from '../../collections/histogram.ts';
import { conflictFraction, type EngineMetrics, MODES, type Mode, retriesOf } from '../../engine/index.ts';
import { type Family, histogramSamples, type Label, type Sample } from '../../runtime/exposition.ts';

const PREFIX = 'bigfleet_shard_';
const MS_PER_SECOND = 1000;

export function engineFamilies(metrics: EngineMetrics): Family[] {
  return [...proposals(metrics), ...cycles(metrics), ...checks(metrics)];
}

function proposals({ modes, lanes }: EngineMetrics): Family[] {
  const byMode = (value: (mode: Mode) => number): Sample[] =>
    MODES.map((mode) => sample(value(mode), ['mode', MODE_LABELS[mode]]));
  return [
    gauge(
      'phase1_occ_conflict_fraction',
      'Rows that had to wait for another lane, per commit; from 1 on, lanes mostly wait.',
      byMode((mode) => conflictFraction(modes[mode])),
    ),
    counter(
      'phase1_occ_proposals_total',
      'Rows served from free machines: committed, and those of them that had to wait for another lane (conflict).',
      MODES.flatMap((mode) => [
        sample(modes[mode].commits, ['mode', MODE_LABELS[mode]], ['outcome', 'committed']),
        sample(modes[mode].conflicts, ['mode', MODE_LABELS[mode]], ['outcome', 'conflict']),
      ]),
    ),
    counter(
      'phase1_occ_retries_total',
      'Rows that had to wait for another lane: committed after a few reads, or exhausted, when their thread was parked.',
      MODES.flatMap((mode) =>
        Object.entries(retriesOf(modes[mode])).map(([outcome, count]) =>
          sample(count, ['mode', MODE_LABELS[mode]], ['outcome', outcome]),
        ),
      ),
    ),
    counter(
      'phase1_occ_displacements_total',
      'Commits reverted in favour of a row of better rank: always 0, since lanes wait instead.',
      [sample(0)],
    ),
    counter(
      'phase1_occ_retries_exhausted_total',
      'Rows that had to wait for another lane until their thread was parked.',
      byMode((mode) => modes[mode].exhausted),
    ),
    seconds(
      'phase1_proposal_duration_seconds',
      'Time from the start of a row to its commit, in cycles whose rows are timed.',
      MODES.map((mode) => [modes[mode].proposalMs, [['mode', MODE_LABELS[mode]]]]),
    ),
    gauge('phase1_lanes', 'Lanes that served rows in parallel in the last cycle.', [sample(lanes)]),
  ];
}

function cycles({ cycleMs, phaseMs, perNeedUs, paths }: EngineMetrics): Family[] {
  const pathEntries = Object.entries(paths);
  return [
    seconds('decide_duration_seconds', 'Duration of a decision, without its check.', [[cycleMs, []]]),
    seconds(
      'phase_duration_seconds',
      'Duration of each phase of a decision.',
      Object.entries(phaseMs).map(([phase, ms]) => [ms, [['phase', phase]]]),
    ),
    histogram(
      'phase1_need_cost_microseconds',
      'Phase 1 time per Need, one value per cycle.',
      [[perNeedUs, []]],
      1,
    ),
    counter(
      'phase1_rows_total',
      'Rows by code path.',
      pathEntries.map(([path, { rows }]) => sample(rows, ['path', path])),
    ),
    counter(
      'phase1_row_seconds_total',
      'Time spent on rows by code path.',
      pathEntries.map(([path, { ms }]) => sample(ms / MS_PER_SECOND, ['path', path])),
    ),
  ];
}

function checks({ checks: checked, differences, checkMs }: EngineMetrics): Family[] {
  return [
    counter('incremental_checks_total', 'Cycles compared with a full solve.', [sample(checked)]),
    counter(
      'incremental_check_differences_total',
      'Checks that found a difference between the incremental and the full solve. Alert on any value above 0.',
      [sample(differences)],
    ),
    seconds('incremental_check_duration_seconds', 'Duration of a full solve and comparison.', [
      [checkMs, []],
    ]),
  ];
}

const MODE_LABELS: Readonly<Record<Mode, string>> = {
  incremental: 'incremental',
  allOrNothing: 'all-or-nothing',
};

function sample(value: number, ...labels: readonly Label[]): Sample {
  return { suffix: '', labels, value };
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `${PREFIX}${name}`, help, type: 'counter', samples };
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name: `${PREFIX}${name}`, help, type: 'gauge', samples };
}

type Entry = readonly [histogram: Histogram, labels: readonly Label[]];

function seconds(name: string, help: string, entries: readonly Entry[]): Family {
  return histogram(name, help, entries, MS_PER_SECOND);
}

function histogram(name: string, help: string, entries: readonly Entry[], unit: number): Family {
  const samples = entries.flatMap(([{ bounds, counts, sum }, labels]) => [
    ...histogramSamples(
      labels,
      bounds.map((bound) => bound / unit),
      counts,
      sum / unit,
    ),
  ]);
  return { name: `${PREFIX}${name}`, help, type: 'histogram', samples };
}
