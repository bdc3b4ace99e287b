// The base of each noun of `bigfleet get` (get.ts and the files of the nouns): its path, its filters, and the layout of
// its answer in a terminal.

import { Command, Option } from 'commander';
import type { Page, StatusView } from '../../shard/index.ts';
import { cutText } from '../../web/index.ts';
import { count } from '../amounts.ts';
import { wholeNumber } from '../flags.ts';
import { type Cell, type Column, type Paint, tableLines } from '../table.ts';
import type { Query, ShardClient } from './client.ts';
import { addShardFlags, clientOf, EXIT_CODES, type RemoteIo, type ShardFlags } from './flags.ts';
import { readPages } from './read-pages.ts';

/** Output options. */
export interface OutputOptions {
  readonly paint: Paint;
  /** More columns, and lines of any length. */
  readonly isWide: boolean;
  /** By the clock of the shard. */
  readonly nowMs: number;
}

type FilterName = 'state' | 'cluster' | 'provider' | 'machine' | 'unmet' | 'forgotten' | 'limit';

export interface Listing<T> {
  readonly noun: string;
  readonly summary: string;
  readonly filters: readonly FilterName[];
  readonly examples: string;
  readonly path: string;
  /** Order for people: what needs attention first. */
  readonly order?: 'trouble';
  /** Reads an answer that is neither one list nor one object. */
  readonly read?: (client: ShardClient, query: Query, limit: number) => Promise<T>;
  readonly lines: (answer: T, options: OutputOptions) => readonly string[];
  /** One of them, by a name given after the noun. */
  readonly one?: {
    readonly name: string;
    readonly path: (name: string) => string;
    readonly lines: (answer: never, options: OutputOptions) => readonly string[];
  };
}

const FILTERS: Readonly<Record<FilterName, () => Option>> = {
  state: () => new Option('--state <state>', 'such as idle, configured or failed'),
  cluster: () => new Option('--cluster <id>', 'of this cluster only'),
  provider: () => new Option('--provider <name>', 'of this provider only'),
  machine: () => new Option('--machine <id>', 'of this machine only'),
  unmet: () => new Option('--unmet', 'only those that are not met'),
  forgotten: () => new Option('--forgotten', 'also forgotten ones'),
  limit: () => new Option('--limit <n>', 'show at most this many').argParser(wholeNumber).default(1000),
};

type Flags = ShardFlags & { readonly output: 'table' | 'wide' | 'json' } & Partial<
    Record<FilterName, string | number | boolean>
  >;

export function listCommand<T>(listing: Listing<T>, io: RemoteIo): Command {
  const { noun, summary, filters, examples, one } = listing;
  const command = new Command(noun).description(summary);
  if (one !== undefined) command.argument(`[${one.name}]`, 'one only, with everything about it');
  for (const filter of filters) command.addOption(FILTERS[filter]());
  const formats = new Option('-o, --output <format>', 'table, wide or json').choices([
    'table',
    'wide',
    'json',
  ]);
  return addShardFlags(command.addOption(formats.default('table')))
    .addHelpText('after', `\n${EXIT_CODES}\n\nExamples:\n${examples}`)
    .action(async () => {
      const [name] = command.args;
      const isOne = one !== undefined && name !== undefined;
      const lines = isOne
        ? (one.lines as Listing<unknown>['lines'])
        : (listing.lines as Listing<unknown>['lines']);
      const flags = command.opts<Flags>();
      const client = clientOf(flags);
      const answer = isOne
        ? await client.get<unknown>(one.path(name))
        : await answerTo(listing as Listing<unknown>, client, flags);
      await show(answer, lines, client, flags, io);
    });
}

/** Reads a list page by page, up to the limit; an answer without a limit is one object. */
async function answerTo(listing: Listing<unknown>, client: ShardClient, flags: Flags): Promise<unknown> {
  const { path, filters, read, order } = listing;
  const { limit } = flags;
  // JSON has the order of the API: programs sort for themselves.
  const ordered = flags.output === 'json' || order === undefined ? {} : { order };
  const names = filters.filter((name) => name !== 'limit');
  const query = { ...Object.fromEntries(names.map((name) => [name, flags[name]?.toString()])), ...ordered };
  if (typeof limit !== 'number') return await client.get<unknown>(path, query);
  if (read !== undefined) return await read(client, query, limit);
  return await readPages(limit, (part) => client.get<Page<unknown>>(path, { ...query, ...part }));
}

async function show(
  answer: unknown,
  lines: Listing<unknown>['lines'],
  client: ShardClient,
  flags: Flags,
  { out, paint }: RemoteIo,
): Promise<void> {
  if (flags.output === 'json') return out(`${JSON.stringify(answer, null, 2)}\n`);
  const { nowMs } = await client.get<StatusView>('/v1/status');
  out(`${lines(answer, { paint, isWide: flags.output === 'wide', nowMs }).join('\n')}\n`);
}

/** A table; columns marked `isWide` come with `-o wide` only. */
export interface WideColumn extends Column {
  readonly isWide?: true;
}

export function table(
  columns: readonly WideColumn[],
  rows: readonly (readonly Cell[])[],
  { paint, isWide }: OutputOptions,
  indent = 0,
): readonly string[] {
  const isShown = (_: unknown, i: number) => isWide || columns[i]?.isWide !== true;
  const shown = rows.map((row) => row.filter(isShown));
  const width = isWide ? { width: Number.POSITIVE_INFINITY } : {};
  return tableLines(columns.filter(isShown), shown, { paint, indent, ...width });
}

/** The table of a page, with its order and the number of items left out; one line for an empty page. */
export function pageLines<T>(
  page: Page<T>,
  { noun, order }: { readonly noun: string; readonly order: string },
  columns: readonly WideColumn[],
  rowOf: (item: T) => readonly Cell[],
  options: OutputOptions,
): readonly string[] {
  const { items, total } = page;
  if (items.length === 0) return [total === 0 ? `No ${noun}s.` : `${count(total)} ${noun}s, none shown.`];
  const lines = table(columns, items.map(rowOf), options);
  return total <= items.length ? lines : [...lines, options.paint('dim', restText(page, noun, order))];
}

/** `… 12 of 340 machines shown, Failed first; 328 left out: --limit 340 shows all`. */
function restText({ items, total, next }: Page<unknown>, noun: string, order: string): string {
  const shown = `… ${cutText(items.length, total, noun, order)}; ${count(total - items.length)} left out`;
  // Of some lists the shard keeps only the first items, and counts the others.
  return next === null ? `${shown}: the shard keeps no more` : `${shown}: --limit ${total} shows all`;
}
