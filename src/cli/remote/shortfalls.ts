// `bigfleet get shortfalls`.

import type { Page, ShortfallView } from '../../shard/index.ts';
import { count, countOf, shortAmounts } from '../amounts.ts';
import { type Listing, ONE_PAGE } from './list-shape.ts';

export const SHORTFALLS: Listing<Page<ShortfallView>, ShortfallView> = {
  noun: 'shortfalls',
  aliases: ['shortfall', 'sf'],
  summary: 'unmet Needs, and since when',
  filters: ['limit'],
  examples: `  bigfleet get shortfalls
  bigfleet get shortfalls -o json | jq '.items[] | select(.isEscalated)'`,
  path: '/v1/shortfalls',
  items: {
    ...ONE_PAGE,
    isReordered: true,
    kind: 'shortfall',
    order: 'most urgent first',
    nameOf: ({ id }) => id,
    columns: [
      { header: 'NEED', isWhole: true },
      { header: 'GROUP' },
      { header: 'PRIORITY', align: 'right' },
      { header: 'MISSING' },
      { header: 'WHY' },
      { header: 'FOR', align: 'right' },
      { header: '' },
    ],
    rowOf: ({ id, group, priority, missing, reason, ageCycles, isEscalated }) => [
      { text: id },
      { text: group },
      { text: count(priority) },
      { text: shortAmounts(missing) },
      { text: reason },
      { text: countOf(ageCycles, 'cycle') },
      { text: isEscalated ? 'escalated' : '', style: 'red' },
    ],
  },
};
