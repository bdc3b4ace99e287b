// Routes that read: status, lists and explanations. Part of the table in routes.ts.

import * as z from 'zod';
import { excerpt, type Requirement } from '../../model/index.ts';
import { packageVersion } from '../../runtime/package-version.ts';
import { freezeIdOf } from '../planning/freezes.ts';
import { offsetPage, type PageAsk } from '../planning/queries/pages.ts';
import { ActionLists, FreezePage, PlanView } from '../views/actions.ts';
import { ClusterPage, ClusterView } from '../views/clusters.ts';
import { SeriesView } from '../views/events.ts';
import { HistoryPage } from '../views/history.ts';
import { MachinePage, MachineView } from '../views/machines.ts';
import { NeedExplanation, NeedPage, ShortfallPage } from '../views/needs.ts';
import { ProviderPage } from '../views/providers.ts';
import { StatusView, VersionView } from '../views/status.ts';
import type { ListOrder, MachineFilter, MachineSort } from '../views.ts';
import { type ListName, positionIn, withCursor } from './cursor.ts';
import { pastCycles } from './cycle-routes.ts';
import { filters, historyKinds, labels, order, PAGE_BYTES, paging, pathPart, since, sort } from './inputs.ts';
import { labelSelector } from './label-selector.ts';
import { Refusal } from './refusal.ts';
import { type Route, route } from './route.ts';
import { answered } from './what-if-routes.ts';

const { cluster, cycle, epoch, machine, need, provider, state, forgotten, text, freezeId } = filters;
const { unmet, reason, minPriority } = filters;
const GET = { method: 'GET', access: 'read' } as const;

export const READ_ROUTES: readonly Route[] = [
  route({
    ...GET,
    path: '/v1/status',
    summary: 'Phase, last cycle, machines by state, cost, and providers.',
    answer: StatusView,
    handle: ({ port }) => port.ask('status', {}),
  }),
  route({
    ...GET,
    path: '/v1/version',
    summary: 'Versions of BigFleet and Node that serve this API.',
    answer: VersionView,
    handle: async ({ port }) => {
      const { shard } = await port.ask('status', {});
      return { shard, version: packageVersion(), node: process.versions.node };
    },
  }),
  route({
    ...GET,
    path: '/v1/machines',
    summary: 'Machines, by id.',
    query: z.strictObject({ text, state, cluster, provider, labels, forgotten, order, sort, ...paging }),
    answer: MachinePage,
    handle: async ({ port, query }) => {
      const where: MachineFilter = {
        ...(query.text === undefined ? {} : { text: query.text }),
        ...(query.state === undefined ? {} : { state: query.state }),
        ...(query.cluster === undefined ? {} : { cluster: query.cluster }),
        ...(query.provider === undefined ? {} : { provider: query.provider }),
        ...(query.labels === undefined ? {} : { labels: requirementsIn(query.labels) }),
        withForgotten: query.forgotten ?? false,
      };
      if (query.sort !== undefined) {
        if (query.order !== undefined)
          throw new Refusal(400, 'Send either "order" or "sort": a list has one order.');
        const page = pageAsk(query, 'machines-sorted');
        return withCursor(
          'machines-sorted',
          await port.ask('machines', { where, sort: sortOf(query.sort), ...page }),
        );
      }
      // Either all machines of one state are in trouble or none is, so the order by trouble is the order by id.
      const by = query.state === undefined ? query.order : undefined;
      const list = listIn('machines', by);
      return withCursor(list, await port.ask('machines', { where, order: by, ...pageAsk(query, list) }));
    },
  }),
  route({
    ...GET,
    path: '/v1/machines/{id}',
    summary: 'One machine, with all its labels and the Needs that use it.',
    params: z.object({ id: pathPart }),
    answer: MachineView,
    handle: async ({ port, params: { id } }) => {
      const { items } = await port.ask('machines', { where: { id, withForgotten: true }, limit: 1 });
      if (items[0] !== undefined) return items[0];
      throw new Refusal(404, `There is no machine ${excerpt(id)}.`);
    },
  }),
  route({
    ...GET,
    path: '/v1/needs',
    summary: 'Rows of demand with their verdict, by rank.',
    query: z.strictObject({ cluster, unmet, reason, minPriority, ...paging }),
    answer: NeedPage,
    handle: async ({ port, query }) => {
      const where = {
        cluster: query.cluster,
        onlyUnmet: query.unmet ?? false,
        reason: query.reason,
        minPriority: query.minPriority,
      };
      return withCursor('needs', await port.ask('needs', { ...where, ...pageAsk(query, 'needs') }));
    },
  }),
  route({
    ...GET,
    path: '/v1/needs/{cluster}/{hash}',
    summary: 'One Need with everything that explains its verdict.',
    params: z.object({ cluster: pathPart, hash: pathPart }),
    answer: NeedExplanation,
    handle: async ({ port, params }) => {
      const need = `${params.cluster}/${params.hash}`;
      const explanation = await answered(() => port.ask('explain', { need }));
      if (explanation !== null) return explanation;
      throw new Refusal(404, `There is no Need ${excerpt(need)}. It may have been withdrawn.`);
    },
  }),
  route({
    ...GET,
    path: '/v1/clusters',
    summary: 'Clusters, by name, with their sessions, demand, machines and roll-ups.',
    query: z.strictObject({ cluster, order, ...paging }),
    answer: ClusterPage,
    handle: async ({ port, query }) => {
      const list = listIn('clusters', query.order);
      const where = { cluster: query.cluster, order: query.order };
      return withCursor(list, await port.ask('clusters', { ...where, ...pageAsk(query, list) }));
    },
  }),
  route({
    ...GET,
    path: '/v1/clusters/{id}',
    summary: 'One cluster.',
    params: z.object({ id: pathPart }),
    answer: ClusterView,
    handle: async ({ port, params: { id } }) => {
      const { items } = await port.ask('clusters', { cluster: id, limit: 1 });
      if (items[0] !== undefined) return items[0];
      throw new Refusal(404, `There is no cluster ${excerpt(id)}.`);
    },
  }),
  route({
    ...GET,
    path: '/v1/providers',
    summary: 'Providers, those in trouble first.',
    query: z.strictObject(paging),
    answer: ProviderPage,
    handle: async ({ port, query }) => {
      const ask = pageAsk(query, 'providers');
      return withCursor('providers', offsetPage(ask, (await port.ask('status', {})).providers));
    },
  }),
  route({
    ...GET,
    path: '/v1/shortfalls',
    summary: 'Needs that stay unmet whatever is draining, oldest and most important first.',
    query: z.strictObject(paging),
    answer: ShortfallPage,
    handle: async ({ port, query }) =>
      withCursor('shortfalls', await port.ask('shortfalls', pageAsk(query, 'shortfalls'))),
  }),
  route({
    ...GET,
    path: '/v1/actions',
    summary: 'Pending and ended actions, and those decided and not started.',
    query: z.strictObject({ machine, cluster, ...paging }),
    answer: ActionLists,
    handle: async ({ port, query }) => {
      const at = query.after === undefined ? undefined : positionIn(['actions', 'waiting'], query.after);
      const { actions, waiting } = await port.ask('actions', {
        ...{ machine: query.machine, cluster: query.cluster },
        ...{ limit: query.limit, after: at?.position, only: at?.list, maxBytes: PAGE_BYTES },
      });
      return { actions: withCursor('actions', actions), waiting: withCursor('waiting', waiting) };
    },
  }),
  route({
    ...GET,
    path: '/v1/series',
    summary: 'Figures of the last hour, for charts.',
    query: z.strictObject({
      since: since.describe('Only points after this time, in milliseconds since the epoch.'),
    }),
    answer: SeriesView,
    handle: ({ port, query }) => port.ask('series', { sinceMs: query.since ?? 0 }),
  }),
  route({
    ...GET,
    path: '/v1/history',
    summary: 'Past events with their reasons, newest first.',
    query: z.strictObject({
      ...{ machine, need, cluster, cycle, epoch },
      kind: historyKinds.describe('Only events of these kinds, separated by commas.'),
      since: since.describe('Only events from this time on, in milliseconds since the epoch.'),
      until: since.describe('Only events up to this time, in milliseconds since the epoch.'),
      ...paging,
    }),
    answer: HistoryPage,
    handle: async ({ port, hooks, query }) => {
      if (query.epoch !== undefined && query.cycle === undefined)
        throw new Refusal(400, 'The parameter "epoch" needs "cycle".');
      if (query.cycle !== undefined) pastCycles(hooks);
      const where = { machine: query.machine, need: query.need, cluster: query.cluster, kinds: query.kind };
      const span = { cycle: query.cycle, epoch: query.epoch, sinceMs: query.since, untilMs: query.until };
      const page = await port.ask('history', { ...where, ...span, ...pageAsk(query, 'history') });
      return withCursor('history', page);
    },
  }),
  route({
    ...GET,
    path: '/v1/plan',
    summary: 'What the last cycle decided and did not start.',
    query: z.strictObject({ machine, cluster, ...paging }),
    answer: PlanView,
    handle: async ({ port, query }) => {
      const where = { machine: query.machine, cluster: query.cluster };
      const plan = await port.ask('plan', { ...where, ...pageAsk(query, 'waiting') });
      return { ...plan, actions: withCursor('waiting', plan.actions) };
    },
  }),
  route({
    ...GET,
    path: '/v1/freezes',
    summary: 'Freezes in force, oldest first.',
    query: z.strictObject({ id: freezeId, ...paging }),
    answer: FreezePage,
    handle: async ({ port, query }) => {
      const id = query.id === undefined ? undefined : freezeIdOf(query.id);
      return withCursor('freezes', await port.ask('freezes', { id, ...pageAsk(query, 'freezes') }));
    },
  }),
];

/** A selector that its schema has accepted. */
function requirementsIn(selector: string): readonly Requirement[] {
  const terms = labelSelector(selector);
  return typeof terms === 'string' ? [] : terms;
}

function sortOf(text: string): MachineSort {
  const isDescending = text.startsWith('-');
  return { by: (isDescending ? text.slice(1) : text) as MachineSort['by'], isDescending };
}

/** The part of a list that the caller asked for. */
function pageAsk(query: { limit: number; after?: string | undefined }, list: ListName): PageAsk {
  const after = query.after === undefined ? undefined : positionIn([list], query.after).position;
  return { limit: query.limit, after, maxBytes: PAGE_BYTES };
}

/** The list in the requested order; cursors of the two orders differ. */
function listIn<L extends 'machines' | 'clusters'>(list: L, by: ListOrder | undefined) {
  return by === 'trouble' ? (`${list}-by-trouble` as const) : list;
}
