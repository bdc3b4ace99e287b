// The cost of the fleet as CSV, for spreadsheets: the groups with all rows, in pieces, and the time series. Used by
// cost-routes.ts.

import { type Cell, csvOf } from '../../runtime/csv.ts';
import { thinnedTo } from '../planning/queries/pages.ts';
import { COST_PARTS } from '../telemetry/cost.ts';
import type { CostSeries } from '../views/costs.ts';
import type { CostGroupView, Questions, ShardPort } from '../views.ts';
import { MAX_LIMIT, PAGE_BYTES } from './inputs.ts';

/**
 * One piece for each page. By name, unlike the JSON: costs change while pages are read, and by name each group that stays
 * comes exactly once.
 */
export async function* groupsCsv(
  port: ShardPort,
  by: Questions['cost']['ask']['by'],
): AsyncGenerator<string> {
  const page = { limit: MAX_LIMIT, maxBytes: PAGE_BYTES };
  let titles: readonly Cell[][] = [['name', 'machines', 'perHour', ...COST_PARTS]];
  for (let after: string | null | undefined; after !== null; ) {
    const { groups }: { groups: Page } = await port.ask('cost', { by, order: 'name', ...page, after });
    yield csvOf([...titles, ...groups.items.map(rowOf)]);
    titles = [];
    after = groups.next;
  }
}

type Page = { readonly items: readonly CostGroupView[]; readonly next: string | null };

function rowOf({ name, machines, cost }: CostGroupView): readonly Cell[] {
  return [name, machines, cost.perHour, ...COST_PARTS.map((part) => cost.byPart[part])];
}

/** Longest text of a time and of eleven amounts in a row; the other amounts are 0. */
const ROW_BYTES = 400;

/** A column per name. With many names every n-th point is left, so that the text stays below a megabyte. */
export function seriesCsv({ names, points }: CostSeries): string {
  const titles = csvOf([['time', 'perHour', ...names]]);
  const room = PAGE_BYTES - Buffer.byteLength(titles);
  const shown = thinnedTo(points, room, ({ length }) => length * (ROW_BYTES + 2 * names.length));
  const rows = shown.map(({ atMs, perHour, byName }) => [
    new Date(atMs).toISOString(),
    perHour,
    ...names.map((name) => byName[name] ?? 0),
  ]);
  return titles + csvOf(rows);
}
