// Schemas of `/v1/actions`, `/v1/plan` and `/v1/freezes` (api/read-routes.ts): pending and ended actions, those
// decided and not started, and the plan that the latter belong to. Freezes too, since they are what holds actions back
// most often.

import * as z from 'zod';
import { actionKind, count, errorClass, NeedRef, page, timeMs, type View, view } from './schema.ts';
import { HeldBackView } from './status.ts';

const actionReason = z.enum([
  'phase1.idle',
  'phase1.speculative',
  'phase2.inversion',
  'phase2.excess',
  'phase3.excess',
  'phase3.release',
]);

const Leaving = view('Leaving', 'Why a machine that no row counts on leaves its cluster.', {
  cause: z
    .enum(['excess', 'replaced', 'ordered', 'work-ended', 'gang-broken', 'gang-moved'])
    .describe(
      '`excess`: its row has enough without it. `replaced`: cheaper machines replace it. `ordered`: a person ordered it to be drained. `work-ended`: its row is no longer reported. `gang-broken`: its row is a gang that cannot be complete now. `gang-moved`: its row is a gang that is in another domain.',
    ),
  domain: z.string().nullable().describe('For a gang: the domain of the machine.'),
  goesTo: z.string().nullable().describe('For a gang: its domain now.'),
});

const leaving = Leaving.nullable()
  .exactOptional()
  .describe('Why the machine leaves, if no row counts on it; absent in journals of 0.1.0.');

const from = NeedRef.nullable()
  .exactOptional()
  .describe('The row that the machine leaves; absent in journals of 0.1.0.');

export const ActionView = view('ActionView', 'An action that was started.', {
  id: z.string(),
  kind: actionKind,
  machine: z.string(),
  provider: z.string(),
  cluster: z.string(),
  need: NeedRef.nullable().describe('The row it is for, as it was when the action was accepted.'),
  capacityType: z.string().exactOptional().describe('Of the machine; absent in journals of 0.1.0.'),
  zone: z.string().exactOptional().describe('Of the machine; absent in journals of 0.1.0.'),
  from,
  leaving,
  reason: actionReason,
  startedMs: timeMs,
  acceptedMs: timeMs
    .nullable()
    .exactOptional()
    .describe('When the provider accepted it; null before. Absent in journals of 0.1.0.'),
  endedMs: timeMs.nullable().describe('null while it is pending.'),
  outcome: z
    .enum([
      'success',
      'ctx_canceled',
      'fenced',
      'no_session',
      'transition_raced_to_idle',
      'transition_error',
      'blob_error',
      'provider_error',
      'denied',
      'stock_out',
      'transient',
      'stale_state',
      'inventory_miss',
      'missing_profile',
      'drain_withdrawn',
      'machine_failed',
      'rolled_back',
      'superseded',
    ])
    .nullable()
    .describe('null while it is pending.'),
  errorClass: errorClass
    .nullable()
    .exactOptional()
    .describe('null while it is pending and after success; absent in journals of 0.1.0.'),
  message: z
    .string()
    .describe(
      'The last error, or what a pending action waits for, such as `waiting for the cluster to drain node n-1, 4 min left, blocked by pdb/shop/web`; for a preemption that its cluster could not drain, the budgets that it broke. Empty if there is nothing to say.',
    ),
  attempts: count.describe('Mutation calls made to the provider.'),
});
export type ActionView = View<typeof ActionView>;

const freezeText = { id: z.string(), who: z.string(), why: z.string() };

export const FreezeView = view('FreezeView', 'Actions that a person ordered the shard not to carry out.', {
  ...freezeText,
  cluster: z.string().nullable().describe('null: every cluster.'),
  action: actionKind.nullable().describe('null: every kind of action.'),
  sinceMs: timeMs,
  untilMs: timeMs.nullable().describe('When it ends by itself; null: only when it is lifted.'),
});

export const FreezePage = page('FreezePage', FreezeView);

export const WaitingActionView = view('WaitingActionView', 'An action that was decided and not started.', {
  kind: actionKind,
  machine: z.string(),
  cluster: z.string(),
  reason: actionReason,
  why: z.string().describe('Why it was not started, as in `heldBack`.'),
  provider: z.string(),
  capacityType: z.string(),
  zone: z.string(),
  pricePerHour: z.number(),
  need: NeedRef.nullable().describe('The row it is for; null for Reclaim and Delete.'),
  from,
  leaving,
  freeze: z
    .object(freezeText)
    .nullable()
    .describe('The freeze that stops it, with long texts shortened; null if none does.'),
});
export type WaitingActionView = View<typeof WaitingActionView>;

const WaitingActionPage = page('WaitingActionPage', WaitingActionView);

export const ActionLists = view('ActionLists', 'Actions that were started, and those that were not.', {
  actions: page('ActionPage', ActionView),
  waiting: WaitingActionPage,
});

export const PlanView = view('PlanView', 'Actions that the last cycle decided and did not start.', {
  cycle: count.nullable().describe('Number of the cycle; null before the first.'),
  atMs: timeMs.nullable(),
  dryRun: z.boolean(),
  heldBack: z.array(HeldBackView).describe('Counts all of them, whatever the filters.'),
  frozenClusters: z
    .array(z.object({ cluster: z.string(), unmet: count }))
    .describe(
      'Clusters frozen by name. They claim no machines meanwhile, so that no action is decided for them; `unmet` counts their unmet Needs.',
    ),
  actions: WaitingActionPage.describe(
    'In the order of the plan for each reason: the most urgent Need first.',
  ),
});
export type PlanView = View<typeof PlanView>;
