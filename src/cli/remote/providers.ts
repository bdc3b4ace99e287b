// `bigfleet get providers`.

import type { Page, ProviderView } from '../../shard/index.ts';
import { age, count } from '../amounts.ts';
import type { Cell, Style } from '../table.ts';
import { type Listing, type Look, pageLines } from './listing.ts';

export const PROVIDERS: Listing<Page<ProviderView>> = {
  noun: 'providers',
  summary: 'providers, and whether they answer',
  filters: ['limit'],
  examples: `  bigfleet get providers
  bigfleet accept list cloud                      believe a List that has lost machines`,
  path: '/v1/providers',
  lines: (page, look) => {
    const columns = [
      { header: 'PROVIDER', isWhole: true },
      { header: 'MACHINES', align: 'right' },
      { header: 'BREAKER' },
      { header: 'CALLS WAITING', align: 'right' },
      { header: 'LAST LIST', align: 'right' },
      { header: 'NOTE' },
    ] as const;
    return pageLines(page, 'providers', columns, (provider) => rowOf(provider, look), look);
  },
};

const STYLES: Readonly<Record<ProviderView['breaker'], Style>> = {
  closed: 'green',
  open: 'red',
  'half-open': 'yellow',
};

function rowOf(provider: ProviderView, { nowMs }: Look): readonly Cell[] {
  const { name, machines, breaker, waiting, lastListMs } = provider;
  return [
    { text: name },
    { text: count(machines) },
    { text: breaker, style: STYLES[breaker] },
    { text: count(waiting) },
    { text: lastListMs === null ? 'never' : `${age(nowMs - lastListMs)} ago` },
    { text: notesOf(provider).join('; '), style: 'red' },
  ];
}

export function notesOf({ denial, hasListed, lastError, heldLosses }: ProviderView): readonly string[] {
  return [
    denial === '' ? '' : `lets nothing be changed: ${denial}`,
    hasListed ? '' : 'not read yet',
    heldLosses === 0 ? '' : `${count(heldLosses)} machines missing from its List are kept`,
    lastError,
  ].filter((note) => note !== '');
}
