// The figures of `bench economy` as tables of Markdown: for a terminal, and for docs/reference/economy.md.

import { columnsOf, markdownTable, short, whole } from '../record/markdown.ts';
import type { EconomyResult, NoiseFigures, PolicyFigures, SeedFigures } from './figures.ts';
import { POLICIES } from './policies.ts';
import {
  MEASURES,
  type Measure,
  meanOf,
  measured,
  PACKER_LARGE,
  PACKER_RANGE,
  packed,
  policyNames,
} from './summary.ts';

const LAST_POLICY = Object.keys(POLICIES).at(-1)!;

export function textReport(result: EconomyResult): string {
  return [
    demandTable(result),
    summaryTable(result),
    ...policyNames(result).map((policy) => `${policy}, by seed:\n\n${seedTable(result, policy)}`),
    sizeTable(result),
    noiseTable(result),
    consolidationTable(result),
  ].join('\n\n');
}

export function demandTable({ seeds }: EconomyResult): string {
  const rows = seeds.map(({ demand, lowerBound, seed }) => [
    String(seed),
    ...[demand.clusters, demand.rows, demand.pods, demand.cores, demand.memoryGiB, demand.gpus].map(whole),
    ...[demand.offerings, demand.ownedMachines].map(whole),
    lowerBound.all.toFixed(2),
    lowerBound.large.toFixed(2),
  ]);
  const headers = [
    ...['seed', 'clusters', 'rows', 'pods', 'cores', 'GiB', 'GPUs', 'offerings', 'owned machines'],
    ...['lower bound, $/h', 'without small shapes, $/h'],
  ];
  return markdownTable(columnsOf(headers, 0), rows);
}

/** Means over all seeds, beside the figures of the model. */
export function summaryTable(result: EconomyResult): string {
  const policies = policyNames(result);
  const rows = MEASURES.map((measure) => {
    const values = policies.map((policy) => measured(result, policy, measure));
    const [first] = values;
    const { modelled } = measure;
    const ratio = first === undefined || modelled === null ? '' : short(first / modelled);
    return [
      measure.about,
      ...values.map((value) => short(value ?? null)),
      modelled === null ? '' : short(modelled),
      ratio,
      measure.goal?.about ?? '',
      goalMet(result, measure),
    ];
  });
  const packer = packed(result);
  const packerLarge = meanOf(result, (seed) => seed.packer.large.multiple);
  const range = PACKER_RANGE.map((value) => value.toFixed(2)).join(' to ');
  const blank = policies.slice(1).map(() => '');
  rows.push(
    ['packer, every pod placed', short(packer ?? null), ...blank, range, '', '', ''],
    [
      'packer, only shapes of 16 cores and more',
      short(packerLarge ?? null),
      ...blank,
      short(PACKER_LARGE),
      packerLarge === undefined ? '' : short(packerLarge / PACKER_LARGE),
      '',
      '',
    ],
  );
  return markdownTable(
    columnsOf(['multiple of the lower bound', ...policies, 'model', 'measured ÷ model', 'goal', 'met']),
    rows,
  );
}

/** Whether the policy with all rules reaches the goal; empty if it was not run or there is no goal. */
function goalMet(result: EconomyResult, measure: Measure): string {
  const value = measured(result, LAST_POLICY, measure);
  if (value === undefined || measure.goal === null) return '';
  return measure.goal.isMet(value, result) ? 'yes' : 'no';
}

/** One line for each seed: the figures of one policy. */
export function seedTable({ seeds }: EconomyResult, policy: string): string {
  const rows = seeds.map((figures) => seedRow(figures, figures.policies[policy] ?? {}));
  const headers = [
    ...['seed', 'cold', 'machines', 'large shapes', 'machines'],
    ...[
      'end to end',
      'pods stuck at first',
      'pending at the end',
      'unlimited episodes',
      'pending at the end',
    ],
    ...['in-use drains 280', '500', 'median cluster 280', '500', 'packer', 'its machines'],
  ];
  return markdownTable(columnsOf(headers, 0), rows);
}

function seedRow({ packer, seed }: SeedFigures, figures: PolicyFigures): string[] {
  const { cold, endToEnd, endToEndUnlimited, largeShapes, noise } = figures;
  const [first, last] = noise?.spans ?? [];
  const cell = (value: number | undefined, format: (value: number) => string): string =>
    value === undefined ? '' : format(value);
  return [
    String(seed),
    cell(cold?.multiple, short),
    cell(cold?.machines, whole),
    cell(largeShapes?.multiple, short),
    cell(largeShapes?.machines, whole),
    cell(endToEnd?.multiple, short),
    cell(endToEnd?.pendingAtFirst, whole),
    cell(endToEnd?.pendingAtEnd, whole),
    cell(endToEndUnlimited?.multiple, short),
    cell(endToEndUnlimited?.pendingAtEnd, whole),
    cell(first?.inUseDrains, whole),
    cell(last?.inUseDrains, whole),
    cell(first?.inMedianCluster, whole),
    cell(last?.inMedianCluster, whole),
    short(packer.all.multiple),
    whole(packer.all.machines),
  ];
}

/** Multiples by class of cluster size, means over all seeds. */
export function sizeTable(result: EconomyResult): string {
  const classes = Object.keys(result.seeds[0]?.demand.clustersBySize ?? {});
  const rows = classes.map((name) => [
    name,
    whole(meanOf(result, ({ demand }) => demand.clustersBySize[name] ?? 0) ?? 0),
    ...policyNames(result).flatMap((policy) =>
      (['cold', 'largeShapes', 'endToEnd', 'endToEndUnlimited'] as const).map((part) =>
        short(meanOf(result, ({ policies }) => policies[policy]?.[part]?.multipleBySize[name]) ?? null),
      ),
    ),
    short(meanOf(result, ({ packer }) => packer.all.multipleBySize[name] ?? 0) ?? null),
  ]);
  const headers = policyNames(result).flatMap((policy) =>
    ['cold', 'large shapes', 'end to end', 'unlimited episodes'].map((part) => `${policy}: ${part}`),
  );
  return markdownTable(columnsOf(['clusters', 'number', ...headers, 'packer']), rows);
}

/** Drains of machines in use by class of cluster size, and the cost, means over all seeds. */
export function noiseTable(result: EconomyResult): string {
  const classes = Object.keys(result.seeds[0]?.demand.clustersBySize ?? {});
  const rows = policyNames(result).map((policy) => {
    const mean = (figureOf: (noise: NoiseFigures) => number | undefined): number | null =>
      meanOf(result, ({ policies }) => {
        const noise = policies[policy]?.noise;
        return noise === undefined ? undefined : figureOf(noise);
      }) ?? null;
    return [
      policy,
      ...[0, 1].map((span) => short(mean(({ spans }) => spans[span]?.inUseDrains))),
      ...classes.map((name) => short(mean(({ inUseDrainsBySize }) => inUseDrainsBySize[name]))),
      short(mean(({ spans }) => spans.at(-1)?.meanMultiple)),
    ];
  });
  const headers = [
    ...['policy', 'in-use drains, 280 cycles', '500 cycles'],
    ...classes.map((name) => `${name} clusters, 500 cycles`),
    'cost, mean multiple',
  ];
  return markdownTable(columnsOf(headers), rows);
}

/** Costs of old fleets, means over all seeds. */
export function consolidationTable(result: EconomyResult): string {
  const rows = policyNames(result).map((policy) => [
    policy,
    ...(['before', 'after', 'fresh', 'afterOverFresh', 'cycles'] as const).map((figure) =>
      short(meanOf(result, ({ policies }) => policies[policy]?.consolidation?.[figure]) ?? null),
    ),
  ]);
  const headers = ['policy', 'before, $/h', 'after, $/h', 'fresh fleet, $/h', 'after ÷ fresh', 'cycles'];
  return markdownTable(columnsOf(headers), rows);
}
