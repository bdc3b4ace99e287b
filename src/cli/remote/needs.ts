// `bigfleet get needs`, and what other commands about Needs share: ids, paths and the colour of a verdict.

import { BigFleetError, printable } from '../../model/index.ts';
import type { NeedExplanation, NeedView, Page } from '../../shard/index.ts';
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
  one: {
    find: async (client, id) => {
      if (!isNeedId(id)) throw notANeed(id);
      return (await client.find<NeedExplanation>(needPath(id)))?.need ?? null;
    },
  },
};

/** Whether a text names a Need rather than an error code. */
export function isNeedId(text: string): boolean {
  return /^.+\/[0-9a-f]{10}$/i.test(text);
}

export function notANeed(text: string): BigFleetError {
  return new BigFleetError(
    'BF_USAGE',
    `"${printable(text)}" is not a Need, which is CLUSTER/TEN-HEX-DIGITS; "bigfleet get needs" lists them.`,
  );
}

/** The path of a Need and of all that explains its verdict. */
export function needPath(id: string): string {
  const slash = id.lastIndexOf('/');
  return `/v1/needs/${encodeURIComponent(id.slice(0, slash))}/${id.slice(slash + 1).toLowerCase()}`;
}

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
