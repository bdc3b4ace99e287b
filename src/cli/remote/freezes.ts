// `bigfleet get freezes`.

import type { Freeze, Page } from '../../shard/index.ts';
import { freezeName } from '../../shard/planning/freezes.ts';
import { kindName } from '../../web/index.ts';
import { age } from '../amounts.ts';
import { type Listing, ONE_PAGE } from './list-shape.ts';

export const FREEZES: Listing<Page<Freeze>, Freeze> = {
  noun: 'freezes',
  aliases: ['freeze', 'fz'],
  summary: 'freezes in force, by whom and why',
  filters: ['limit'],
  examples: `  bigfleet get freezes
  bigfleet unfreeze action:reclaim/cluster:ml     by the id in the list`,
  path: '/v1/freezes',
  items: {
    ...ONE_PAGE,
    kind: 'freeze',
    order: 'oldest first',
    nameOf: freezeName,
    columns: [
      { header: 'ID', isWhole: true },
      { header: 'STOPS' },
      { header: 'WHERE' },
      { header: 'SINCE', align: 'right' },
      { header: 'ENDS', align: 'right' },
      { header: 'WHO' },
      { header: 'WHY' },
    ],
    rowOf: ({ action, cluster, sinceMs, untilMs, who, why }, { nowMs }) => [
      { text: freezeName({ cluster, action }) },
      { text: action === null ? 'everything' : kindName(action), style: 'red' },
      { text: cluster ?? 'the whole fleet' },
      { text: `${age(nowMs - sinceMs)} ago` },
      { text: untilMs === null ? 'when lifted' : `in ${age(untilMs - nowMs)}` },
      { text: who },
      { text: why },
    ],
  },
};
