// Reads the lists of `bigfleet top` from a shard, as rows with what Enter opens.

import type { ActionView, HistoryEvent, Page } from '../../shard/index.ts';
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
import { type ListName, MAX_ROWS, type TopList } from './model.ts';

const MAX_EVENTS = 200;

interface Read {
  readonly client: ShardClient;
  readonly nowMs: number;
}

/** How the shard searches a list for a filter. */
interface Search {
  readonly queries: readonly Query[];
  /** What it searches, for people. */
  readonly by: string;
}

/** `words`: those of the filter. */
export async function readList(
  client: ShardClient,
  name: ListName,
  nowMs: number,
  words: readonly string[] = [],
): Promise<TopList> {
  const read: Read = { client, nowMs };
  const trouble = { order: 'trouble' };
  const inClusters: Search = { queries: words.map((cluster) => ({ cluster })), by: 'cluster' };
  switch (name) {
    case 'machines': {
      const search = { queries: machineQueries(words), by: 'name, type, zone, capacity and cluster' };
      return await listOf(name, read, MACHINES, named('machine', MACHINES), trouble, search);
    }
    case 'needs':
      return await listOf(name, read, NEEDS, named('need', NEEDS), {}, inClusters);
    case 'clusters':
      return await listOf(name, read, CLUSTERS, named('cluster', CLUSTERS), trouble, inClusters);
    case 'providers':
      return await listOf(name, read, PROVIDERS, named('provider', PROVIDERS));
    case 'shortfalls':
      return await listOf(name, read, SHORTFALLS, ({ id }) => ({ kind: 'need', name: id }));
    case 'actions': {
      const queries = [...inClusters.queries, ...words.map((machine) => ({ machine }))];
      const subject = ({ machine }: ActionView) => ({ kind: 'machine', name: machine }) as const;
      return await listOf(name, read, ACTIONS, subject, {}, { queries, by: 'cluster and machine' });
    }
    case 'events': {
      const items = await readHistory(client, {}, MAX_EVENTS);
      const page = { items, total: items.length, next: null };
      return rowsOf(name, page, EVENT_TABLE, eventSubject, nowMs);
    }
  }
}

/** Each word as a cluster with another as text, and one as text alone: the shard searches for one text at a time. */
function machineQueries(words: readonly string[]): readonly Query[] {
  const textOf = (some: readonly string[]): Query => {
    const longest = some.reduce((most, word) => (word.length > most.length ? word : most), '');
    return longest === '' ? {} : { text: longest };
  };
  const ofClusters = words.map((cluster, i): Query => ({ cluster, ...textOf(words.toSpliced(i, 1)) }));
  return words.length === 0 ? [] : [textOf(words), ...ofClusters];
}

function named<T, I>(kind: DescribedSubject['kind'], { items }: Listing<T, I>) {
  return (item: I): DescribedSubject => ({ kind, name: items!.nameOf(item) });
}

/** The first rows, and of a longer list those that the searches find. */
async function listOf<T, I>(
  name: ListName,
  { client, nowMs }: Read,
  { path, items: table }: Listing<T, I>,
  subjectOf: (item: I) => DescribedSubject | null,
  query: Query = {},
  search?: Search,
): Promise<TopList> {
  const { of, nameOf } = table!;
  const page = async (part: Query): Promise<Page<I>> =>
    of(await client.get<T>(path, { ...part, limit: String(MAX_ROWS) }));
  const first = await page(query);
  if (first.items.length >= first.total || search === undefined || search.queries.length === 0)
    return rowsOf(name, first, table!, subjectOf, nowMs);
  const found = await Promise.all(search.queries.map(page));
  const items = new Map([first, ...found].flatMap((each) => each.items).map((item) => [nameOf(item), item]));
  const all = { ...first, items: [...items.values()] };
  return { ...rowsOf(name, all, table!, subjectOf, nowMs), searchedBy: search.by };
}

function eventSubject({ machine, need, cluster }: HistoryEvent): DescribedSubject | null {
  if (machine !== null) return { kind: 'machine', name: machine };
  if (need !== null) return { kind: 'need', name: need };
  return cluster === null || cluster === '' ? null : { kind: 'cluster', name: cluster };
}

function rowsOf<I>(
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
