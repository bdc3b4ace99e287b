// Every route of the API. Handlers use the ShardPort only. docs/reference/api.md has the same list with examples, and a test compares
// the two.

import type { ServerResponse } from 'node:http';
import { ACTION_KINDS, ACTION_WORDS, type ActionKind, excerpt, MachineState } from '../../model/index.ts';
import { freezeIdOf } from '../planning/freezes.ts';
import { offsetPage, type PageAsk } from '../planning/queries/pages.ts';
import { EXPOSITION_TYPE } from '../telemetry/exposition.ts';
import type { ListOrder, MachineFilter, Order, ShardPort } from '../views.ts';
import { type ListName, placeOf, withCursor } from './cursor.ts';
import type { Access } from './guard.ts';
import { Params } from './input.ts';
import { Refusal } from './refusal.ts';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** A part in capitals is a parameter: one percent-encoded segment. */
  readonly path: string;
  readonly access: Access;
  readonly answer: (call: Call) => Promise<Reply>;
}

interface Call {
  readonly port: ShardPort;
  /** Values of the path's parameters, in order. */
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  /** Of a POST; {} otherwise. */
  readonly body: object;
  /** The Last-Event-ID header, which browsers send when they reconnect to a stream of events. */
  readonly lastEventId?: string | undefined;
  readonly response: ServerResponse;
  readonly hooks: RouteHooks;
}

export interface EventsFrom {
  readonly sinceMs?: number | undefined;
  readonly afterId?: string | undefined;
}

export interface RouteHooks {
  /** The text of all metrics of the process. */
  readonly metrics: () => string | Promise<string>;
  /** Why the shard is not ready; null if it is. */
  readonly unready: () => string | null | Promise<string | null>;
  /** Replays past events since a time or after an event id, if one is given, and then sends new ones. */
  readonly subscribe: (reader: ServerResponse, from: EventsFrom) => Promise<void>;
}

/** `taken`: the route writes the response itself. */
export type Reply =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly status: 200 | 503; readonly type: string; readonly text: string }
  | { readonly kind: 'taken' };

const PLAIN_TYPE = 'text/plain; charset=utf-8';

const ORDERS: readonly ListOrder[] = ['name', 'trouble'];
const STATES = Object.keys(MachineState).map((name) => name.toUpperCase());

/** What every list can be asked. */
const PAGE = ['limit', 'after'];
/** The id of a freeze has the name of a cluster in it. */
const MAX_FREEZE_ID = 2_000;
/** Of JSON. The cursor and the rest of an answer have room besides, below a megabyte. */
const PAGE_BYTES = 900_000;

export const ROUTES: readonly Route[] = [
  read('/v1/status', ({ port }) => port.ask('status', {})),
  read('/v1/machines', machines, ['state', 'cluster', 'provider', 'forgotten', 'order', ...PAGE]),
  read('/v1/machines/ID', machine),
  read('/v1/needs', needs, ['cluster', 'unmet', ...PAGE]),
  read('/v1/needs/CLUSTER/HASH', story),
  read('/v1/clusters', clusters, ['order', ...PAGE]),
  read('/v1/providers', providers, PAGE),
  read('/v1/shortfalls', shortfalls, PAGE),
  read('/v1/actions', actions, ['machine', 'cluster', ...PAGE]),
  read('/v1/series', series, ['since']),
  read('/v1/plan', plan, ['machine', 'cluster', ...PAGE]),
  read('/v1/freezes', freezes, ['id', ...PAGE]),
  order('/v1/freezes', freeze, async () => true, ['cluster', 'action', 'who', 'why']),
  {
    method: 'DELETE',
    path: '/v1/freezes/ID',
    access: 'order',
    answer: async (call) => {
      const words = Params.ofQuery(call.query, ['who']);
      return await ordered(
        call,
        { kind: 'unfreeze', id: call.params[0]!, who: words.needed('who') },
        hasFreeze,
      );
    },
  },
  order('/v1/machines/ID/retry', machineOrder('retry'), hasMachine, ['who', 'why']),
  order('/v1/machines/ID/quarantine', quarantine, hasMachine, ['who', 'why']),
  order('/v1/machines/ID/forget', machineOrder('forget'), hasMachine, ['who', 'why']),
  order('/v1/providers/NAME/accept-list', acceptList, hasProvider, ['who', 'why']),
  order('/v1/clusters/ID/accept-rollup', rollupOrder('accept-rollup'), hasCluster, ['who', 'why']),
  order('/v1/clusters/ID/lift-set-aside', liftSetAside, hasCluster, ['who', 'why']),
  order('/v1/clusters/ID/refuse-rollup', rollupOrder('refuse-rollup'), hasCluster, ['who', 'why']),
  plain('/v1/events', 'read', async ({ hooks, response, query, lastEventId }) => {
    const sinceMs = Params.ofQuery(query, ['since']).time('since');
    await hooks.subscribe(response, lastEventId === undefined ? { sinceMs } : { afterId: lastEventId });
    return { kind: 'taken' };
  }),
  plain('/metrics', 'read', async ({ hooks }) => {
    return { kind: 'text', status: 200, type: EXPOSITION_TYPE, text: await hooks.metrics() };
  }),
  plain('/healthz', 'open', async () => ({ kind: 'text', status: 200, type: PLAIN_TYPE, text: 'ok\n' })),
  plain('/readyz', 'open', async ({ hooks }) => {
    const why = await hooks.unready();
    return { kind: 'text', status: why === null ? 200 : 503, type: PLAIN_TYPE, text: `${why ?? 'ok'}\n` };
  }),
];

type Answer = (call: Call, words: Params) => Promise<unknown>;

function read(path: string, answer: Answer, known: readonly string[] = []): Route {
  return plain(path, 'read', async (call) => {
    return { kind: 'json', value: await answer(call, Params.ofQuery(call.query, known)) };
  });
}

function plain(path: string, access: Access, answer: Route['answer']): Route {
  return { method: 'GET', path, access, answer };
}

type Exists = (port: ShardPort, name: string) => Promise<boolean>;

function order(
  path: string,
  orderOf: (name: string, words: Params) => Order,
  exists: Exists,
  known: readonly string[],
): Route {
  return {
    method: 'POST',
    path,
    access: 'order',
    answer: async (call) => {
      Params.ofQuery(call.query, []);
      return await ordered(call, orderOf(call.params[0] ?? '', Params.ofBody(call.body, known)), exists);
    },
  };
}

async function ordered({ port, params }: Call, order: Order, exists: Exists): Promise<Reply> {
  const { isDone, message } = await port.order(order);
  if (isDone) return { kind: 'json', value: { message } };
  throw new Refusal((await exists(port, params[0] ?? '')) ? 409 : 404, message);
}

/** The part of a list that is asked for. */
function pageAsk(words: Params, list: ListName): PageAsk {
  const cursor = words.cursor();
  const after = cursor === undefined ? undefined : placeOf(cursor, [list]).position;
  return { limit: words.limit(), after, maxBytes: PAGE_BYTES };
}

/** The names of a list in the order that is asked for, by name if none is. */
function orderOf<L extends 'machines' | 'clusters'>(words: Params, list: L) {
  const order = words.oneOf('order', ORDERS);
  return { order, list: order === 'trouble' ? (`${list}-by-trouble` as const) : list };
}

async function clusters({ port }: Call, words: Params) {
  const { order, list } = orderOf(words, 'clusters');
  return withCursor(list, await port.ask('clusters', { order, ...pageAsk(words, list) }));
}

async function shortfalls({ port }: Call, words: Params) {
  return withCursor('shortfalls', await port.ask('shortfalls', pageAsk(words, 'shortfalls')));
}

async function providers({ port }: Call, words: Params) {
  const ask = pageAsk(words, 'providers');
  return withCursor('providers', offsetPage(ask, (await port.ask('status', {})).providers));
}

async function machines({ port }: Call, words: Params) {
  const state = words.text('state')?.toUpperCase().replaceAll('-', '_');
  if (state !== undefined && !STATES.includes(state)) {
    throw new Refusal(400, `There is no state ${excerpt(state)}; there are ${STATES.join(', ')}.`);
  }
  const cluster = words.text('cluster');
  const provider = words.text('provider');
  const where: MachineFilter = {
    ...(state === undefined ? {} : { state }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(provider === undefined ? {} : { provider }),
    withForgotten: words.flag('forgotten'),
  };
  const asked = orderOf(words, 'machines');
  // Machines of one state are all in trouble, or none is.
  const { order, list } = state === undefined ? asked : { order: undefined, list: 'machines' as const };
  return withCursor(list, await port.ask('machines', { where, order, ...pageAsk(words, list) }));
}

async function machine({ port, params }: Call) {
  const { items } = await port.ask('machines', { where: { id: params[0]!, withForgotten: true }, limit: 1 });
  if (items[0] !== undefined) return items[0];
  throw new Refusal(404, `There is no machine ${excerpt(params[0]!)}.`);
}

async function needs({ port }: Call, words: Params) {
  const where = { cluster: words.text('cluster'), onlyUnmet: words.flag('unmet') };
  return withCursor('needs', await port.ask('needs', { ...where, ...pageAsk(words, 'needs') }));
}

async function story({ port, params }: Call) {
  const need = `${params[0]}/${params[1]}`;
  const story = await port.ask('explain', { need });
  if (story !== null) return story;
  throw new Refusal(404, `There is no Need ${excerpt(need)}. It may have been withdrawn.`);
}

async function actions({ port }: Call, words: Params) {
  const cursor = words.cursor();
  const place = cursor === undefined ? undefined : placeOf(cursor, ['actions', 'waiting']);
  const { actions, waiting } = await port.ask('actions', {
    ...{ machine: words.text('machine'), cluster: words.text('cluster') },
    ...{ limit: words.limit(), after: place?.position, only: place?.list, maxBytes: PAGE_BYTES },
  });
  return { actions: withCursor('actions', actions), waiting: withCursor('waiting', waiting) };
}

async function series({ port }: Call, words: Params) {
  return await port.ask('series', { sinceMs: words.time('since') ?? 0 });
}

async function plan({ port }: Call, words: Params) {
  const where = { machine: words.text('machine'), cluster: words.text('cluster') };
  const answer = await port.ask('plan', { ...where, ...pageAsk(words, 'waiting') });
  return { ...answer, actions: withCursor('waiting', answer.actions) };
}

async function freezes({ port }: Call, words: Params) {
  const id = words.text('id', MAX_FREEZE_ID);
  const ask = { id: id === undefined ? undefined : freezeIdOf(id), ...pageAsk(words, 'freezes') };
  return withCursor('freezes', await port.ask('freezes', ask));
}

function freeze(_name: string, words: Params): Order {
  const scope = { cluster: words.text('cluster') ?? null, action: actionIn(words) };
  return { kind: 'freeze', scope, who: words.needed('who'), why: words.needed('why') };
}

/** An action as the wire spells it or as people do: `Provision` and `buy` are one. */
function actionIn(words: Params): ActionKind | null {
  const text = words.text('action');
  if (text === undefined) return null;
  const kind = ACTION_KINDS.find((known) => text === known || text === ACTION_WORDS[known].verb);
  if (kind !== undefined) return kind;
  const verbs = ACTION_KINDS.map((known) => ACTION_WORDS[known].verb);
  throw new Refusal(400, `The field "action" must be one of ${verbs.join(', ')}.`);
}

function machineOrder(kind: 'retry' | 'forget') {
  return (machine: string, words: Params): Order => ({ kind, machine, ...signed(words) });
}

function quarantine(machine: string, words: Params): Order {
  return { kind: 'quarantine', machine, who: words.needed('who'), why: words.text('why') ?? '' };
}

function signed(words: Params) {
  return { who: words.needed('who'), why: words.text('why') };
}

function acceptList(provider: string, words: Params): Order {
  return { kind: 'accept-list', provider, ...signed(words) };
}

function liftSetAside(cluster: string, words: Params): Order {
  return { kind: 'lift-set-aside', cluster, ...signed(words) };
}

function rollupOrder(kind: 'accept-rollup' | 'refuse-rollup') {
  return (cluster: string, words: Params): Order => ({ kind, cluster, ...signed(words) });
}

async function hasMachine(port: ShardPort, id: string): Promise<boolean> {
  return (await port.ask('machines', { where: { id, withForgotten: true }, limit: 1 })).total > 0;
}

async function hasFreeze(port: ShardPort, id: string): Promise<boolean> {
  return (await port.ask('freezes', { id: freezeIdOf(id), limit: 1 })).total > 0;
}

async function hasProvider(port: ShardPort, name: string): Promise<boolean> {
  return (await port.ask('status', {})).providers.some((provider) => provider.name === name);
}

async function hasCluster(port: ShardPort, id: string): Promise<boolean> {
  return (await port.ask('clusters', { cluster: id, limit: 1 })).total > 0;
}
