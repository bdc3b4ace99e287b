// Routes about cost, and about machines by aspect. Part of the table in routes.ts.

import * as z from 'zod';
import { COST_PARTS } from '../telemetry/cost.ts';
import { CostReport, CostSeries, MachineCounts, Remedies } from '../views/costs.ts';
import { csvOf } from './csv.ts';
import { positionIn, withCursor } from './cursor.ts';
import { aspects, format, paging, since } from './inputs.ts';
import { type Route, route } from './route.ts';

/** Bytes of JSON of the groups; the rest of the answer fits besides, below a megabyte. */
const PAGE_BYTES = 900_000;

const GET = { method: 'GET', access: 'read' } as const;

export const COST_ROUTES: readonly Route[] = [
  route({
    ...GET,
    path: '/v1/cost',
    summary: 'What the fleet costs now, by one aspect; also as CSV.',
    query: z.strictObject({ by: aspects.cost, format, ...paging }),
    answer: CostReport,
    csv: ({ groups }) =>
      csvOf(
        ['name', 'machines', 'perHour', ...COST_PARTS],
        groups.items.map(({ name, machines, cost }) => [
          name,
          machines,
          cost.perHour,
          ...COST_PARTS.map((part) => cost.byPart[part]),
        ]),
      ),
    handle: async ({ port, query: { by, limit, after } }) => {
      const position = after === undefined ? undefined : positionIn(['costs'], after).position;
      const report = await port.ask('cost', { by, limit, after: position, maxBytes: PAGE_BYTES });
      return { ...report, groups: withCursor('costs', report.groups) };
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
    csv: ({ names, points }) =>
      csvOf(
        ['time', 'perHour', ...names],
        points.map(({ atMs, perHour, byName }) => [
          new Date(atMs).toISOString(),
          perHour,
          ...names.map((name) => byName[name] ?? 0),
        ]),
      ),
    handle: ({ port, query: { by, since } }) => port.ask('costSeries', { by, sinceMs: since ?? 0 }),
  }),
  route({
    ...GET,
    path: '/v1/cost/remedies',
    summary: 'What would meet the Needs that are not met, and what it would cost.',
    query: z.strictObject({ limit: paging.limit }),
    answer: Remedies,
    handle: ({ port, query: { limit } }) => port.ask('remedies', { limit: Math.min(limit, MAX_REMEDIES) }),
  }),
  route({
    ...GET,
    path: '/v1/machine-counts',
    summary: 'Machines by one aspect and by state.',
    query: z.strictObject({ by: aspects.counts }),
    answer: MachineCounts,
    handle: ({ port, query: { by } }) => port.ask('machineCounts', { by }),
  }),
];

/** Bounds the answer: ids and names may be long. */
const MAX_REMEDIES = 200;
