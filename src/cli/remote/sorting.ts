// `--sort-by` of `bigfleet get` for fields that the server does not sort by: a path into the items of `-o json`.

import { BigFleetError, compareText, printable } from '../../model/index.ts';

/** Items by a field such as `cost.perHour`; `-` before it: descending. Items without a value come last. */
export function sortedItems<I>(items: readonly I[], sortBy: string): readonly I[] {
  const sign = sortBy.startsWith('-') ? -1 : 1;
  const path = sortBy
    .replace(/^-?\.?/, '')
    .split('.')
    .map((part) => part.trim());
  const known = new Set(items.flatMap((item) => Object.keys(item as object)));
  if (items.length > 0 && !known.has(path[0]!))
    throw new BigFleetError(
      'BF_USAGE',
      `There is no field "${printable(path[0]!)}" to sort by. There are ${[...known].join(', ')}.`,
    );
  return items
    .map((item) => ({ item, value: valueAt(item, path) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      return sign * compareValues(a.value, b.value);
    })
    .map(({ item }) => item);
}

type Value = string | number | boolean;

function valueAt(item: unknown, path: readonly string[]): Value | null {
  let value = item;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return null;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' || typeof b === 'string') return compareText(String(a), String(b));
  return Number(a) - Number(b);
}
