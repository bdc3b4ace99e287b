// `bigfleet get events`: what happened in a shard, newest first, and the sentences of events for other commands.

import type { HistoryEvent, HistoryPage, Page } from '../../shard/index.ts';
import { age } from '../amounts.ts';
import { asCalledHere } from '../invocation.ts';
import { itemText } from '../journal/history-text.ts';
import type { Query, ShardClient } from './client.ts';
import type { Listing, Newer, Shown } from './list-shape.ts';
import { pageRequest } from './read-pages.ts';
import type { ItemTable } from './tables.ts';

export const EVENT_TABLE: ItemTable<HistoryEvent> = {
  kind: 'event',
  order: 'newest first',
  nameOf: ({ id }) => id,
  columns: [
    { header: 'AGE', align: 'right' },
    { header: 'CYCLE', align: 'right', isWide: true },
    { header: 'KIND' },
    { header: 'MACHINE', isWhole: true, isWide: true },
    { header: 'CLUSTER', isWide: true },
    { header: 'NEED', isWhole: true, isWide: true },
    { header: 'WHAT' },
  ],
  rowOf: (event, { nowMs }) => [
    { text: age(nowMs - event.atMs) },
    { text: event.cycle === null ? '' : String(event.cycle) },
    { text: event.kind },
    { text: event.machine ?? '' },
    { text: event.cluster ?? '' },
    { text: event.need ?? '' },
    { text: eventText(event) },
  ],
};

export const EVENTS: Listing<Page<HistoryEvent>, HistoryEvent> = {
  noun: 'events',
  aliases: ['event', 'ev'],
  summary: 'what happened and why: actions, losses, orders, Needs',
  filters: ['machine', 'need', 'cluster', 'kind', 'since', 'limit'],
  limit: 50,
  examples: `  bigfleet get events --since 10m
  bigfleet get events --machine m-17 -o wide
  bigfleet get ev --kind loss,log --watch`,
  path: '/v1/history',
  read: async (client, query, limit) => {
    const items = await readHistory(client, query, limit);
    return { items, total: items.length, next: null };
  },
  items: {
    ...EVENT_TABLE,
    of: (page) => page,
    replaced: (_, page) => page,
    newer: newerEvents,
  },
};

/** Events that a watch reads at a time, so that a shard with very many is not read faster than it answers. */
const MAX_NEWER = 10_000;

async function newerEvents(
  client: ShardClient,
  query: Query,
  { newest, sinceMs }: Shown,
): Promise<Newer<HistoryEvent>> {
  // Where few events match, the newest one that was shown may lie far back: the time ends the reading.
  const since = String(Math.max(sinceMs, Number(query['since'] ?? 0)));
  const items: HistoryEvent[] = [];
  let after: string | undefined;
  for (let isMet = false; !isMet && items.length <= MAX_NEWER; ) {
    const part = { since, ...pageRequest(MAX_NEWER), after };
    const page = await client.get<HistoryPage>('/v1/history', { ...query, ...part });
    const end = page.items.findIndex(({ id }) => id === newest);
    for (const item of end === -1 ? page.items : page.items.slice(0, end)) items.push(item);
    isMet = end !== -1 || page.next === null;
    after = page.next ?? undefined;
  }
  return { items: items.slice(0, MAX_NEWER), isCut: items.length > MAX_NEWER };
}

/** The newest `limit` events. A page may be empty and have a next one. */
export async function readHistory(
  client: ShardClient,
  query: Query,
  limit: number,
): Promise<readonly HistoryEvent[]> {
  const items: HistoryEvent[] = [];
  let after: string | undefined;
  while (items.length < limit) {
    const part = { ...pageRequest(limit - items.length), after };
    const page = await client.get<HistoryPage>('/v1/history', { ...query, ...part });
    for (const item of page.items) items.push(item);
    if (page.next === null) break;
    after = page.next;
  }
  return items;
}

/** An event as a sentence. */
export function eventText({ atMs, event }: HistoryEvent): string {
  switch (event.kind) {
    case 'action-started':
    case 'action-ended':
      return asCalledHere(itemText({ atMs, kind: 'action', action: event.action }));
    case 'loss':
    case 'losses':
    case 'waiting':
    case 'need':
    case 'log':
      return asCalledHere(itemText({ atMs, ...event }));
  }
}
