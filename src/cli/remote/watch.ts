// `bigfleet get … --watch`: prints a list, then the items that changed, until a signal. It compares lists that it reads
// again and again, so that filters, formats and limits mean what they mean without it. Loaded by listing.ts on demand.

import type { StatusView } from '../../shard/index.ts';
import { endSignal } from '../end-signal.ts';
import { type Cell, TableLayout } from '../table.ts';
import type { ShardClient } from './client.ts';
import type { RemoteIo } from './flags.ts';
import { formatted, nameLine, yamlOf } from './formats.ts';
import { type ListFlags, type Listing, shownBy } from './list-shape.ts';
import { csvLines, type ItemTable, type OutputOptions, table, type WideColumn } from './tables.ts';

/** A shard decides about once a second. */
const INTERVAL_MS = 1000;

interface Watched<T, I> {
  readonly listing: Listing<T, I>;
  readonly read: () => Promise<T>;
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
  const { listing, read, client, flags, io } = parts;
  const { ended, intervalMs = INTERVAL_MS } = io.watch?.() ?? { ended: endSignal() };
  let isEnded = false;
  const end = ended.then(() => {
    isEnded = true;
  });
  const printer = listing.items === undefined ? null : new ChangePrinter(listing.items, flags, io);
  let before = new Map<string, Known<I>>();
  let last = '';
  while (!isEnded) {
    const answer = await read();
    const { nowMs } = await client.get<StatusView>('/v1/status');
    const options = optionsOf(flags, io, nowMs);
    if (listing.items === undefined || printer === null) {
      const text = await formatted(flags.output, answer, shownBy(listing, answer, options));
      if (text !== last) io.out(last === '' ? text : `\n${text}`);
      last = text;
    } else {
      const { nameOf } = listing.items;
      const { items } = listing.items.of(answer);
      const changes = changesIn(listing.items, before, items);
      before = new Map(items.map((item) => [nameOf(item), { item, state: stateOf(item) }]));
      await printer.print(changes, options);
    }
    await Promise.race([end, pause(intervalMs, end)]);
  }
}

function optionsOf(flags: ListFlags, { paint }: RemoteIo, nowMs: number): OutputOptions {
  return { paint, isWide: flags.output === 'wide', nowMs, hasNoHeaders: !(flags.headers ?? true) };
}

/** The timer ends with the watch, so that it does not keep the process alive. */
async function pause(ms: number, ended: Promise<void>): Promise<void> {
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

/** What changed, in the order of the list; of a log the new items, oldest first. */
function changesIn<I>(
  { nameOf, isLog }: ItemTable<I> & { readonly isLog?: true },
  before: ReadonlyMap<string, Known<I>>,
  items: readonly I[],
): readonly Change<I>[] {
  const changes = items.flatMap((item): Change<I>[] => {
    const known = before.get(nameOf(item));
    if (known === undefined) return [{ type: 'ADDED', item }];
    return known.state === stateOf(item) ? [] : [{ type: 'CHANGED', item }];
  });
  if (isLog === true) return changes.filter(({ type }) => type === 'ADDED').reverse();
  const names = new Set(items.map(nameOf));
  const gone = [...before].filter(([name]) => !names.has(name));
  return [...changes, ...gone.map(([, { item }]): Change<I> => ({ type: 'GONE', item }))];
}

const CHANGE: WideColumn = { header: 'CHANGE' };
const STYLES = { ADDED: 'green', CHANGED: 'yellow', GONE: 'red' } as const;

/** Prints changes in the format of the list; a table keeps its columns. */
class ChangePrinter<I> {
  readonly #table: ItemTable<I> & { readonly isLog?: true };
  readonly #flags: ListFlags;
  readonly #io: RemoteIo;
  readonly #layout = new TableLayout();
  #isFirst = true;

  constructor(table: ItemTable<I> & { readonly isLog?: true }, flags: ListFlags, io: RemoteIo) {
    this.#table = table;
    this.#flags = flags;
    this.#io = io;
    // The longest word may come later.
    if (table.isLog !== true) this.#layout.widened(['changed'.length]);
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
    const { nameOf, columns, rowOf, isLog, ...others } = this.#table;
    const typeCell = (type: ChangeType): readonly Cell[] =>
      isLog === true ? [] : [{ text: type.toLowerCase(), style: STYLES[type] }];
    return {
      ...others,
      nameOf: ({ item }) => nameOf(item),
      columns: isLog === true ? columns : [CHANGE, ...columns],
      rowOf: ({ type, item }, options) => [...typeCell(type), ...rowOf(item, options)],
    };
  }
}
