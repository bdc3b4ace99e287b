// Schemas of `/v1/status` and of `cycle` events: the status of a shard, its last cycle, totals over the fleet, and its
// providers.

import * as z from 'zod';
import { AGE_BUCKETS, PRIORITY_CLASSES } from '../planning/shortfalls.ts';
import { Cost, costPerHour, ownedCost } from './cost.ts';
import { ProviderView } from './providers.ts';
import { actionKind, Counts, count, machinesByState, timeMs, type View, view } from './schema.ts';

export const VersionView = view('VersionView', 'What serves this API.', {
  shard: z.string(),
  version: z.string().describe('Of BigFleet.'),
  node: z.string().describe('Of Node.'),
});
export type VersionView = View<typeof VersionView>;

export const HeldBackView = view(
  'HeldBackView',
  'Actions that a cycle decided and did not start, for one reason.',
  {
    why: z
      .string()
      .describe(
        '`frozen`, `dry-run`, `capped`, `deferred`, or the reason why the shard could not start the actions.',
      ),
    total: count,
    needs: count.describe(
      'Rows that machines would be bound, bought or preempted for; rows folded into one count once.',
    ),
    kinds: z
      .partialRecord(actionKind, count)
      .describe('Actions by kind; kinds without an action are absent.'),
    buysPerHour: z.number().describe('US dollars per hour that the purchases would add.'),
    releasesPerHour: z.number().describe('US dollars per hour that the releases would end.'),
  },
);
export type HeldBackView = View<typeof HeldBackView>;

export const CycleView = view('CycleView', 'A cycle of the controller.', {
  number: count,
  atMs: timeMs,
  durationMs: z
    .number()
    .describe('Milliseconds to apply pending events, decide, and start the admitted actions.'),
  phaseMs: z
    .record(z.string(), z.number())
    .exactOptional()
    .describe(
      'Milliseconds of the main phases: `commit` of pending changes, `assign` machines to Needs, `preempt`, `reclaim`, `plan` and `start` actions. Absent in journals of 0.1.0.',
    ),
  unmet: count.describe('Needs that are not met.'),
  metClaimChanges: count.describe('Met Needs that exchanged one machine for another in this cycle.'),
  decided: z.record(actionKind, count).describe('Decided actions by kind.'),
  admitted: z.record(actionKind, count).describe('Started actions by kind.'),
  waiting: Counts.describe('Actions decided and not started, by reason.'),
  heldBack: z
    .array(HeldBackView)
    .describe('The actions of `waiting` with their effect, most frequent reason first.'),
});
export type CycleView = View<typeof CycleView>;

const amount = z.number();

const ResourceView = view('ResourceView', 'Amounts of one resource, in cores, bytes or pieces.', {
  wanted: amount.describe('By Needs of this kind: the sum of `served`, `coming` and `unmet`.'),
  served: amount.describe('Provided by Configured machines of either kind.'),
  coming: amount.describe('Provided by machines that are joining, being bought or about to be bought.'),
  unmet: amount,
  offered: amount.describe('By Configured machines of this kind.'),
  used: amount.describe('Of `offered`, the part that Needs of either kind count on; the rest is spare.'),
});
export type ResourceView = View<typeof ResourceView>;

export const HardwareView = view(
  'HardwareView',
  'Machines with accelerators and the Needs that ask for one, or machines without and the Needs that do not.',
  {
    kind: z.enum(['general', 'accelerated']),
    needs: count,
    unmetNeeds: count,
    resources: z
      .record(z.string(), ResourceView)
      .describe('By resource name; a resource that is neither wanted nor offered is absent.'),
  },
);
export type HardwareView = View<typeof HardwareView>;

export const StatusView = view('StatusView', 'The status of a shard.', {
  shard: z.string(),
  epoch: z.number(),
  startedMs: timeMs,
  nowMs: timeMs,
  phase: z
    .enum(['starting', 'running', 'stopping', 'fenced'])
    .describe(
      '`starting`: providers are being read and nothing is decided. `fenced`: a newer shard of this name exists.',
    ),
  dryRun: z.boolean(),
  cycle: CycleView.nullable().describe('The last cycle; null before the first.'),
  machines: count,
  machinesByState,
  costPerHour,
  cost: Cost,
  ownedCost,
  needs: count,
  clusters: count,
  sessions: count,
  shortfalls: count,
  escalated: count.describe('Shortfalls that were escalated.'),
  unmetByAge: z
    .array(z.object({ priority: z.enum(PRIORITY_CLASSES), age: z.enum(AGE_BUCKETS), count }))
    .describe('Shortfalls by class of priority and by age in cycles; without those that are 0.'),
  freezes: count,
  hardware: z
    .array(HardwareView)
    .describe('Resources by kind of hardware, as of the last cycle; empty before the first.'),
  supply: z
    .record(z.string(), z.object({ wanted: amount, configured: amount }))
    .describe(
      'By resource name, in cores, bytes or pieces: totals over all Needs and over all Configured machines, however unlike.',
    ),
  providers: z.array(ProviderView),
});
export type StatusView = View<typeof StatusView>;
