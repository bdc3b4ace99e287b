// The figures of `bench economy` as one self-contained HTML page: plots, and the command that makes it again.

import { barChart, escaped, lineChart, PLOT_STYLE, type Series } from '../../src/web/plot.ts';
import type { EconomyResult } from './figures.ts';
import { MEASURES, meanOf, measured, policyNames } from './summary.ts';

const STYLE = `${PLOT_STYLE}
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
`;

export function htmlPage(result: EconomyResult): string {
  const seeds = result.seeds.map(({ seed }) => `--seed ${seed}`).join(' ');
  const charts = [...costCharts(result), ...noiseCharts(result), ...consolidationCharts(result)];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Economy of BigFleet</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>
<h1>What the same pods cost</h1>
<p>Dollars an hour as a multiple of a lower bound, means over the seeds of the command.
<code>${escaped(`npm run --silent bench -- economy ${seeds}`)}</code></p>
${figuresTable(result)}
${charts.join('\n')}
</body></html>
`;
}

function figuresTable(result: EconomyResult): string {
  const policies = policyNames(result);
  const row = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  const rows = MEASURES.map((measure) =>
    row([measure.about, ...policies.map((policy) => String(measured(result, policy, measure) ?? ''))], 'td'),
  );
  const packer = meanOf(result, (seed) => seed.packer.all.multiple);
  return `<table>${row(['', ...policies], 'th')}${rows.join('')}${row(['packer', String(packer ?? '')], 'td')}</table>`;
}

/** Multiples by size of cluster: a chart for each part, a series for each policy and the packer. */
function costCharts(result: EconomyResult): string[] {
  const classes = Object.keys(result.seeds[0]?.demand.clustersBySize ?? {});
  const parts = [
    ['cold', 'Cold, sums covered: multiple of the lower bound by size of cluster', 'all'],
    ['largeShapes', 'Cold, only shapes of 16 cores and more', 'large'],
    ['endToEnd', 'End to end, with episodes for stuck pods', 'all'],
    ['endToEndUnlimited', 'End to end, any number of episodes', 'all'],
  ] as const;
  return parts.flatMap(([part, title, catalogue]) => {
    const policies = seriesOf(policyNames(result), (policy) =>
      classes.map((name) => meanOf(result, (seed) => seed.policies[policy]?.[part]?.multipleBySize[name])),
    );
    if (policies.length === 0) return [];
    const packer = seriesOf(['packer'], () =>
      classes.map((name) => meanOf(result, (seed) => seed.packer[catalogue].multipleBySize[name])),
    );
    return [barChart(title, classes, [...policies, ...packer])];
  });
}

/** Of the first seed: a mean over seeds would hide the steps. */
function noiseCharts(result: EconomyResult): string[] {
  const noise = (policy: string) => result.seeds[0]?.policies[policy]?.noise?.series ?? [];
  const step = noise(policyNames(result)[0] ?? '')[0]?.cycle ?? 1;
  const charts = [
    ['multiple', 'Cost over noisy cycles (±5 % of pods in every row): multiple of the lower bound'],
    ['inUseDrains', 'Drains of machines in use over noisy cycles, since the beginning'],
    ['pendingPods', 'Pending pods over noisy cycles'],
  ] as const;
  return charts.flatMap(([figure, title]) => {
    const series = seriesOf(policyNames(result), (policy) => noise(policy).map((point) => point[figure]));
    return series.length === 0
      ? []
      : [lineChart(`${title}, first seed`, { label: 'cycle', first: step, step }, series)];
  });
}

function consolidationCharts(result: EconomyResult): string[] {
  const series = policyNames(result).flatMap((policy) => {
    const figures = result.seeds[0]?.policies[policy]?.consolidation;
    if (figures === undefined) return [];
    const old = [figures.before, ...figures.series];
    return [
      { name: `old fleet under ${policy}`, values: old },
      { name: `fresh fleet under ${policy}`, values: old.map(() => figures.fresh) },
    ];
  });
  const title = 'An old fleet left alone: dollars an hour, first seed';
  return series.length === 0 ? [] : [lineChart(title, { label: 'cycle', first: 0, step: 1 }, series)];
}

/** Series of the names for which every value is known. */
function seriesOf(
  names: readonly string[],
  valuesOf: (name: string) => readonly (number | undefined)[],
): Series[] {
  return names.flatMap((name) => {
    const values = valuesOf(name);
    const known = values.filter((value) => value !== undefined);
    return known.length === values.length && known.length > 0 ? [{ name, values: known }] : [];
  });
}
