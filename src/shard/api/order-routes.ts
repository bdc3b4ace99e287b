// Routes that order: each turns its request into an `Order`, and the shard's refusal into 409 or 404. Part of the
// table in routes.ts.

import * as z from 'zod';
import { actionKindOf } from '../../model/index.ts';
import { freezeIdOf } from '../planning/freezes.ts';
import { view } from '../views/schema.ts';
import type { Order, ShardPort } from '../views.ts';
import { actionName, clusterField, forSeconds, pathPart, who, why } from './inputs.ts';
import { Refusal } from './refusal.ts';
import { type Route, route } from './route.ts';

const OrderAnswer = view('OrderAnswer', 'The order was carried out.', {
  message: z.string().describe('For people.'),
});

const signed = z.strictObject({ who, why: why.nullish() });
type Signed = z.output<typeof signed>;

export const ORDER_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/freezes',
    access: 'order',
    summary:
      'Freezes the fleet, a cluster or a kind of action, across restarts, for a time or until it is lifted.',
    body: z.strictObject({ cluster: clusterField, action: actionName, who, why, forSeconds }),
    answer: OrderAnswer,
    handle: ({ port, body: { cluster, action, who, why, forSeconds } }) => {
      const kind = action == null ? null : actionKindOf(action)!;
      const scope = { cluster: cluster ?? null, action: kind };
      const end = forSeconds == null ? {} : { forSeconds };
      return ordered(port, { kind: 'freeze', scope, who, why, ...end }, async () => true);
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/freezes/{id}',
    access: 'order',
    summary: 'Lifts a freeze.',
    params: z.object({ id: pathPart }),
    query: z.strictObject({ who }),
    answer: OrderAnswer,
    handle: ({ port, params: { id }, query }) =>
      ordered(port, { kind: 'unfreeze', id, who: query.who }, () => hasFreeze(port, id)),
  }),
  machineOrder('retry', 'Ends back-off and quarantine of a machine.', (machine, by) => ({
    kind: 'retry',
    machine,
    ...by,
  })),
  machineOrder('quarantine', 'Keeps a machine out of decisions until `retry`.', (machine, by) => ({
    kind: 'quarantine',
    machine,
    ...{ who: by.who, why: by.why ?? '' },
  })),
  machineOrder('forget', 'Hides a machine that is Failed at its provider.', (machine, by) => ({
    kind: 'forget',
    machine,
    ...by,
  })),
  route({
    method: 'POST',
    path: '/v1/machines/{id}/drain',
    access: 'order',
    summary: 'Replaces a Configured machine by others, then drains it, under all guardrails.',
    params: z.object({ id: pathPart }),
    body: z.strictObject({ who, why }),
    answer: OrderAnswer,
    handle: ({ port, params: { id: machine }, body: { who, why } }) =>
      ordered(port, { kind: 'drain', machine, who, why }, () => hasMachine(port, machine)),
  }),
  machineOrder('undrain', 'Takes back an order to drain a machine.', (machine, by) => ({
    kind: 'undrain',
    machine,
    ...by,
  })),
  route({
    method: 'POST',
    path: '/v1/providers/{name}/accept-list',
    access: 'order',
    summary: 'Accepts a List that lost many machines.',
    params: z.object({ name: pathPart }),
    body: signed,
    answer: OrderAnswer,
    handle: ({ port, params: { name: provider }, body }) =>
      ordered(port, { kind: 'accept-list', provider, ...signatureOf(body) }, () =>
        hasProvider(port, provider),
      ),
  }),
  clusterOrder('accept-rollup', 'Accepts a roll-up that lost most of its demand.'),
  clusterOrder('lift-set-aside', 'Lets machines be reclaimed although rows are set aside.'),
  route({
    method: 'POST',
    path: '/v1/clusters/{id}/retire',
    access: 'order',
    summary: 'Drains and gives back all machines of a cluster that is gone for good, across restarts.',
    params: z.object({ id: pathPart }),
    body: z.strictObject({ who, why }),
    answer: OrderAnswer,
    handle: ({ port, params: { id: cluster }, body: { who, why } }) =>
      ordered(port, { kind: 'retire', cluster, who, why }, () => hasCluster(port, cluster)),
  }),
  clusterOrder('unretire', 'Counts the demand of a retired cluster again.'),
  clusterOrder(
    'refuse-rollup',
    'Refuses a roll-up that lost most of its demand, however often it is repeated.',
  ),
];

interface Signature {
  readonly who: string;
  readonly why: string | undefined;
}

function signatureOf({ who, why }: Signed): Signature {
  return { who, why: why ?? undefined };
}

function machineOrder(
  verb: 'retry' | 'quarantine' | 'forget' | 'undrain',
  summary: string,
  orderOf: (machine: string, by: Signature) => Order,
): Route {
  return route({
    method: 'POST',
    path: `/v1/machines/{id}/${verb}`,
    access: 'order',
    summary,
    params: z.object({ id: pathPart }),
    body: signed,
    answer: OrderAnswer,
    handle: ({ port, params: { id }, body }) =>
      ordered(port, orderOf(id, signatureOf(body)), () => hasMachine(port, id)),
  });
}

function clusterOrder(
  kind: 'accept-rollup' | 'refuse-rollup' | 'lift-set-aside' | 'unretire',
  summary: string,
): Route {
  return route({
    method: 'POST',
    path: `/v1/clusters/{id}/${kind}`,
    access: 'order',
    summary,
    params: z.object({ id: pathPart }),
    body: signed,
    answer: OrderAnswer,
    handle: ({ port, params: { id: cluster }, body }) =>
      ordered(port, { kind, cluster, ...signatureOf(body) }, () => hasCluster(port, cluster)),
  });
}

/** Refuses with 409, or with 404 if the thing that the order names does not exist. */
async function ordered(port: ShardPort, order: Order, exists: () => Promise<boolean>) {
  const { isDone, message } = await port.order(order);
  if (isDone) return { message };
  throw new Refusal((await exists()) ? 409 : 404, message);
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
