// The assessment as one self-contained HTML page: tables and plots, no script and no external request, light and dark. Pure.

import { dollars } from '../web/figures.ts';
import { barChart, escaped, lineChart, PLOT_STYLE } from '../web/plot.ts';
import type { Assessment, Fleet, FreshFleet } from './assessment.ts';
import { numbers, paragraphs, section, table } from './html-parts.ts';
import { moreSections } from './html-sections.ts';
import { freshWarnings, HOURS_PER_MONTH, leftOutLines, priceNote, waitingLines } from './summary.ts';

const STYLE = `${PLOT_STYLE}
body { max-width: 860px; }
h2 { margin-top: 2.5rem; } table { border-collapse: collapse; width: 100%; }
td, th { padding: .25rem .8rem .25rem 0; text-align: left; border-bottom: 1px solid var(--grid); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.warning { border-left: 4px solid #d1570d; padding: .4rem .8rem; font-weight: 600; }
.soft { color: var(--soft); } .scroll { overflow-x: auto; }
`;

/** Names of the capacity types that are paid by the hour. */
const RENTED = ['on demand', 'spot'];
/** Bars of a plot; the table above it has all clusters and types. */
const MAX_BARS = 8;

export function htmlPage(assessment: Assessment): string {
  const { at, catalogue, clusters } = assessment;
  const names = clusters.map(({ name }) => name).join(', ');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Assessment by BigFleet</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>
<h1>What BigFleet would make of ${clusters.length === 1 ? 'this cluster' : `these ${clusters.length} clusters`}</h1>
<p class="soft">${escaped(names)} · ${escaped(at)}</p>
<p class="${catalogue.isInvented ? 'warning' : 'soft'}">${escaped(priceNote(assessment))}</p>
${nowSection(assessment)}
${freshSection(assessment)}
${moreSections(assessment)}
</body></html>
`;
}

function nowSection(assessment: Assessment): string {
  const { clusters, now } = assessment;
  const row = (name: string, fleet: Fleet, pods: number, waiting: number): readonly string[] => [
    ...[name, String(fleet.machines), String(pods), String(waiting), dollars(fleet.dollarsPerHour)],
    dollars(fleet.dollarsPerHour * HOURS_PER_MONTH),
  ];
  const rows = clusters.map((each) => row(each.name, each.now, each.pods, each.waitingPods));
  const sum = (of: 'pods' | 'waitingPods'): number => clusters.reduce((all, each) => all + each[of], 0);
  return section('What you run and pay now', [
    table(
      ['Cluster', 'Nodes', 'Pods', 'Of those waiting', '$ an hour', '$ a month'],
      clusters.length === 1 ? rows : [...rows, row('All', now, sum('pods'), sum('waitingPods'))],
      numbers(1, 5),
    ),
    paragraphs(leftOutLines(assessment), 'warning'),
  ]);
}

function freshSection(assessment: Assessment): string {
  const { now, onDemand, withSpot } = assessment;
  const fleets: readonly (readonly [string, FreshFleet | null])[] = [
    ['BigFleet, on demand', onDemand],
    ['BigFleet, with spot', withSpot],
  ];
  const known = fleets.filter((each): each is readonly [string, FreshFleet] => each[1] !== null);
  const row = (name: string, { dollarsPerHour, machines }: Fleet): readonly string[] => [
    ...[name, String(machines), dollars(dollarsPerHour), dollars(dollarsPerHour * HOURS_PER_MONTH)],
    name === 'Now' ? '' : dollars(dollarsPerHour - now.dollarsPerHour),
  ];
  return section('What BigFleet would run for the same pods', [
    `<p>From an empty fleet: machines of the catalogue for the demand that the operator would report, every pod placed.
Pods that do not state what an interruption costs accept spot machines.</p>`,
    table(
      ['Fleet', 'Machines', '$ an hour', '$ a month', 'Difference an hour'],
      [row('Now', now), ...known.map(([name, fleet]) => row(name, fleet))],
      numbers(1, 4),
    ),
    paragraphs(waitingLines(assessment), 'soft'),
    ...known.map(([name, fleet]) =>
      paragraphs(
        freshWarnings(fleet).map((text) => `${name}: ${text}`),
        'warning',
      ),
    ),
    costChart(assessment, known),
    typeChart(assessment, known),
    courseChart(now, known),
  ]);
}

type NamedFleets = readonly (readonly [string, FreshFleet])[];

function costChart({ clusters, now }: Assessment, fleets: NamedFleets): string {
  const shown = clusters.toSorted((a, b) => b.now.dollarsPerHour - a.now.dollarsPerHour).slice(0, MAX_BARS);
  const labels = [...(clusters.length > 1 ? ['all'] : []), ...shown.map(({ name }) => shortened(name))];
  const values = (total: number, of: (name: string) => number): readonly number[] => [
    ...(clusters.length > 1 ? [total] : []),
    ...shown.map(({ name }) => of(name)),
  ];
  return barChart('Dollars an hour by cluster', labels, [
    {
      name: 'now',
      values: values(
        now.dollarsPerHour,
        (name) => clusters.find((each) => each.name === name)!.now.dollarsPerHour,
      ),
    },
    ...fleets.map(([name, fleet]) => ({
      name,
      values: values(
        fleet.dollarsPerHour,
        (cluster) => fleet.clusters.find((each) => each.name === cluster)?.dollarsPerHour ?? 0,
      ),
    })),
  ]);
}

function typeChart({ now }: Assessment, fleets: NamedFleets): string {
  const all: readonly (readonly [string, Fleet])[] = [['now', now], ...fleets];
  const dollarsOf = (fleet: Fleet, type: string): number =>
    fleet.types
      .filter(({ instanceType }) => instanceType === type)
      .reduce((sum, { dollarsPerHour }) => sum + dollarsPerHour, 0);
  const types = new Set(all.flatMap(([, fleet]) => fleet.types.map(({ instanceType }) => instanceType)));
  const shown = [...types]
    .map((type) => ({ type, most: Math.max(...all.map(([, fleet]) => dollarsOf(fleet, type))) }))
    .sort((a, b) => b.most - a.most)
    .slice(0, MAX_BARS)
    .map(({ type }) => type);
  if (shown.length === 0) return '';
  return barChart(
    'Dollars an hour by instance type',
    shown.map(shortened),
    all.map(([name, fleet]) => ({ name, values: shown.map((type) => dollarsOf(fleet, type)) })),
  );
}

function courseChart(now: Fleet, fleets: NamedFleets): string {
  const cycles = Math.max(0, ...fleets.map(([, { course }]) => course.length));
  if (cycles < 2) return '';
  const rentedNow = now.types
    .filter(({ capacityType }) => RENTED.includes(capacityType))
    .reduce((sum, { dollarsPerHour }) => sum + dollarsPerHour, 0);
  return lineChart(
    'Rented machines until the fleet is settled: dollars an hour after each cycle',
    { label: 'cycle', first: 1, step: 1 },
    [
      { name: 'now', values: Array.from({ length: cycles }, () => rentedNow) },
      ...fleets.map(([name, { course }]) => ({ name, values: course })),
    ],
  );
}

function shortened(text: string): string {
  return text.length <= 14 ? text : `${text.slice(0, 13)}…`;
}
