// The output formats of `bigfleet get`. JSON and YAML are the answers of the API, whose OpenAPI document is their schema
// (docs/reference/openapi.json).

import { BigFleetError, printable } from '../../model/index.ts';
import { csvLines, type ItemTable, type OutputOptions } from './tables.ts';

/** The first four suit every answer, the others lists only. */
export const FORMATS = ['table', 'wide', 'json', 'yaml', 'name', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

interface Shown<I> {
  readonly items: readonly I[];
  readonly lines: () => readonly string[];
  readonly table?: ItemTable<I>;
  readonly options?: OutputOptions;
}

/** The text of an answer, with a line feed at its end. */
export async function formatted<I>(format: Format, answer: unknown, shown: Shown<I>): Promise<string> {
  const { items, lines, table, options } = shown;
  switch (format) {
    case 'json':
      return `${JSON.stringify(answer, null, 2)}\n`;
    case 'yaml':
      return await yamlOf(answer);
    case 'table':
    case 'wide':
      return linesText(lines());
    case 'csv':
    case 'name':
      break;
  }
  if (table === undefined || options === undefined)
    throw new BigFleetError('BF_USAGE', `-o ${format} is for lists: use table, wide, json or yaml here.`);
  return linesText(
    format === 'csv' ? csvLines(items, table, options) : items.map((item) => nameLine(table, item)),
  );
}

export function nameLine<I>({ kind, nameOf }: ItemTable<I>, item: I): string {
  return `${kind}/${printable(nameOf(item))}`;
}

/** Loaded on demand: no other format needs the YAML library. */
export async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
