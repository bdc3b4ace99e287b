// `bigfleet get needs`, and the colour of a verdict for `bigfleet explain NEED`.

import type { NeedView, Page } from '../../shard/index.ts';
import { age, count, shortAmounts } from '../amounts.ts';
import type { Cell } from '../table.ts';
import { type Listing, ONE_PAGE } from './list-shape.ts';
import type { OutputOptions } from './tables.ts';

export const NEEDS: Listing<Page<NeedView>, NeedView> = {
  noun: 'needs',
  aliases: ['need', 'nd'],
  summary: 'demand of clusters, and whether it is met',
  filters: ['cluster', 'unmet', 'limit'],
  examples: `  bigfleet get needs --unmet
  bigfleet get needs --cluster ml -o wide
  bigfleet explain ml/00ff00ff00                  why one is as it is`,
  path: '/v1/needs',
  items: {
    ...ONE_PAGE,
    kind: 'need',
    noun: 'Need',
    order: 'most urgent first',
    nameOf: ({ id }) => id,
    columns: [
      { header: 'NEED', isWhole: true },
      { header: 'GROUP' },
      { header: 'PRIORITY', align: 'right' },
      { header: 'WANTS' },
      { header: 'VERDICT' },
      { header: 'MISSING' },
      { header: 'MACHINES', align: 'right' },
      { header: 'AGE', align: 'right' },
      { header: 'REQUIRES', isWide: true },
    ],
    rowOf,
  },
};

function rowOf(need: NeedView, { nowMs }: OutputOptions): readonly Cell[] {
  return [
    { text: need.id },
    { text: need.group },
    { text: count(need.priority) },
    { text: shortAmounts(need.wants) },
    { text: need.isMet ? 'met' : (need.reason ?? 'unmet'), style: verdictStyle(need) },
    { text: shortAmounts(need.missing), style: verdictStyle(need) },
    { text: count(need.claimed) },
    { text: age(nowMs - need.firstSeenMs) },
    { text: need.requirements.join(', ') },
  ];
}

export function verdictStyle({
  isMet,
  reason,
}: Pick<NeedView, 'isMet' | 'reason'>): 'green' | 'yellow' | 'red' {
  if (isMet) return 'green';
  return reason === 'preempting' ? 'yellow' : 'red';
}
