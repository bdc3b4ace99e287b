// `bigfleet get clusters`.

import type { ClusterView, Page } from '../../shard/index.ts';
import { count, dollars } from '../amounts.ts';
import type { Cell } from '../table.ts';
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
    return pageLines(page, 'clusters', columns, rowOf, look);
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

function notesOf({ freeze, cannotBind, hasReported }: ClusterView): readonly string[] {
  return [
    freeze === null ? '' : `${freeze.action ?? 'all'} frozen by ${freeze.who}: ${freeze.why}`,
    cannotBind === '' ? '' : `takes no machines: ${cannotBind}`,
    hasReported ? '' : 'has not reported since the start',
  ].filter((note) => note !== '');
}
