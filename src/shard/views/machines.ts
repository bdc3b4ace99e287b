// Schemas of `/v1/machines` (api/read-routes.ts).

import * as z from 'zod';
import { BLOCKED_CAUSES } from '../../model/index.ts';
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
  hostRef: z.string().describe('Name of the host; empty without one.'),
  lastError: z.string(),
  need: NeedRef.nullable().describe('The row that the machine is bound for, or on its way to.'),
  idleSinceMs: timeMs.nullable(),
  unclaimed: z
    .object({
      sinceMs: timeMs,
      holdEndsMs: timeMs.describe('When the reclaim hold has run out.'),
      waitsFor: z
        .enum(['hold', 'needs', 'guardrails'])
        .describe(
          '`hold`: the end of the hold. `needs`: a Need of its cluster that waits for machines, and whose requirements it meets. `guardrails`: it is to be given back, and a guardrail or a freeze stops that.',
        ),
    })
    .nullable()
    .describe(
      'Since when no Need counts on a bound machine that the reclaim hold keeps, and what it waits for before it is given back; null for all other machines.',
    ),
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
