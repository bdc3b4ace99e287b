// `bigfleet get freezes`.

import type { Freeze, Page } from '../../shard/index.ts';
import { freezeName } from '../../shard/planning/freezes.ts';
import { kindName } from '../../web/index.ts';
import { age } from '../amounts.ts';
import { type Listing, pageLines } from './listing.ts';

export const FREEZES: Listing<Page<Freeze>> = {
  noun: 'freezes',
  summary: 'freezes in force, by whom and why',
  filters: ['limit'],
  examples: `  bigfleet get freezes
  bigfleet unfreeze action:reclaim/cluster:ml     by the id in the list`,
  path: '/v1/freezes',
  lines: (page, options) => {
    const columns = [
      { header: 'ID', isWhole: true },
      { header: 'STOPS' },
      { header: 'WHERE' },
      { header: 'SINCE', align: 'right' },
      { header: 'WHO' },
      { header: 'WHY' },
    ] as const;
    const rowOf = ({ action, cluster, sinceMs, who, why }: Freeze) => [
      { text: freezeName({ cluster, action }) },
      { text: action === null ? 'everything' : kindName(action), style: 'red' as const },
      { text: cluster ?? 'the whole fleet' },
      { text: `${age(options.nowMs - sinceMs)} ago` },
      { text: who },
      { text: why },
    ];
    return pageLines(page, { noun: 'freeze', order: 'oldest first' }, columns, rowOf, options);
  },
};
