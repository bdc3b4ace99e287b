// What a noun of `bigfleet get` declares, and how its answer is shown once or again and again. listing.ts makes the command,
// watch.ts follows the list.

import { BigFleetError, printable } from '../../model/index.ts';
import type { Page } from '../../shard/index.ts';
import type { Paint } from '../table.ts';
import type { Query, ShardClient } from './client.ts';
import type { ShardFlags } from './flags.ts';
import type { Format } from './formats.ts';
import { type ItemTable, type OutputOptions, pageLines } from './tables.ts';

export type FilterName =
  | 'state'
  | 'cluster'
  | 'provider'
  | 'machine'
  | 'need'
  | 'kind'
  | 'since'
  | 'selector'
  | 'unmet'
  | 'forgotten'
  | 'limit';

/** `T`: an answer; `I`: an item of it. */
export interface Listing<T, I> {
  readonly noun: string;
  /** Singular and short names. */
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly filters: readonly FilterName[];
  readonly examples: string;
  readonly path: string;
  /** Order for people: what needs attention first. */
  readonly order?: 'trouble';
  readonly limit?: number;
  /** Reads an answer that is neither one list nor one object. */
  readonly read?: (client: ShardClient, query: Query, limit: number) => Promise<T>;
  /** Absent for an answer that is not a list. */
  readonly items?: ItemTable<I> & {
    readonly of: (answer: T) => Page<I>;
    readonly replaced: (answer: T, page: Page<I>) => T;
    /** Fields that the server sorts by, with its name for each. */
    readonly sorts?: Readonly<Record<string, string>>;
    /** Items move in the order of the API as they change. */
    readonly isReordered?: true;
    /** Of a log, whose new items come at the beginning and are never changed: reads those that a watch has not shown. */
    readonly newer?: (client: ShardClient, query: Query, shown: Shown) => Promise<Newer<I>>;
  };
  /** By default the table of the items. */
  readonly lines?: (answer: T, options: OutputOptions) => readonly string[];
  /** One of them, by a name given after the noun; by default the list is read up to it. */
  readonly one?: {
    /** null: there is none of this name. */
    readonly find: (client: ShardClient, name: string) => Promise<I | null>;
    /** By default a table of one row. */
    readonly lines?: (item: I, options: OutputOptions) => readonly string[];
  };
}

/** What a watch has shown of a log. */
export interface Shown {
  /** Name of the newest item; null: none was shown. */
  readonly newest: string | null;
  /** All items before this time were there when it was read last. */
  readonly sinceMs: number;
}

/** Items of a log that a watch has not shown, newest first; `isCut`: there are more than it reads. */
export interface Newer<I> {
  readonly items: readonly I[];
  readonly isCut: boolean;
}

/** For lists whose answer is one page. */
export const ONE_PAGE = {
  of: <I>(page: Page<I>): Page<I> => page,
  replaced: <I>(_: Page<I>, page: Page<I>): Page<I> => page,
};

export type ListFlags = ShardFlags & {
  readonly output: Format;
  readonly watch?: true;
  readonly sortBy?: string;
  readonly headers: boolean;
} & Partial<Record<FilterName, string | number | boolean>>;

export function shownBy<T, I>(listing: Listing<T, I>, answer: T, options: OutputOptions) {
  const { items, lines } = listing;
  const table = items === undefined ? {} : { table: items, options };
  return {
    items: items === undefined ? [] : items.of(answer).items,
    lines: () => lines?.(answer, options) ?? pageLines(items!.of(answer), items!, options),
    ...table,
  };
}

export function outputOptions(
  { output, headers, sortBy }: ListFlags,
  paint: Paint,
  nowMs: number,
): OutputOptions {
  const order = sortBy === undefined ? {} : { order: `by ${printable(sortBy)}` };
  return { paint, isWide: output === 'wide', nowMs, hasNoHeaders: !(headers ?? true), ...order };
}

export function absent<I>({ noun, kind }: ItemTable<I>, name: string): BigFleetError {
  return new BigFleetError('BF_SHARD_REFUSED', `There is no ${noun ?? kind} ${printable(name)}.`);
}
