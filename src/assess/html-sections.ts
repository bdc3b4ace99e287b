// Sections of the page below the comparison: sharing, what is stranded, and what Needs could not express. Pure.

import { count, dollars } from '../web/figures.ts';
import { barChart } from '../web/plot.ts';
import type { Assessment, FreshFleet, Sharing, SharingSide } from './assessment.ts';
import type { Remark } from './cluster-demand.ts';
import { numbers, paragraphs, section, table } from './html-parts.ts';
import { gapLines, SHARING_DEFINITION, strandedTotals } from './summary.ts';

const GIB = 2 ** 30;
const BYTES = ['memory', 'ephemeral-storage'];
/** Rows of a table that may be long. */
const MAX_ROWS = 30;
const MAX_BARS = 8;

export function moreSections(assessment: Assessment): string {
  return [
    ...(assessment.sharing === null ? [] : [sharingSection(assessment.sharing)]),
    strandedSection(assessment),
    notExpressedSection(assessment),
  ].join('\n');
}

function sharingSection({
  apart,
  apartByCluster,
  avoidedPerHour,
  headroomPerHour,
  together,
}: Sharing): string {
  const row = (name: string, { bought, spare, unmetPods }: SharingSide): readonly string[] => [
    ...[name, String(bought.machines), dollars(bought.dollarsPerHour)],
    ...[String(spare.machines), dollars(spare.dollarsPerHour), String(unmetPods)],
  ];
  return section('What sharing one pool saves', [
    paragraphs([SHARING_DEFINITION], 'soft'),
    table(
      ['', 'Bought', '$ an hour', 'Spare nodes', '$ an hour', 'Pods not served'],
      [
        ...apartByCluster.map((each) => row(`${each.name} alone`, each)),
        row('Each cluster alone', apart),
        row('One pool', together),
      ],
      numbers(1, 5),
    ),
    `<p><strong>${dollars(avoidedPerHour)} an hour</strong> of purchases are avoided in one pool. Of its spare nodes,
${dollars(headroomPerHour)} an hour are beyond the largest spare of one cluster: they could be returned and a burst of any
one cluster would still find as many spare nodes as the best equipped cluster has alone.</p>`,
  ]);
}

function strandedSection({ clusters, strandedPerHour }: Assessment): string {
  const totals = strandedTotals(clusters);
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);
  const shown = clusters.toSorted((a, b) => b.now.dollarsPerHour - a.now.dollarsPerHour).slice(0, MAX_BARS);
  const resources = ['cpu', 'memory'].filter((name) => totals.some(({ resource }) => resource === name));
  return section('What is stranded', [
    `<p class="soft">What nodes have and no pod requests. A price counts half for cores and half for memory, or for the
accelerators of a node that has some: ${dollars(strandedPerHour)} an hour in all.</p>`,
    table(
      ['Resource', 'Allocatable', 'Requested', 'Stranded', '', '$ an hour'],
      totals.map(({ allocatable, dollarsPerHour, requested, resource, stranded }) => [
        ...[resource, amount(allocatable, resource), amount(requested, resource), amount(stranded, resource)],
        ...[`${share(stranded, allocatable).toFixed(0)} %`, dollars(dollarsPerHour)],
      ]),
      numbers(1, 5),
    ),
    resources.length === 0 || shown.length === 0
      ? ''
      : barChart(
          'Stranded share in percent by cluster',
          shown.map(({ name }) => (name.length <= 14 ? name : `${name.slice(0, 13)}…`)),
          resources.map((name) => ({
            name,
            values: shown.map((cluster) => {
              const found = cluster.stranded.find(({ resource }) => resource === name);
              return found === undefined ? 0 : share(found.stranded, found.allocatable);
            }),
          })),
        ),
  ]);
}

function notExpressedSection(assessment: Assessment): string {
  const { clusters, onDemand, withSpot } = assessment;
  const rows = (of: (cluster: Assessment['clusters'][number]) => readonly Remark[]): readonly string[][] =>
    clusters.flatMap((cluster) =>
      of(cluster).map(({ examples, pods, text }) => [cluster.name, String(pods), text, examples.join(', ')]),
    );
  const listed = (title: string, all: readonly string[][]): string =>
    all.length === 0
      ? ''
      : `<h3>${title}</h3>${table(['Cluster', 'Pods', 'Why', 'Such as'], all.slice(0, MAX_ROWS), [1])}`;
  const parts = [
    listed(
      'Pods that no Need counts',
      rows(({ notExpressed }) => notExpressed),
    ),
    listed(
      'What Needs leave out of pods that they count',
      rows(({ remarks }) => remarks),
    ),
    unmetTable(onDemand ?? withSpot),
  ].filter((part) => part !== '');
  const gaps = gapLines(assessment);
  return [
    section(
      'Pods that could not be expressed',
      parts.length === 0 ? ['<p>None: the Needs say all that the pods ask for.</p>'] : parts,
    ),
    gaps.length === 0 ? '' : section('What was not read', [paragraphs(gaps, 'soft')]),
  ].join('\n');
}

function unmetTable(fleet: FreshFleet | null): string {
  if (fleet === null || fleet.unmet.length === 0) return '';
  const rows = fleet.unmet.map(({ cluster, pods, reason, wants }) => [cluster, String(pods), wants, reason]);
  return `<h3>Pods that no machine of the catalogue serves</h3>${table(['Cluster', 'Pods', 'They want', 'Why not'], rows.slice(0, MAX_ROWS), [1])}`;
}

/** Cores, GiB or pieces. */
function amount(units: number, resource: string): string {
  if (resource === 'cpu') return `${count(units / 1000)} cores`;
  return BYTES.includes(resource) ? `${count(units / GIB)} GiB` : count(units);
}
