// `bigfleet get clusters`.

import { printable } from '../../model/index.ts';
import type { ClusterView, Page } from '../../shard/index.ts';
import { count, countOf, dollars } from '../amounts.ts';
import type { Cell } from '../table.ts';
import { proseLines } from './facts.ts';
import { type Listing, pageLines } from './listing.ts';
import { countWords } from './wire-words.ts';

export const CLUSTERS: Listing<Page<ClusterView>> = {
  noun: 'clusters',
  summary: 'clusters, their sessions, demand and cost',
  filters: [],
  examples: '  bigfleet get clusters',
  path: '/v1/clusters',
  lines: (page, look) => {
    const columns = [
      { header: 'CLUSTER', isWhole: true },
      { header: 'SESSION' },
      { header: 'NEEDS', align: 'right' },
      { header: 'UNMET', align: 'right' },
      { header: 'MACHINES' },
      { header: 'PER HOUR', align: 'right' },
      { header: 'NOTE' },
    ] as const;
    return [...pageLines(page, 'clusters', columns, rowOf, look), ...page.items.flatMap(reportLines)];
  },
};

function rowOf(view: ClusterView): readonly Cell[] {
  return [
    { text: view.cluster },
    view.hasSession ? { text: 'open', style: 'green' } : { text: 'none', style: 'red' },
    { text: count(view.needs) },
    { text: count(view.unmet), ...(view.unmet > 0 ? { style: 'red' as const } : {}) },
    { text: countWords(view.machinesByState) },
    { text: dollars(view.costPerHour) },
    { text: notesOf(view).join('; '), style: 'dim' },
  ];
}

/** What is wrong with its roll-ups, whole: it is what somebody has to act on. */
function reportLines({ cluster, reports }: ClusterView): readonly string[] {
  if (reports === null) return [];
  const { held, problems } = reports;
  const texts = problems.map((problem) => `Its last roll-up was refused: ${problem}`);
  if (held !== null) {
    const rows = `${countOf(held.rows, 'row')} instead of ${count(held.knownRows)}`;
    texts.push(
      held.isRefused
        ? `A roll-up with ${rows} is refused; to believe it: bigfleet accept rollup ${cluster}`
        : `A roll-up with ${rows} is held; to settle it: bigfleet accept rollup ${cluster}, or refuse rollup`,
    );
  }
  return texts.length === 0 ? [] : ['', printable(cluster), ...proseLines(texts)];
}

function notesOf({ freeze, cannotBind, hasReported }: ClusterView): readonly string[] {
  return [
    freeze === null ? '' : `${freeze.action ?? 'all'} frozen by ${freeze.who}: ${freeze.why}`,
    cannotBind === '' ? '' : `takes no machines: ${cannotBind}`,
    hasReported ? '' : 'has not reported since the start',
  ].filter((note) => note !== '');
}
