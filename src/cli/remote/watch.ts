// `bigfleet get … --watch`: prints a list or one item, then the items that changed, until a signal. It compares lists that
// it reads again and again, so that filters, formats and limits mean what they mean without it; of a log it reads what is
// new. Loaded by listing.ts on demand.

import type { Page, StatusView } from '../../shard/index.ts';
import { count } from '../amounts.ts';
import { endSignal } from '../end-signal.ts';
import { type Cell, TableLayout } from '../table.ts';
import type { Query, ShardClient } from './client.ts';
import type { RemoteIo, WatchTiming } from './flags.ts';
import { formatted, nameLine, yamlOf } from './formats.ts';
import {
  absent,
  type ListFlags,
  type Listing,
  type Newer,
  outputOptions,
  type Shown,
  shownBy,
} from './list-shape.ts';
import { restMs } from './pacing.ts';
import { csvLines, type ItemTable, type OutputOptions, table, type WideColumn } from './tables.ts';

/** A shard decides about once a second. */
const INTERVAL_MS = 1000;

/** Events may be recorded a little later than they happened. */
const LATE_MS = 60_000;

interface Watched<T, I> {
  readonly listing: Listing<T, I>;
  readonly read: () => Promise<T>;
  /** The one item that is watched; null: the whole list is. */
  readonly one: { readonly name: string; readonly find: () => Promise<I | null> } | null;
  /** The filters of the list. */
  readonly query: Query;
  readonly client: ShardClient;
  readonly flags: ListFlags;
  readonly io: RemoteIo;
}

type ChangeType = 'ADDED' | 'CHANGED' | 'GONE';

interface Change<I> {
  readonly type: ChangeType;
  readonly item: I;
}

interface Known<I> {
  readonly item: I;
  readonly state: string;
}

export async function watched<T, I>(parts: Watched<T, I>): Promise<void> {
  const timing: WatchTiming = parts.io.watch?.() ?? { ended: endSignal() };
  const { ended, intervalMs = INTERVAL_MS, now = Date.now, pause = pauseOf } = timing;
  let isEnded = false;
  const end = ended.then(() => {
    isEnded = true;
  });
  const printNext = roundsOf(parts);
  while (!isEnded) {
    const startedMs = now();
    await printNext();
    await Promise.race([end, pause(restMs(intervalMs, now() - startedMs), end)]);
  }
}

/** Reads and prints what is new since the call before. */
function roundsOf<T, I>(parts: Watched<T, I>): () => Promise<void> {
  const { items } = parts.listing;
  if (items === undefined) return wholeRounds(parts);
  return items.newer === undefined ? itemRounds(parts, items) : logRounds(parts, items, items.newer);
}

/** An answer that is not a list is printed again as a whole. */
function wholeRounds<T, I>({ listing, read, client, flags, io }: Watched<T, I>): () => Promise<void> {
  let last = '';
  return async () => {
    const answer = await read();
    const options = await optionsNow(client, flags, io);
    const text = await formatted(flags.output, answer, shownBy(listing, answer, options));
    if (text !== last) io.out(last === '' ? text : `\n${text}`);
    last = text;
  };
}

function itemRounds<T, I>(
  { read, one, client, flags, io }: Watched<T, I>,
  table: NonNullable<Listing<T, I>['items']>,
): () => Promise<void> {
  const printer = new ChangePrinter(table, flags, io, false);
  const readItems = async (): Promise<Pick<Page<I>, 'items' | 'total'>> => {
    if (one === null) return table.of(await read());
    const item = await one.find();
    return item === null ? { items: [], total: 0 } : { items: [item], total: 1 };
  };
  const isOrderFixed = flags.sortBy === undefined && table.isReordered !== true;
  let before: Snapshot<I> | null = null;
  let isCutKnown = false;
  return async () => {
    const { items, total } = await readItems();
    if (one !== null && before === null && items.length === 0) throw absent(table, one.name);
    const options = await optionsNow(client, flags, io);
    const now: Snapshot<I> = {
      items: new Map(items.map((item) => [table.nameOf(item), { item, state: stateOf(item) }])),
      isCut: items.length < total,
    };
    if (now.isCut && !isCutKnown) remark(io, cutRemark(items.length, total, table.noun ?? table.kind));
    isCutKnown = now.isCut;
    const changes = changesIn(before ?? { items: new Map(), isCut: false }, now, isOrderFixed);
    before = now;
    await printer.print(changes, options);
  };
}

function cutRemark(items: number, total: number, noun: string): string {
  return `The first ${count(items)} of ${count(total)} ${noun}s are watched, what comes and goes behind them is not shown: --limit ${total} watches all.`;
}

/** First the newest items, then those that have come, oldest first. */
function logRounds<T, I>(
  { read, query, client, flags, io }: Watched<T, I>,
  table: NonNullable<Listing<T, I>['items']>,
  newer: NonNullable<NonNullable<Listing<T, I>['items']>['newer']>,
): () => Promise<void> {
  const printer = new ChangePrinter(table, flags, io, true);
  let shown: Shown | null = null;
  return async () => {
    const { items, isCut }: Newer<I> =
      shown === null
        ? { items: table.of(await read()).items, isCut: false }
        : await newer(client, query, shown);
    const options = await optionsNow(client, flags, io);
    const [first] = items;
    const newest: string | null = first === undefined ? (shown?.newest ?? null) : table.nameOf(first);
    shown = { newest, sinceMs: options.nowMs - LATE_MS };
    if (isCut)
      remark(io, `More than ${count(items.length)} ${table.kind}s at a time: the oldest are left out.`);
    await printer.print(
      items.toReversed().map((item): Change<I> => ({ type: 'ADDED', item })),
      options,
    );
  };
}

function remark({ err }: RemoteIo, text: string): void {
  if (err === undefined) process.stderr.write(`${text}\n`);
  else err(`${text}\n`);
}

async function optionsNow(client: ShardClient, flags: ListFlags, io: RemoteIo): Promise<OutputOptions> {
  const { nowMs } = await client.get<StatusView>('/v1/status');
  return outputOptions(flags, io.paint, nowMs);
}

/** The timer ends with the watch, so that it does not keep the process alive. */
async function pauseOf(ms: number, ended: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    }),
    ended,
  ]);
  clearTimeout(timer);
}

/** Texts with times and counters that go on by themselves: a change of these alone is not a change of the item. */
const VOLATILE: ReadonlySet<string> = new Set([
  ...['sentence', 'ageCycles', 'unmetCycles', 'lastListMs', 'lastReportMs', 'calls', 'waiting'],
]);

function stateOf(item: unknown): string {
  return JSON.stringify(item, (name, value: unknown) => (VOLATILE.has(name) ? undefined : value));
}

/** A list as it was read; `isCut`: it has more items. */
interface Snapshot<I> {
  readonly items: ReadonlyMap<string, Known<I>>;
  readonly isCut: boolean;
}

/**
 * What changed, in the order of the list. An item that only one of two cut lists has may have moved in the order, or another
 * one did. `isOrderFixed`: no item does, so that items before one that both lists have are certain.
 */
function changesIn<I>(before: Snapshot<I>, now: Snapshot<I>, isOrderFixed: boolean): readonly Change<I>[] {
  const sureUpTo = (list: Snapshot<I>, other: Snapshot<I>): number => {
    if (!other.isCut) return list.items.size;
    return isOrderFixed ? [...list.items.keys()].findLastIndex((name) => other.items.has(name)) : 0;
  };
  const [sureNew, sureGone] = [sureUpTo(now, before), sureUpTo(before, now)];
  const changes = [...now.items].flatMap(([name, { item, state }], i): Change<I>[] => {
    const known = before.items.get(name);
    if (known === undefined) return i < sureNew ? [{ type: 'ADDED', item }] : [];
    return known.state === state ? [] : [{ type: 'CHANGED', item }];
  });
  const gone = [...before.items].filter(([name], i) => i < sureGone && !now.items.has(name));
  return [...changes, ...gone.map(([, { item }]): Change<I> => ({ type: 'GONE', item }))];
}

const CHANGE: WideColumn = { header: 'CHANGE' };
const STYLES = { ADDED: 'green', CHANGED: 'yellow', GONE: 'red' } as const;

/** Prints changes in the format of the list; a table keeps its columns. */
class ChangePrinter<I> {
  readonly #table: ItemTable<I>;
  readonly #flags: ListFlags;
  readonly #io: RemoteIo;
  readonly #isLog: boolean;
  readonly #layout = new TableLayout();
  #isFirst = true;

  constructor(table: ItemTable<I>, flags: ListFlags, io: RemoteIo, isLog: boolean) {
    this.#table = table;
    this.#flags = flags;
    this.#io = io;
    this.#isLog = isLog;
    // The longest word may come later.
    if (!isLog) this.#layout.widened(['changed'.length]);
  }

  async print(changes: readonly Change<I>[], options: OutputOptions): Promise<void> {
    if (changes.length === 0) return;
    const hasNoHeaders = options.hasNoHeaders === true || !this.#isFirst;
    const text = await this.#text(changes, { ...options, hasNoHeaders });
    this.#isFirst = false;
    this.#io.out(text);
  }

  async #text(changes: readonly Change<I>[], options: OutputOptions): Promise<string> {
    switch (this.#flags.output) {
      case 'json':
        return changes.map((change) => `${JSON.stringify(change)}\n`).join('');
      case 'yaml':
        return (await Promise.all(changes.map(async (change) => `---\n${await yamlOf(change)}`))).join('');
      case 'name':
        return changes.map(({ item }) => `${nameLine(this.#table, item)}\n`).join('');
      case 'csv':
        return csvLines(changes, this.#changeTable(), options)
          .map((line) => `${line}\n`)
          .join('');
      case 'table':
      case 'wide': {
        const { columns, rowOf } = this.#changeTable();
        const rows = changes.map((change) => rowOf(change, options));
        const lines = table(columns, rows, options, { layout: this.#layout });
        return lines.map((line) => `${line}\n`).join('');
      }
    }
  }

  #changeTable(): ItemTable<Change<I>> {
    const { nameOf, columns, rowOf, ...others } = this.#table;
    const isLog = this.#isLog;
    const typeCell = (type: ChangeType): readonly Cell[] =>
      isLog ? [] : [{ text: type.toLowerCase(), style: STYLES[type] }];
    return {
      ...others,
      nameOf: ({ item }) => nameOf(item),
      columns: isLog ? columns : [CHANGE, ...columns],
      rowOf: ({ type, item }, options) => [...typeCell(type), ...rowOf(item, options)],
    };
  }
}
