// `bigfleet get shortfalls`.

import type { Page, ShortfallView } from '../../shard/index.ts';
import { count, countOf, shortAmounts } from '../amounts.ts';
import { type Listing, pageLines } from './listing.ts';

export const SHORTFALLS: Listing<Page<ShortfallView>> = {
  noun: 'shortfalls',
  summary: 'unmet Needs, and since when',
  filters: ['limit'],
  examples: `  bigfleet get shortfalls
  bigfleet get shortfalls -o json | jq '.items[] | select(.isEscalated)'`,
  path: '/v1/shortfalls',
  lines: (page, options) => {
    const columns = [
      { header: 'NEED', isWhole: true },
      { header: 'GROUP' },
      { header: 'PRIORITY', align: 'right' },
      { header: 'MISSING' },
      { header: 'WHY' },
      { header: 'FOR', align: 'right' },
      { header: '' },
    ] as const;
    const rowOf = ({ id, group, priority, missing, reason, ageCycles, isEscalated }: ShortfallView) => [
      { text: id },
      { text: group },
      { text: count(priority) },
      { text: shortAmounts(missing) },
      { text: reason },
      { text: countOf(ageCycles, 'cycle') },
      { text: isEscalated ? 'escalated' : '', style: 'red' as const },
    ];
    return pageLines(page, { noun: 'shortfall', order: 'most urgent first' }, columns, rowOf, options);
  },
};
