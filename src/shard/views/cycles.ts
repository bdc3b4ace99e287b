// Schemas of `/v1/cycles` (api/cycle-routes.ts): the plan of a past cycle as the journal has it, and the same cycle decided
// again.

import * as z from 'zod';
import { WaitingActionView } from './actions.ts';
import { actionKind, Counts, count, page, timeMs, type View, view } from './schema.ts';

const { kind, machine, cluster, reason, need, provider, capacityType, zone, pricePerHour, from, leaving } =
  WaitingActionView.shape;

const CycleActionView = view('CycleAction', 'An action that a past cycle decided.', {
  ...{ kind, machine, cluster, reason, need, from, leaving },
  why: z
    .string()
    .nullable()
    .exactOptional()
    .describe(
      'Why it was not started, as in `heldBack`; null: it was started. Absent if the journal does not say.',
    ),
  provider: provider.describe('Empty if the journal does not say, as for an action that is decided again.'),
  capacityType: capacityType.describe('Empty if the journal does not say.'),
  zone: zone.describe('Empty if the journal does not say.'),
  pricePerHour: pricePerHour.exactOptional(),
  freeze: WaitingActionView.shape.freeze.exactOptional(),
});
export type CycleActionView = View<typeof CycleActionView>;

const number = count.describe('Number of the cycle since the start of the shard.');
const epoch = z.number().describe('Epoch of that start of the shard.');
const digest = z.string().describe('Of the actions and verdicts; equal decisions have equal digests.');
const decided = z.record(actionKind, count).describe('Decided actions by kind.');
const unmet = count.describe('Needs that are not met.');

export const CyclePlanView = view('CyclePlan', 'What a past cycle decided, from the journal.', {
  ...{ cycle: number, epoch, atMs: timeMs },
  durationMs: z.number().describe('As in `CycleView`.'),
  ...{ digest, unmet, decided },
  admitted: z
    .record(actionKind, count)
    .describe('Actions by kind that freezes, limits and the other guardrails let pass.'),
  waiting: Counts.describe('Actions decided and not started, by reason.'),
  actions: page('CycleActionPage', CycleActionView).describe(
    'What the cycle started, and what it held back for the first time or for another reason than the cycle before.',
  ),
  notListed: count.describe(
    'Decided actions that `actions` does not have, since an earlier cycle held them back already, or since they are more than a cycle records. Deciding the cycle again lists them.',
  ),
});
export type CyclePlanView = View<typeof CyclePlanView>;

const listed = (about: string) =>
  z
    .object({ total: count, items: z.array(CycleActionView).describe('At most `limit` of them.') })
    .describe(about);

export const CycleRedecisionView = view(
  'CycleRedecision',
  'A past cycle, decided again on its recorded input.',
  {
    ...{ cycle: number, epoch, atMs: timeMs },
    isSame: z.boolean().describe('Whether the digests are equal.'),
    recorded: z.object({ digest, decided, unmet }),
    again: z.object({ digest, decided, unmet }),
    durationMs: z.number().describe('Milliseconds to decide it from an empty state, on one thread.'),
    readMs: z.number().describe('Milliseconds to read the state before it from the journal.'),
    cyclesRead: count.describe('Cycles of the journal that were read, from the last checkpoint on.'),
    onlyRecorded: listed('Actions that the cycle started or held back, and that are not decided again.'),
    onlyAgain: listed('Actions that are decided again, and that the journal does not list.').nullable(),
    actions: listed('All actions, as decided again, in the order of the plan.'),
  },
);
export type CycleRedecisionView = View<typeof CycleRedecisionView>;
