// Schemas of `/v1/history` (api/read-routes.ts): past events of a shard with what they are about. The times, decisions
// and reasons are those of the journal; clients make the sentences.

import * as z from 'zod';
import { UNMET_REASONS } from '../../model/index.ts';
import { ActionView, WaitingActionView } from './actions.ts';
import { LossesView, LossView } from './events.ts';
import { count, NeedRef, Quantities, timeMs, type View, view } from './schema.ts';

/** What an event is about; `loss` is one lost machine or many. */
export const HISTORY_KINDS = ['action', 'loss', 'waiting', 'need', 'log'] as const;

const { kind, machine, cluster, reason, why, need, provider, capacityType, zone, pricePerHour } =
  WaitingActionView.shape;

const HeldBackActionView = view(
  'HeldBackActionView',
  'An action that was decided and held back. Journals of 0.1.0 have the first five fields only.',
  {
    ...{ kind, machine, cluster, reason, why },
    need: need.exactOptional(),
    provider: provider.exactOptional(),
    capacityType: capacityType.exactOptional(),
    zone: zone.exactOptional(),
    pricePerHour: pricePerHour.exactOptional(),
    from: WaitingActionView.shape.from,
    leaving: WaitingActionView.shape.leaving,
    freeze: WaitingActionView.shape.freeze.exactOptional(),
  },
);

export const HistoryEvent = view('HistoryEvent', 'A past event of the shard.', {
  id: z.string(),
  atMs: timeMs,
  cycle: count.nullable().describe('Number of the cycle before it; null if that is not known.'),
  epoch: z
    .number()
    .nullable()
    .exactOptional()
    .describe('Epoch of the start of the shard that had this cycle; absent for events in memory.'),
  kind: z.enum(HISTORY_KINDS),
  machine: z.string().nullable(),
  need: z.string().nullable().describe('Id of the Need.'),
  cluster: z.string().nullable().describe('Empty: all clusters.'),
  event: z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['action-started', 'action-ended']), action: ActionView }),
    z.object({ kind: z.literal('loss'), loss: LossView }),
    z.object({ kind: z.literal('losses'), losses: LossesView }),
    z.object({ kind: z.literal('waiting'), action: HeldBackActionView }),
    z.object({
      kind: z.literal('need'),
      need: NeedRef,
      reason: z
        .enum(UNMET_REASONS)
        .nullable()
        .describe('Why it is not met from then on; null if it is met, or no longer reported.'),
      missing: Quantities,
    }),
    z.object({
      kind: z.literal('log'),
      level: z.enum(['info', 'warn', 'error']),
      event: z.string(),
      fields: z.record(z.string(), z.unknown()),
    }),
  ]),
});
export type HistoryEvent = View<typeof HistoryEvent>;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

export const HistoryPage = view('HistoryPage', 'A page of past events, newest first.', {
  items: z.array(HistoryEvent),
  next: z
    .string()
    .nullable()
    .describe(
      'Cursor of the next page, to be sent as `after`; null at the end. The work for one page is bounded, so that a page may have fewer items than `limit`, and none, and still be followed by another.',
    ),
});
export type HistoryPage = View<typeof HistoryPage>;
