// Reads the lists of `bigfleet top` from a shard, as rows with what Enter opens.

import type { ActionView, Answer, HistoryEvent, Page, ShortfallView } from '../../shard/index.ts';
import { ACTIONS } from '../remote/actions.ts';
import type { Query, ShardClient } from '../remote/client.ts';
import { CLUSTERS } from '../remote/clusters.ts';
import type { DescribedSubject } from '../remote/describe.ts';
import { EVENT_TABLE, readHistory } from '../remote/events.ts';
import type { Listing } from '../remote/list-shape.ts';
import { MACHINES } from '../remote/machines.ts';
import { NEEDS } from '../remote/needs.ts';
import { PROVIDERS } from '../remote/providers.ts';
import { SHORTFALLS } from '../remote/shortfalls.ts';
import type { ItemTable } from '../remote/tables.ts';
import { noPaint } from '../table.ts';
import type { ListName, TopList } from './model.ts';

/** A screen shows some dozens; a filter searches these. */
const MAX_ROWS = 1000;
const MAX_EVENTS = 200;

export async function readList(client: ShardClient, name: ListName, nowMs: number): Promise<TopList> {
  const page = <I>({ path }: Listing<Page<I>, I>, query: Query = {}): Promise<Page<I>> =>
    client.get<Page<I>>(path, { ...query, limit: String(MAX_ROWS) });
  const trouble = { order: 'trouble' };
  const named =
    <I>(kind: DescribedSubject['kind'], { nameOf }: ItemTable<I>) =>
    (item: I): DescribedSubject => ({ kind, name: nameOf(item) });
  switch (name) {
    case 'machines':
      return listOf(
        name,
        await page(MACHINES, trouble),
        MACHINES.items!,
        named('machine', MACHINES.items!),
        nowMs,
      );
    case 'needs':
      return listOf(name, await page(NEEDS), NEEDS.items!, named('need', NEEDS.items!), nowMs);
    case 'clusters':
      return listOf(
        name,
        await page(CLUSTERS, trouble),
        CLUSTERS.items!,
        named('cluster', CLUSTERS.items!),
        nowMs,
      );
    case 'providers':
      return listOf(
        name,
        await page(PROVIDERS),
        PROVIDERS.items!,
        named('provider', PROVIDERS.items!),
        nowMs,
      );
    case 'shortfalls': {
      const subject = ({ id }: ShortfallView) => ({ kind: 'need', name: id }) as const;
      return listOf(name, await page(SHORTFALLS), SHORTFALLS.items!, subject, nowMs);
    }
    case 'actions': {
      const answer = await client.get<Answer<'actions'>>(ACTIONS.path, { limit: String(MAX_ROWS) });
      const subject = ({ machine }: ActionView) => ({ kind: 'machine', name: machine }) as const;
      return listOf(name, answer.actions, ACTIONS.items!, subject, nowMs);
    }
    case 'events': {
      const items = await readHistory(client, {}, MAX_EVENTS);
      return listOf(name, { items, total: items.length, next: null }, EVENT_TABLE, eventSubject, nowMs);
    }
  }
}

function eventSubject({ machine, need, cluster }: HistoryEvent): DescribedSubject | null {
  if (machine !== null) return { kind: 'machine', name: machine };
  if (need !== null) return { kind: 'need', name: need };
  return cluster === null || cluster === '' ? null : { kind: 'cluster', name: cluster };
}

function listOf<I>(
  name: ListName,
  { items, total }: Page<I>,
  { columns, rowOf }: ItemTable<I>,
  subjectOf: (item: I) => DescribedSubject | null,
  nowMs: number,
): TopList {
  const isShown = columns.map(({ isWide }) => isWide !== true);
  const options = { paint: noPaint, isWide: false, nowMs };
  const rows = items.map((item) => ({
    cells: rowOf(item, options).filter((_, i) => isShown[i]),
    subject: subjectOf(item),
  }));
  return { name, columns: columns.filter((_, i) => isShown[i]), rows, total };
}
