// Plain tables and sentences: columns as wide as they need, cut with … where a line would not fit the terminal. Colour
// is applied after padding, so that it never counts as width. Used by every command that prints tables or sentences;
// main.ts sets the width once, with `fitLinesTo`.

import { styleText } from 'node:util';
import { printable } from '../model/index.ts';

export type Style = Parameters<typeof styleText>[0];

/** Colours a text, or returns it unchanged where there are no colours. */
export type Paint = (style: Style, text: string) => string;

/** Colours on a terminal only; NO_COLOR and FORCE_COLOR are honoured. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** For files, pipes and tests. */
export const noPaint: Paint = (_style, text) => text;

/** Sentences on a terminal wrap at this width, however wide the terminal is. */
export const LINE_WIDTH = 100;

/** A terminal, a file or a pipe; the latter two have no columns. */
export interface OutputTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

let columns = LINE_WIDTH;

/**
 * Fits tables and sentences to where standard output goes. A file or a pipe gets every line whole: a program that reads it
 * needs all of it, and a person can wrap it but not guess what was cut. Until this is called, lines have `LINE_WIDTH`.
 */
export function fitLinesTo(target: OutputTarget): void {
  columns = target.isTTY === true ? columnsOf(target) : Number.POSITIVE_INFINITY;
}

/** A terminal that does not know its size reports 0; one that is narrower than this wraps lines by itself. */
const MIN_COLUMNS = 40;

export function columnsOf({ columns = 0 }: OutputTarget): number {
  return columns === 0 ? LINE_WIDTH : Math.max(columns, MIN_COLUMNS);
}

/** Columns that a table may have. */
export function tableWidth(): number {
  return columns;
}

/** Columns at which a sentence wraps. */
export function proseWidth(): number {
  return Number.isFinite(columns) ? Math.min(columns, LINE_WIDTH) : columns;
}

export interface Column {
  readonly header: string;
  readonly align?: 'left' | 'right';
  /** Something to type again, such as an id: cut only when nothing else can be. */
  readonly isWhole?: true;
}

export interface Cell {
  readonly text: string;
  readonly style?: Style;
}

/** Columns and widths of a table that is printed piece by piece. */
export class TableLayout {
  readonly widths: number[] = [];

  /** At least as wide as in the pieces before. */
  widened(natural: readonly number[]): readonly number[] {
    const widths = natural.map((width, i) => Math.max(width, this.widths[i] ?? 0));
    this.widths.splice(0, this.widths.length, ...widths);
    return widths;
  }
}

/** The lines of a table, headers first if any column has one. Columns without any content are left out. */
export function tableLines(
  allColumns: readonly Column[],
  allRows: readonly (readonly Cell[])[],
  {
    paint = noPaint,
    indent = 0,
    width = tableWidth(),
    layout,
  }: {
    readonly paint?: Paint;
    readonly indent?: number;
    readonly width?: number;
    /** Of a piece of a table, which has all columns. */
    readonly layout?: TableLayout;
  } = {},
): readonly string[] {
  const isPiece = layout !== undefined;
  const used = allColumns.map((_, i) => isPiece || allRows.some((row) => (row[i]?.text ?? '') !== ''));
  const columns = allColumns.filter((_, i) => used[i]);
  const rows = allRows.map((row) => row.filter((_, i) => used[i]));
  const hasHeader = columns.some(({ header }) => header !== '');
  const header = columns.map(({ header }): Cell => ({ text: header, style: 'dim' }));
  const shown = (hasHeader ? [header, ...rows] : rows).map((row) =>
    row.map((cell) => ({ ...cell, text: printable(cell.text) })),
  );
  const natural = columns.map((_, i) =>
    shown.reduce((width, row) => Math.max(width, row[i]?.text.length ?? 0), 0),
  );
  const widths = fittedWidths(
    layout?.widened(natural) ?? natural,
    columns.map(({ isWhole }) => isWhole === true),
    width - indent,
  );
  return shown.map((row) => {
    const cells = columns.map(({ align }, i) => {
      const { text = '', style } = row[i] ?? {};
      const cut = shorten(text, widths[i]!);
      const last = i === columns.length - 1;
      const padded = align === 'right' ? cut.padStart(widths[i]!) : last ? cut : cut.padEnd(widths[i]!);
      return style === undefined || text === '' ? padded : paint(style, padded);
    });
    return (' '.repeat(indent) + cells.join(GAP)).trimEnd();
  });
}

/** A text of at most `width` characters. */
export function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** Lines of whole words; a word that is longer than a line is broken. Gaps within a line stay as wide as they are. */
export function wrapped(text: string, width: number): readonly string[] {
  if (!Number.isFinite(width)) return text === '' ? [] : [printable(text).trimEnd()];
  const words = printable(text)
    .split(' ')
    .flatMap((word) => word.match(new RegExp(`.{1,${Math.max(1, width)}}`, 'gu')) ?? ['']);
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else if (word !== '') lines.push(word);
  }
  return lines.map((line) => line.trimEnd());
}

/** A text in lines that all begin `indent` columns to the right. */
export function indented(text: string, indent: number, width = proseWidth()): readonly string[] {
  return wrapped(text, width - indent).map((line) => ' '.repeat(indent) + line);
}

const GAP = '  ';

/** A text that is cut to less than this is of no use. */
const NARROW = 8;

/** Narrows the widest column until the line fits; columns that should stay whole only if the others are narrow. */
function fittedWidths(
  natural: readonly number[],
  whole: readonly boolean[],
  lineWidth: number,
): readonly number[] {
  const widths = [...natural];
  const room = lineWidth - GAP.length * (widths.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const cuttable = widths.map((width, i) => (whole[i] ? 0 : width));
    const from = Math.max(...cuttable) > NARROW ? cuttable : widths;
    const widest = from.indexOf(Math.max(...from));
    if (widths[widest]! <= 1) break;
    widths[widest]!--;
    excess--;
  }
  return widths;
}
