// Schemas of `/v1/machines` (api/read-routes.ts).

import * as z from 'zod';
import { BLOCKED_CAUSES, UNCLAIMED_WAITS } from '../../model/index.ts';
import { ActionView } from './actions.ts';
import { count, NeedRef, page, Quantities, timeMs, type View, view } from './schema.ts';

export const MachineView = view('MachineView', 'A machine.', {
  id: z.string(),
  provider: z.string(),
  state: z.string().describe('The wire name without its prefix, such as `CONFIGURED`.'),
  cluster: z.string(),
  instanceType: z.string(),
  zone: z.string(),
  capacityType: z.string().describe('The wire name without its prefix, such as `ON_DEMAND`.'),
  pricePerHour: z.number(),
  interruptionProbability: z.number(),
  allocatable: Quantities,
  labels: z
    .record(z.string(), z.string())
    .describe('The first 64 in a list; all of them for a single machine.'),
  labelsNotShown: count,
  nodeName: z.string().describe('Name of its node, as the operator reported it; empty before.'),
  drain: z
    .object({
      untilMs: timeMs.describe('When the grace is over.'),
      blockedBy: z
        .array(z.string())
        .describe('What blocks it, such as `pdb/<namespace>/<name>`; empty if the operator named nothing.'),
      sentence: z
        .string()
        .describe(
          'Such as `waiting for the cluster to drain node n-1, 4 min left, blocked by pdb/shop/web`.',
        ),
    })
    .nullable()
    .describe('The drain that waits for its cluster; null if none does.'),
  protectedUntilMs: timeMs
    .nullable()
    .describe(
      'Until when it is not reclaimed, because its cluster could not drain it; null if that was not so.',
    ),
  costSoFar: z
    .object({
      sinceMs: timeMs.describe('When the shard last bought it.'),
      dollars: z.number().describe('For the time since then, at the present price.'),
    })
    .nullable()
    .exactOptional()
    .describe(
      'What the host has cost; absent in lists. null without a host, and where neither the journal nor the actions in memory have the purchase.',
    ),
  hostRef: z.string().describe('Name of the host; empty without one.'),
  lastError: z.string(),
  need: NeedRef.nullable().describe('The row that the machine is bound for, or on its way to.'),
  usage: z
    .object({
      users: z
        .array(
          z.object({
            need: NeedRef,
            isShare: z.boolean().describe('It shares the machine, which another Need of its cluster claims.'),
            amount: Quantities.nullable().describe('What it takes; null if its size is not known.'),
          }),
        )
        .describe('The Need that claims it, then those that share it by rank; at most 1,000.'),
      usersTotal: count,
      leftOver: Quantities,
      sentence: z
        .string()
        .describe(
          'Such as `shop/00ff00ff00 takes 6 cpu, shop/11ee11ee11 shares 1.5 cpu, 0.5 cpu left over`.',
        ),
    })
    .nullable()
    .describe(
      'Who counts on the machine, as of the last cycle. null if no Need does, and for all machines of a list.',
    ),
  idleSinceMs: timeMs.nullable(),
  unclaimed: z
    .object({
      sinceMs: timeMs,
      holdEndsMs: timeMs.describe('When the reclaim hold has run out.'),
      waitsFor: z
        .enum(UNCLAIMED_WAITS)
        .describe(
          '`hold`: the end of the hold. `needs`: a Need of its cluster that waits for machines, and whose requirements it meets. `guardrails`: it is to be given back, and a guardrail or a freeze stops that.',
        ),
      sentence: z.string().describe('Such as `unclaimed for 4 min, given back in 6 min`.'),
    })
    .nullable()
    .describe(
      'Since when no Need counts on a bound machine that the reclaim hold keeps, and what it waits for before it is given back; null for all other machines.',
    ),
  renewal: z
    .object({
      sinceMs: timeMs,
      untilMs: timeMs.describe('When the machine is used as before if it has not been replaced.'),
      machines: count.describe('Machines that are replaced together, this one included.'),
      savesPerHour: z.number().describe('What is saved by all of them, in dollars per hour.'),
      sentence: z
        .string()
        .describe(
          'Such as `to be replaced by cheaper machines for 4 min, saves about $0.40 an hour with 3 others, for another 36 min at most`.',
        ),
    })
    .nullable()
    .describe('Set for a machine that is to be replaced by cheaper ones; null for all other machines.'),
  drainOrder: z
    .object({
      who: z.string(),
      why: z.string(),
      sinceMs: timeMs,
      sentence: z.string().describe('Such as `to be drained for 4 min, as ann ordered: disk errors`.'),
    })
    .nullable()
    .exactOptional()
    .describe('Set for a machine that a person ordered to be drained; absent from earlier versions.'),
  held: z
    .object({
      kind: z.enum(BLOCKED_CAUSES),
      why: z.string(),
      untilMs: timeMs.nullable().describe('null if only a person ends it.'),
    })
    .nullable()
    .describe('Why the machine is kept out of decisions; null if it is not.'),
  quarantine: z.object({ by: z.string(), why: z.string(), sinceMs: timeMs }).nullable(),
  isForgotten: z.boolean(),
  action: ActionView.nullable().describe('The pending action on it, if any.'),
});
export type MachineView = View<typeof MachineView>;

export const MachinePage = page('MachinePage', MachineView);
