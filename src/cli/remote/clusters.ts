// `bigfleet get clusters`.

import { printable } from '../../model/index.ts';
import type { ClusterView, Page, SetAsideView } from '../../shard/index.ts';
import { inUnits, usedText } from '../../web/index.ts';
import { count, countOf, dollars } from '../amounts.ts';
import type { Cell } from '../table.ts';
import { proseLines } from './facts.ts';
import { type Listing, ONE_PAGE } from './list-shape.ts';
import { type OutputOptions, pageLines } from './tables.ts';
import { countText } from './wire-text.ts';

const TABLE = {
  ...ONE_PAGE,
  kind: 'cluster',
  order: 'those in trouble first',
  nameOf: ({ cluster }: ClusterView) => cluster,
  columns: [
    { header: 'CLUSTER', isWhole: true },
    { header: 'SESSION' },
    { header: 'NEEDS', align: 'right' },
    { header: 'UNMET', align: 'right' },
    { header: 'MACHINES' },
    { header: 'USED', align: 'right', isWide: true },
    { header: 'PER HOUR', align: 'right' },
    { header: 'SERVING', align: 'right', isWide: true },
    { header: 'ON HOLD', align: 'right', isWide: true },
    { header: 'JOINING', align: 'right', isWide: true },
    { header: 'DRAINING', align: 'right', isWide: true },
    { header: 'OWNED', align: 'right' },
    { header: 'NOTE' },
  ],
  rowOf,
} as const;

export const CLUSTERS: Listing<Page<ClusterView>, ClusterView> = {
  noun: 'clusters',
  aliases: ['cluster', 'cl'],
  summary: 'clusters, their sessions, demand and cost',
  filters: ['limit'],
  examples: `  bigfleet get clusters
  bigfleet get cluster web -o wide`,
  path: '/v1/clusters',
  order: 'trouble',
  items: TABLE,
  lines: clusterPageLines,
  one: {
    find: (client, id) => client.find<ClusterView>(`/v1/clusters/${encodeURIComponent(id)}`),
    lines: (cluster, options) => clusterPageLines({ items: [cluster], total: 1, next: null }, options),
  },
};

function clusterPageLines(page: Page<ClusterView>, options: OutputOptions): readonly string[] {
  return [
    ...pageLines(page, TABLE, options),
    ...(options.hasNoHeaders === true ? [] : page.items.flatMap(reportLines)),
  ];
}

function rowOf(view: ClusterView): readonly Cell[] {
  const { serving, onHold, joining, draining } = view.cost.byPart;
  const parts = inUnits(view.costPerHour, [serving, onHold, joining, draining], SHOWN_DOLLARS);
  return [
    { text: view.cluster },
    view.hasSession ? { text: 'open', style: 'green' } : { text: 'none', style: 'red' },
    { text: count(view.needs) },
    { text: count(view.unmet), ...(view.unmet > 0 ? { style: 'red' as const } : {}) },
    { text: countText(view.machinesByState) },
    { text: usedText(view.usedShare) },
    { text: dollars(view.costPerHour) },
    ...parts.map((part) => ({ text: dollars(part * SHOWN_DOLLARS) })),
    // Empty without prices for owned machines, and the column is left out.
    { text: view.ownedCost === null ? '' : dollars(view.ownedCost.perHour) },
    { text: notesOf(view).join('; '), style: 'dim' },
  ];
}

/** Dollars are rounded to this unit; parts are rounded so that they add up. */
const SHOWN_DOLLARS = 0.0001;

/** All problems of its roll-ups, untruncated, because the operator has to act on them. */
export function reportLines({ cluster, reports, setAside }: ClusterView): readonly string[] {
  const texts = setAside === null ? [] : [setAsideText(cluster, setAside)];
  const { held, problems, remarks, remarksTotal } = reports ?? NO_REPORTS;
  texts.push(...problems.map((problem) => `Its last roll-up was refused: ${problem}`));
  texts.push(...remarks.slice(0, MAX_REMARKS));
  if (remarksTotal > MAX_REMARKS) texts.push(`and ${count(remarksTotal - MAX_REMARKS)} more such rows`);
  if (held !== null) {
    const rows = `${countOf(held.rows, 'row')} instead of ${count(held.knownRows)}`;
    texts.push(
      held.isRefused
        ? `A roll-up with ${rows} is refused; to accept it: bigfleet accept rollup ${cluster}`
        : `A roll-up with ${rows} is quarantined; to settle it: bigfleet accept rollup ${cluster}, or refuse rollup`,
    );
  }
  return texts.length === 0 ? [] : ['', printable(cluster), ...proseLines(texts)];
}

/** Remarks that are printed one by one. */
const MAX_REMARKS = 10;
const NO_REPORTS = { held: null, problems: [], remarks: [], remarksTotal: 0 };

function setAsideText(cluster: string, view: SetAsideView): string {
  const { rows, machinesKept, isLifted, unknownResource } = view;
  const why = unknownResource === null ? '' : ` (the fleet counts too many resources for ${unknownResource})`;
  const aside = `${countOf(rows, 'row')} beyond a limit ${rows === 1 ? 'is' : 'are'} set aside${why}`;
  if (isLifted) return `${aside}; its machines may be reclaimed all the same, as a person allowed.`;
  const kept = machinesKept === 0 ? '' : `, and ${countOf(machinesKept, 'machine')} kept for them`;
  return `${aside}${kept}; to allow reclaiming them: bigfleet accept set-aside ${cluster}`;
}

function notesOf({ freeze, cannotBind, hasReported }: ClusterView): readonly string[] {
  return [
    freeze === null ? '' : `${freeze.action ?? 'all'} frozen by ${freeze.who}: ${freeze.why}`,
    cannotBind === '' ? '' : `can bind no machines: ${cannotBind}`,
    hasReported ? '' : 'has not reported since the start',
  ].filter((note) => note !== '');
}
