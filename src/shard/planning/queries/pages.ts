// Pages of lists: how much of a list one answer brings, and where the next one goes on. The maker of the items also
// cuts the page, so that no more of them are made than are sent. Used by the queries of this folder, by
// process/shard-facade.ts and by api/read-routes.ts.

/** `total` counts the whole list. `next` is null on the last page; otherwise it is given back as `after`. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly next: string | null;
}

export const EMPTY_PAGE = { items: [], total: 0, next: null } as const;

/** Which part of a list is wanted. */
export interface PageAsk {
  /** Items at most. */
  readonly limit: number;
  /** The `next` of the page before. Left out: from the beginning. */
  readonly after?: string | undefined;
  /** Bytes of JSON at most, but for a page of one item. Left out: the limit alone counts. */
  readonly maxBytes?: number | undefined;
}

/** How a page is made from entries of a list. */
export interface PageParts<E, T> {
  /** Entries after `ask.after`, in order; one more than `ask.limit` is enough. */
  readonly entries: Iterable<E>;
  readonly total: number;
  readonly viewOf: (entry: E) => T;
  /** Where a page goes on that ended with this entry, the `count`-th of `entries`. */
  readonly positionOf: (entry: E, count: number) => string;
}

export function pageOf<E, T>(ask: PageAsk, parts: PageParts<E, T>): Page<T> {
  const { limit, maxBytes } = ask;
  const { entries, total, viewOf, positionOf } = parts;
  const items: T[] = [];
  let bytes = 0;
  let count = 0;
  let position: string | null = null;
  for (const entry of entries) {
    if (items.length >= limit) return { items, total, next: position };
    const view = viewOf(entry);
    if (maxBytes !== undefined) {
      bytes += jsonBytes(view);
      if (items.length > 0 && bytes > maxBytes) return { items, total, next: position };
    }
    items.push(view);
    position = positionOf(entry, ++count);
  }
  return { items, total, next: null };
}

/** A page of a list that exists as a whole, by the number of items before it. */
export function offsetPage<T>(ask: PageAsk, list: readonly T[], total = list.length): Page<T> {
  const offset = offsetOf(ask);
  return pageOf(ask, {
    entries: list.slice(offset, offset + ask.limit + 1),
    total,
    viewOf: (item) => item,
    positionOf: (_, count) => String(offset + count),
  });
}

/** Items before a page, where positions are numbers. */
export function offsetOf({ after }: PageAsk): number {
  return after === undefined ? 0 : Number(after);
}

/** A page whose items have grown since it was made, cut again. */
export function recut<T>(
  page: Page<T>,
  maxBytes: number | undefined,
  positionOf: (item: T, count: number) => string,
) {
  const limit = page.items.length;
  const cut = pageOf({ limit, maxBytes }, { ...partsOf(page), positionOf });
  return cut.next === null ? { ...cut, next: page.next } : cut;
}

function partsOf<T>({ items, total }: Page<T>) {
  return { entries: items, total, viewOf: (item: T) => item };
}

/** The first of some values, bounded by their number and by their bytes as JSON. */
export function firstWithin<T>(values: readonly T[], limit: number, maxBytes: number): readonly T[] {
  return offsetPage({ limit, maxBytes }, values).items;
}

/** Every n-th of some values, counted from the last, such that `bytesOf` them is at most `maxBytes`; at least the last. */
export function thinnedTo<T>(
  values: readonly T[],
  maxBytes: number,
  bytesOf: (values: readonly T[]) => number,
): readonly T[] {
  let shown = values;
  for (let step = 1; shown.length > 1; ) {
    const bytes = bytesOf(shown);
    if (bytes <= maxBytes) break;
    step = Math.max(step + 1, Math.ceil((step * bytes) / Math.max(1, maxBytes)));
    const every = step;
    shown = values.filter((_, i) => (values.length - 1 - i) % every === 0);
  }
  return shown;
}

/** What a value takes in an answer, with the comma behind it. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
