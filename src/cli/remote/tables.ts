// Tables of `bigfleet get`, `describe` and `explain`: which columns a format shows, and the lines of a page.

import { printable } from '../../model/index.ts';
import { csvLine } from '../../runtime/csv.ts';
import type { Page } from '../../shard/index.ts';
import { cutText } from '../../web/index.ts';
import { count } from '../amounts.ts';
import { type Cell, type Column, type Paint, type TableLayout, tableLines } from '../table.ts';

/** Output options. */
export interface OutputOptions {
  readonly paint: Paint;
  /** More columns, and lines of any length. */
  readonly isWide: boolean;
  /** By the clock of the shard. */
  readonly nowMs: number;
  /** Without headers; by default a table has them. */
  readonly hasNoHeaders?: boolean;
  /** Order of the items; by default that of the list. */
  readonly order?: string;
}

/** A table; columns marked `isWide` come with `-o wide` only. */
export interface WideColumn extends Column {
  readonly isWide?: true;
}

/** How the items of a list become rows, names and lines. */
export interface ItemTable<I> {
  /** In the singular, as in `machine/m-17`. */
  readonly kind: string;
  readonly nameOf: (item: I) => string;
  readonly columns: readonly WideColumn[];
  readonly rowOf: (item: I, options: OutputOptions) => readonly Cell[];
  /** For people, such as `most urgent first`. */
  readonly order: string;
  /** By default `kind`, such as `No machines.` */
  readonly noun?: string;
}

export function table(
  columns: readonly WideColumn[],
  rows: readonly (readonly Cell[])[],
  { paint, isWide, hasNoHeaders }: OutputOptions,
  { indent = 0, layout }: { readonly indent?: number; readonly layout?: TableLayout } = {},
): readonly string[] {
  const isShown = (_: unknown, i: number) => isWide || columns[i]?.isWide !== true;
  const shown = rows.map((row) => row.filter(isShown));
  const width = isWide ? { width: Number.POSITIVE_INFINITY } : {};
  const named = columns.filter(isShown).map((column) => (hasNoHeaders ? { ...column, header: '' } : column));
  return tableLines(named, shown, { paint, indent, ...width, ...(layout === undefined ? {} : { layout }) });
}

/** The table of a page, with its order and the number of items left out; one line for an empty page. */
export function pageLines<I>(page: Page<I>, items: ItemTable<I>, options: OutputOptions): readonly string[] {
  const { columns, rowOf, order } = items;
  const noun = items.noun ?? items.kind;
  const { total } = page;
  if (page.items.length === 0) {
    if (options.hasNoHeaders === true) return [];
    return [total === 0 ? `No ${noun}s.` : `${count(total)} ${noun}s, none shown.`];
  }
  const rows = page.items.map((item) => rowOf(item, options));
  const lines = table(columns, rows, options);
  if (total <= page.items.length || options.hasNoHeaders === true) return lines;
  return [...lines, options.paint('dim', restText(page, noun, options.order ?? order))];
}

/** `… 12 of 340 machines shown, Failed first; 328 left out: --limit 340 shows all`. */
function restText({ items, total, next }: Page<unknown>, noun: string, order: string): string {
  const shown = `… ${cutText(items.length, total, noun, order)}; ${count(total - items.length)} left out`;
  // Of some lists the shard keeps only the first items, and counts the others.
  return next === null ? `${shown}: the shard keeps no more` : `${shown}: --limit ${total} shows all`;
}

/** Comma-separated values (RFC 4180) of all columns, with every text whole but its control characters escaped. */
export function csvLines<I>(
  items: readonly I[],
  { columns, rowOf }: ItemTable<I>,
  options: OutputOptions,
): readonly string[] {
  const rows = items.map((item) => columns.map((_, i) => rowOf(item, options)[i]?.text ?? ''));
  const header = options.hasNoHeaders === true ? [] : [columns.map(({ header }) => header)];
  return [...header, ...rows].map((row) => csvLine(row.map(printable)));
}

/** A section of a screen about one thing; none without lines. */
export function titled(
  title: string,
  lines: readonly string[],
  { paint }: Pick<OutputOptions, 'paint'>,
): readonly string[] {
  return lines.length === 0 ? [] : [paint('bold', printable(title)), ...lines];
}

/** Sections with an empty line between them. */
export function sectionLines(sections: readonly (readonly string[])[]): readonly string[] {
  const shown = sections.filter((section) => section.length > 0);
  return shown.flatMap((section, i) => (i === 0 ? section : ['', ...section]));
}
