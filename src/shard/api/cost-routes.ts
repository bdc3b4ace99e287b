// Routes about cost, and about machines by aspect. Part of the table in routes.ts.

import * as z from 'zod';
import { CostReport, CostSeries, MachineCounts, Remedies } from '../views/costs.ts';
import { groupsCsv, seriesCsv } from './cost-csv.ts';
import { positionIn, withCursor } from './cursor.ts';
import { aspects, costOrder, format, PAGE_BYTES, paging, since } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { type Route, route } from './route.ts';

const GET = { method: 'GET', access: 'read' } as const;

export const COST_ROUTES: readonly Route[] = [
  route({
    ...GET,
    path: '/v1/cost',
    summary: 'What the fleet costs now, by one aspect; also as CSV, with all groups by name.',
    query: z.strictObject({ by: aspects.cost, order: costOrder, format, ...paging }),
    answer: CostReport,
    csv: ({ port, query: { by, after } }) => {
      if (after !== undefined) throw new Refusal(400, 'The CSV has all groups; leave out "after".');
      return groupsCsv(port, by);
    },
    handle: async ({ port, query: { by, order, limit, after } }) => {
      const list = order === 'name' ? 'costs-by-name' : 'costs';
      const position = after === undefined ? undefined : positionIn([list], after).position;
      const page = { limit, after: position, maxBytes: PAGE_BYTES };
      const report = await port.ask('cost', { by, order: order === 'name' ? order : undefined, ...page });
      return { ...report, groups: withCursor(list, report.groups) };
    },
  }),
  route({
    ...GET,
    path: '/v1/cost/series',
    summary: 'Cost over the last day, by one aspect; also as CSV.',
    query: z.strictObject({
      by: aspects.cost,
      since: since.describe('Only points after this time, in milliseconds since the epoch.'),
      format,
    }),
    answer: CostSeries,
    csv: async function* ({ port, query: { by, since } }) {
      yield seriesCsv(await port.ask('costSeries', { by, sinceMs: since ?? 0 }));
    },
    handle: ({ port, query: { by, since } }) => port.ask('costSeries', { by, sinceMs: since ?? 0 }),
  }),
  route({
    ...GET,
    path: '/v1/cost/remedies',
    summary: 'What would meet the Needs that are not met, and what it would cost.',
    query: z.strictObject({ limit: paging.limit }),
    answer: Remedies,
    handle: ({ port, query: { limit } }) =>
      port.ask('remedies', { limit: Math.min(limit, MAX_REMEDIES), maxBytes: PAGE_BYTES }),
  }),
  route({
    ...GET,
    path: '/v1/machine-counts',
    summary: 'Machines by one aspect and by state.',
    query: z.strictObject({ by: aspects.counts }),
    answer: MachineCounts,
    handle: ({ port, query: { by } }) => port.ask('machineCounts', { by, maxBytes: PAGE_BYTES }),
  }),
];

const MAX_REMEDIES = 200;
