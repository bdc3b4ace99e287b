// Schemas of `/v1/events` and `/v1/series` (api/routes.ts, api/read-routes.ts): shard events, and figures over time for
// charts. Types are exported by ../views.ts; the OpenAPI document is made from the schemas.

import * as z from 'zod';
import { ActionView } from './actions.ts';
import { count, errorClass, machinesByState, NeedRef, timeMs, VIEWS, type View, view } from './schema.ts';
import { StatusView } from './status.ts';

export const LossView = view(
  'LossView',
  'A machine that had, or was getting, a host and lost it without a failed action of the shard.',
  {
    atMs: timeMs,
    loss: z
      .enum(['failed', 'interrupted', 'vanished', 'unbound'])
      .describe(
        '`failed`: the provider reports it as Failed. `interrupted`: it is Failed because the cloud reclaimed the spot host. `vanished`: the provider no longer has the machine or its host. `unbound`: neither the shard nor a failure removed it from its cluster.',
      ),
    machine: z.string(),
    provider: z.string(),
    zone: z.string(),
    capacityType: z.string(),
    was: z.string().describe('Its state before.'),
    cluster: z.string().describe('The cluster that it served or was joining; empty for none.'),
    need: NeedRef.nullable().describe('The row that it was bound for, or on its way to.'),
    errorClass,
    error: z.string().describe('In the words of the provider; empty if it gave none.'),
  },
);
export type LossView = View<typeof LossView>;
export type LossKind = LossView['loss'];

export const LossesView = view('LossesView', 'Losses in one zone within a minute, combined in one event.', {
  atMs: timeMs,
  sinceMs: timeMs.describe('Time of the first of them.'),
  provider: z.string(),
  zone: z.string(),
  isDark: z.boolean().describe('At least half of the machines that the provider had in the zone are lost.'),
  count,
  of: count.describe('Machines with a host that the provider had in the zone before the first loss.'),
  clusters: z
    .array(z.object({ cluster: z.string(), count }))
    .describe('The clusters with the most losses, at most ten.'),
  errorClass: errorClass.describe('The class that most of the errors have.'),
  error: z.string(),
});
export type LossesView = View<typeof LossesView>;

/** Absent in `cycle` events, which the stream does not keep for replay. */
const kept = {
  id: z.string().exactOptional().describe('To be sent as `Last-Event-ID`; absent in cycles.'),
  atMs: timeMs.exactOptional(),
};

export const ShardEvent = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('cycle'), ...kept, status: StatusView }),
    z.object({ kind: z.enum(['action-started', 'action-ended']), ...kept, action: ActionView }),
    z.object({ kind: z.literal('loss'), ...kept, loss: LossView }),
    z.object({ kind: z.literal('losses'), ...kept, losses: LossesView }),
    z.object({
      kind: z.literal('log'),
      ...kept,
      level: z.enum(['info', 'warn', 'error']),
      event: z.string(),
      fields: z.record(z.string(), z.unknown()),
    }),
  ])
  .describe('An event of the shard.');
export type ShardEvent = View<typeof ShardEvent>;
VIEWS.add(ShardEvent, { id: 'ShardEvent' });

export const SeriesPoint = view('SeriesPoint', 'Figures of a shard at one time.', {
  atMs: timeMs,
  costPerHour: z.number(),
  costByPart: z.record(z.string(), z.number()).describe('The parts of `costPerHour`.'),
  machinesByState,
  needs: count,
  unmet: count.describe('The highest value since the point before, so that a short outage shows.'),
  begun: count.describe('Actions started since the point before.'),
  failed: count.describe('Actions failed since the point before.'),
  cycleMs: z
    .number()
    .exactOptional()
    .describe('The longest cycle since the point before; absent in journals of 0.1.0.'),
  usedShare: z
    .record(z.string(), z.number())
    .exactOptional()
    .describe(
      'By kind of hardware: the share, 0 to 1, of Configured machines that Needs count on, of the resource that is used most. Absent in journals of 0.1.0.',
    ),
});
export type SeriesPoint = View<typeof SeriesPoint>;

export const SeriesView = view(
  'SeriesView',
  'The last hour: a point every ten seconds, and every second of the last two minutes.',
  {
    nowMs: timeMs,
    fromMs: timeMs
      .nullable()
      .describe('Time of the first point that is kept, whatever was asked for; null without one.'),
    points: z.array(SeriesPoint).describe('Oldest first.'),
  },
);
export type SeriesView = View<typeof SeriesView>;
