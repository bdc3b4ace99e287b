// The base of each noun of `bigfleet get` (get.ts and the files of the nouns): its path, its filters, and the format of
// its answer.

import { Command, Option } from 'commander';
import { BigFleetError } from '../../model/index.ts';
import type { Page, StatusView } from '../../shard/index.ts';
import { positiveNumber, timeOf } from '../flags.ts';
import type { Paint } from '../table.ts';
import type { Query, ShardClient } from './client.ts';
import { addShardFlags, clientOf, EXIT_CODES, type RemoteIo } from './flags.ts';
import { FORMATS, formatted } from './formats.ts';
import {
  absent,
  type FilterName,
  type ListFlags,
  type Listing,
  outputOptions,
  shownBy,
} from './list-shape.ts';
import { findInPages, readPages } from './read-pages.ts';
import { sortedItems } from './sorting.ts';
import { type OutputOptions, pageLines } from './tables.ts';

const FILTERS: Readonly<Record<FilterName, () => Option>> = {
  state: () => new Option('--state <state>', 'such as idle, configured or failed'),
  cluster: () => new Option('--cluster <id>', 'of this cluster only'),
  provider: () => new Option('--provider <name>', 'of this provider only'),
  machine: () => new Option('--machine <id>', 'of this machine only'),
  need: () => new Option('--need <id>', 'of this Need only'),
  kind: () => new Option('--kind <kinds>', 'some of action, loss, waiting, need and log, comma-separated'),
  since: () =>
    new Option('--since <time>', 'from this time on, or how long ago, such as 10m').argParser((text) =>
      timeOf(text),
    ),
  selector: () =>
    new Option('-l, --selector <selector>', 'labels of machines, such as rack=r1 or tier in (a,b)'),
  unmet: () => new Option('--unmet', 'only those that are not met'),
  forgotten: () => new Option('--forgotten', 'also forgotten ones'),
  limit: () => new Option('--limit <n>', 'show at most this many').argParser(positiveNumber),
};

const MAX_SHOWN = 1000;
/** `--sort-by` of a field that the server does not sort by reads the list as a whole, and lists of several parts are. */
const EVERYTHING = 10_000_000;

export function listCommand<T, I>(listing: Listing<T, I>, io: RemoteIo): Command {
  const { noun, aliases, summary, filters, examples, items } = listing;
  const command = new Command(noun).aliases([...aliases]).description(summary);
  if (items !== undefined && items.newer === undefined) command.argument('[name]', 'one only');
  for (const filter of filters) {
    const option = FILTERS[filter]();
    command.addOption(filter === 'limit' ? option.default(listing.limit ?? MAX_SHOWN) : option);
  }
  if (!filters.includes('selector')) command.addOption(noSelector(noun));
  const formats = items === undefined ? FORMATS.slice(0, 4) : FORMATS;
  command
    .addOption(new Option('-o, --output <format>', formats.join(', ')).choices([...formats]).default('table'))
    .option('-w, --watch', 'go on with what changes, until interrupted');
  if (items !== undefined)
    command
      .option('--sort-by <field>', 'sort by a field of -o json, such as pricePerHour; -FIELD: descending')
      .option('--no-headers', 'leave out headers and remarks');
  const names = aliases.length === 0 ? '' : `Also: ${aliases.join(', ')}.\n`;
  return addShardFlags(command)
    .addHelpText('after', `\n${names}${EXIT_CODES}\n\nExamples:\n${examples}`)
    .action(async () => {
      const [name] = command.args;
      const flags = command.opts<ListFlags>();
      const client = await clientOf(flags);
      if (flags.watch === true) {
        const { watched } = await import('./watch.ts');
        const read = () => answerTo(listing, client, flags);
        const one = name === undefined ? null : { name, find: () => itemNamed(listing, client, flags, name) };
        return await watched({ listing, read, one, query: queryOf(filters, flags), client, flags, io });
      }
      if (name === undefined) await show(listing, await answerTo(listing, client, flags), client, flags, io);
      else await showOne(listing, await itemNamed(listing, client, flags, name), name, client, flags, io);
    });
}

/** Machines alone have labels. */
function noSelector(noun: string): Option {
  return new Option('-l, --selector <selector>').hideHelp().argParser(() => {
    throw new BigFleetError(
      'BF_USAGE',
      `"get ${noun}" has no -l: it selects by labels, which machines alone have; see "bigfleet get machines --help".`,
    );
  });
}

/** Reads a list page by page, up to the limit; an answer without a limit is one object. */
async function answerTo<T, I>(listing: Listing<T, I>, client: ShardClient, flags: ListFlags): Promise<T> {
  const { path, filters, read, items } = listing;
  const { limit, sortBy } = flags;
  if (typeof limit !== 'number' || items === undefined) return await client.get<T>(path);
  const sort = sortBy === undefined ? undefined : serverSort(items.sorts ?? {}, sortBy);
  const isSortedHere = sortBy !== undefined && sort === undefined;
  const query = { ...queryOf(filters, flags), ...orderOf(listing, flags, sort) };
  const most = isSortedHere ? EVERYTHING : limit;
  const answer =
    read === undefined
      ? ((await readPages(most, (part) => client.get<Page<I>>(path, { ...query, ...part }))) as T)
      : await read(client, query, most);
  if (!isSortedHere) return answer;
  const page = items.of(answer);
  const sorted = sortedItems(page.items, sortBy).slice(0, limit);
  const next = sorted.length < page.items.length ? '' : null;
  return items.replaced(answer, { ...page, items: sorted, next });
}

function serverSort(sorts: Readonly<Record<string, string>>, sortBy: string): string | undefined {
  const isDescending = sortBy.startsWith('-');
  const name = sorts[sortBy.replace(/^-?\.?/, '')];
  return name === undefined ? undefined : `${isDescending ? '-' : ''}${name}`;
}

/** JSON has the order of the API: programs sort for themselves. A watch has it too: an item stays where it is as it changes. */
function orderOf<T, I>({ order }: Listing<T, I>, flags: ListFlags, sort: string | undefined): Query {
  if (sort !== undefined) return { sort };
  const isForPeople = flags.output === 'table' || flags.output === 'wide';
  const isOrdered = isForPeople && flags.sortBy === undefined && flags.watch !== true;
  return order !== undefined && isOrdered ? { order } : {};
}

const PARAMETERS: Readonly<Partial<Record<FilterName, string>>> = { selector: 'labels' };

function queryOf(filters: readonly FilterName[], flags: ListFlags): Query {
  const names = filters.filter((name) => name !== 'limit');
  return Object.fromEntries(names.map((name) => [PARAMETERS[name] ?? name, flags[name]?.toString()]));
}

/** null: there is none of this name. */
async function itemNamed<T, I>(
  { path, filters, read, items, one }: Listing<T, I>,
  client: ShardClient,
  flags: ListFlags,
  name: string,
): Promise<I | null> {
  if (one !== undefined) return await one.find(client, name);
  const { of, nameOf } = items!;
  const query = queryOf(filters, flags);
  const isWanted = (item: I): boolean => nameOf(item) === name;
  if (read !== undefined) return of(await read(client, query, EVERYTHING)).items.find(isWanted) ?? null;
  return await findInPages(isWanted, (part) => client.get<Page<I>>(path, { ...query, ...part }));
}

/** JSON and YAML are the item alone. */
async function showOne<T, I>(
  { items, one }: Listing<T, I>,
  item: I | null,
  name: string,
  client: ShardClient,
  flags: ListFlags,
  { out, paint }: RemoteIo,
): Promise<void> {
  const table = items!;
  if (item === null) throw absent(table, name);
  const options = await optionsFor(client, flags, paint);
  const lines = () =>
    one?.lines?.(item, options) ?? pageLines({ items: [item], total: 1, next: null }, table, options);
  out(await formatted(flags.output, item, { items: [item], lines, table, options }));
}

async function show<T, I>(
  listing: Listing<T, I>,
  answer: T,
  client: ShardClient,
  flags: ListFlags,
  { out, paint }: RemoteIo,
): Promise<void> {
  const options = await optionsFor(client, flags, paint);
  out(await formatted(flags.output, answer, shownBy(listing, answer, options)));
}

/** Data have no ages, so the clock of the shard is not read for them. */
async function optionsFor(client: ShardClient, flags: ListFlags, paint: Paint): Promise<OutputOptions> {
  const isData = flags.output === 'json' || flags.output === 'yaml' || flags.output === 'name';
  return outputOptions(flags, paint, isData ? 0 : (await client.get<StatusView>('/v1/status')).nowMs);
}
