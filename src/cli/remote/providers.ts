// `bigfleet get providers`.

import type { Page, ProviderView } from '../../shard/index.ts';
import { healthText } from '../../web/index.ts';
import { age, count } from '../amounts.ts';
import type { Cell, Style } from '../table.ts';
import { type Listing, ONE_PAGE } from './list-shape.ts';
import type { OutputOptions } from './tables.ts';

export const PROVIDERS: Listing<Page<ProviderView>, ProviderView> = {
  noun: 'providers',
  aliases: ['provider', 'pv'],
  summary: 'providers, their reachability and the health of their machines',
  filters: ['limit'],
  examples: `  bigfleet get providers
  bigfleet accept list cloud                      accept a List that has lost machines`,
  path: '/v1/providers',
  items: {
    ...ONE_PAGE,
    kind: 'provider',
    order: 'those in trouble first',
    nameOf: ({ name }) => name,
    columns: [
      { header: 'PROVIDER', isWhole: true },
      { header: 'MACHINES', align: 'right' },
      { header: 'BREAKER' },
      { header: 'HEALTH' },
      { header: 'CALLS WAITING', align: 'right' },
      { header: 'LAST LIST', align: 'right' },
      { header: 'NOTE' },
    ],
    rowOf,
  },
};

const STYLES: Readonly<Record<ProviderView['breaker'], Style>> = {
  closed: 'green',
  open: 'red',
  'half-open': 'yellow',
};

const HEALTH_STYLES: Readonly<Record<ProviderView['health']['state'], Style>> = {
  fine: 'green',
  degraded: 'yellow',
  failing: 'red',
};

function rowOf(provider: ProviderView, { nowMs }: OutputOptions): readonly Cell[] {
  const { name, machines, breaker, health, waiting, lastListMs } = provider;
  return [
    { text: name },
    { text: count(machines) },
    { text: breaker, style: STYLES[breaker] },
    { text: health.state, style: HEALTH_STYLES[health.state] },
    { text: count(waiting) },
    { text: lastListMs === null ? 'never' : `${age(nowMs - lastListMs)} ago` },
    { text: notesOf(provider).join('; '), style: 'red' },
  ];
}

export function notesOf(provider: ProviderView): readonly string[] {
  const { denial, hasListed, lastError, heldLosses } = provider;
  return [
    healthText(provider),
    denial === '' ? '' : `denies changes: ${denial}`,
    hasListed ? '' : 'not read yet',
    heldLosses === 0 ? '' : `${count(heldLosses)} machines missing from its List are kept`,
    lastError,
  ].filter((note) => note !== '');
}
