// Ranges in case files: `m-{01..03}` expands to m-01, m-02, m-03. An item of a list that contains ranges is repeated
// for each value; equal ranges in one item advance together, different ranges multiply. Used by case-file.ts and
// next-cycle.ts.

const RANGE = /\{(\d+)\.\.(\d+)\}/;
const RANGES = new RegExp(RANGE, 'g');

/** Fields of machines and Needs that are numbers, so that a range in them becomes one. */
const NUMERIC = new Set(['priority', 'pricePerHour']);

type Json = Readonly<Record<string, unknown>>;

/** A list with every item that contains ranges repeated. */
export function expandItems<T>(items: readonly T[]): readonly T[] {
  return items.flatMap((item) =>
    expandText(JSON.stringify(item)).map((text) => JSON.parse(text, numeric) as T),
  );
}

/** An object whose keys may contain ranges: every key of a range gets the value. */
export function expandKeys(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => expandText(key).map((name) => [name, value] as const)),
  );
}

/** Every list of strings inside a value with its ranges written out. */
export function expandStringLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.flatMap((item): readonly unknown[] =>
      typeof item === 'string' ? expandText(item) : [expandStringLists(item)],
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, expandStringLists(field)]));
}

function expandText(text: string): readonly string[] {
  const distinct = [...new Set(text.match(RANGES))];
  return distinct.reduce<readonly string[]>(
    (partial, range) =>
      partial.flatMap((one) => valuesOf(range).map((value) => one.replaceAll(range, value))),
    [text],
  );
}

function valuesOf(range: string): readonly string[] {
  const [, first = '', last = ''] = RANGE.exec(range) ?? [];
  const count = Number(last) - Number(first) + 1;
  return Array.from({ length: count }, (_, i) => String(Number(first) + i).padStart(first.length, '0'));
}

function numeric(key: string, value: unknown): unknown {
  return NUMERIC.has(key) && typeof value === 'string' ? Number(value) : value;
}
