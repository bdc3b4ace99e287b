// Every route of the API: those that read, those about cost, those that order, what-if questions, past cycles, those of
// callers, and below those that watch. A new route is one entry in one of the lists. docs/reference/api.md has a section with an example for each. http-app.ts serves them.

import * as z from 'zod';
import { EXPOSITION_TYPE } from '../../runtime/exposition.ts';
import { COST_ROUTES } from './cost-routes.ts';
import { CYCLE_ROUTES } from './cycle-routes.ts';
import { ANY_PARAMETERS, eventFilters, since } from './inputs.ts';
import { LOGIN_ROUTES } from './login-routes.ts';
import { openApiText } from './openapi.ts';
import { ORDER_ROUTES } from './order-routes.ts';
import { READ_ROUTES } from './read-routes.ts';
import { type Route, route } from './route.ts';
import { WHAT_IF_ROUTES } from './what-if-routes.ts';

const PLAIN_TYPE = 'text/plain; charset=utf-8';

const WATCH_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/events',
    access: 'read',
    summary: 'Events as they happen, as server-sent events.',
    query: z.strictObject({
      since: since.describe(
        'First replays kept events since this time, in milliseconds since the epoch; the header Last-Event-ID takes precedence.',
      ),
      ...eventFilters,
    }),
    answer: {
      contentType: 'text/event-stream',
      description: 'The data of each event is a `ShardEvent`.',
    },
    handle: async ({ hooks, response, query, lastEventId: afterId }) => {
      const { since: sinceMs, kinds, pace: paceMs } = query;
      const from = afterId === undefined ? { sinceMs } : { afterId };
      await hooks.subscribe(response, from, { kinds: kinds && new Set(kinds), paceMs });
      return null;
    },
  }),
  route({
    method: 'GET',
    path: '/v1/openapi.json',
    access: 'read',
    summary: 'This API as an OpenAPI 3.1 document.',
    answer: { contentType: 'application/json', description: 'An OpenAPI 3.1 document.' },
    handle: async () => ({ text: apiDescription() }),
  }),
  route({
    method: 'GET',
    path: '/metrics',
    access: 'read',
    summary: 'Metrics, for Prometheus.',
    query: ANY_PARAMETERS,
    answer: { contentType: EXPOSITION_TYPE, description: 'Prometheus text format.' },
    handle: async ({ hooks }) => ({ text: await hooks.metrics() }),
  }),
  route({
    method: 'GET',
    path: '/healthz',
    access: 'open',
    summary: 'Whether the process answers at all.',
    query: ANY_PARAMETERS,
    answer: { contentType: PLAIN_TYPE, description: 'The process answers.' },
    handle: async () => ({ text: 'ok\n' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    access: 'open',
    summary: 'Whether the shard does its work.',
    query: ANY_PARAMETERS,
    answer: {
      contentType: PLAIN_TYPE,
      description: 'The shard does its work.',
      statuses: { 503: 'It does not; the text is the reason.' },
    },
    handle: async ({ hooks }) => {
      const why = await hooks.unready();
      return why === null ? { text: 'ok\n' } : { status: 503, text: `${why}\n` };
    },
  }),
];

export const ROUTES: readonly Route[] = [
  ...READ_ROUTES,
  ...COST_ROUTES,
  ...ORDER_ROUTES,
  ...LOGIN_ROUTES,
  ...WHAT_IF_ROUTES,
  ...CYCLE_ROUTES,
  ...WATCH_ROUTES,
];

let description: string | undefined;

/** Made when it is first asked for, since most shards are never asked. */
export function apiDescription(): string {
  description ??= openApiText(ROUTES);
  return description;
}
