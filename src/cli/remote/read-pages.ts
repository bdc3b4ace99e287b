// Reads a list of the shard's HTTP API page by page, up to the `--limit` of a `bigfleet get` command or to an item (listing.ts,
// plan.ts, actions.ts). A page is below a megabyte, so one request may not suffice.

import type { Page } from '../../shard/index.ts';

/** The highest limit of one page that the API accepts. */
const MAX_PAGE = 10_000;

/** Where a page begins, and how long it may be, as parameters of a request. */
export interface PageRequest {
  readonly limit: string;
  readonly after?: string;
}

/** The first `limit` items of a list; `next` is null if there are no more. `first`: a page that was read already. */
export async function readPages<T>(
  limit: number,
  fetchPage: (part: PageRequest) => Promise<Page<T>>,
  first?: Page<T>,
): Promise<Page<T>> {
  let page = first ?? (await fetchPage(pageRequest(limit)));
  const items = [...page.items];
  while (typeof page.next === 'string' && page.items.length > 0 && items.length < limit) {
    page = await fetchPage({ ...pageRequest(limit - items.length), after: page.next });
    // Not a spread: a page may have more items than a call may have arguments.
    for (const item of page.items) items.push(item);
  }
  return { items, total: page.total, next: page.next };
}

/** The first item of a list that passes a test; null if none does. Reads no page behind it. */
export async function findInPages<T>(
  isWanted: (item: T) => boolean,
  fetchPage: (part: PageRequest) => Promise<Page<T>>,
): Promise<T | null> {
  for (let part = pageRequest(MAX_PAGE); ; ) {
    const { items, next } = await fetchPage(part);
    const found = items.find(isWanted);
    if (found !== undefined) return found;
    if (typeof next !== 'string' || items.length === 0) return null;
    part = { ...pageRequest(MAX_PAGE), after: next };
  }
}

export function pageRequest(limit: number): PageRequest {
  return { limit: String(Math.min(limit, MAX_PAGE)) };
}
