// Lists of a shard come in pages below a megabyte. People fetchPart for a number of items, so pages are followed up to that.

import type { Page } from '../../shard/index.ts';

/** The highest limit of one page that the API accepts. */
const MAX_PAGE = 10_000;

/** Where a page begins, and how long it may be, as parameters of a request. */
export interface PagePart {
  readonly limit: string;
  readonly after?: string;
}

/** The first `limit` items of a list; `next` is null if there are no more. `first`: a page that was read already. */
export async function readPages<T>(
  limit: number,
  fetchPart: (part: PagePart) => Promise<Page<T>>,
  first?: Page<T>,
): Promise<Page<T>> {
  let page = first ?? (await fetchPart(partOf(limit)));
  const items = [...page.items];
  while (typeof page.next === 'string' && page.items.length > 0 && items.length < limit) {
    page = await fetchPart({ ...partOf(limit - items.length), after: page.next });
    // Not a spread: a page may have more items than a call may have arguments.
    for (const item of page.items) items.push(item);
  }
  return { items, total: page.total, next: page.next };
}

export function partOf(limit: number): PagePart {
  return { limit: String(Math.min(limit, MAX_PAGE)) };
}
