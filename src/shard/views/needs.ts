// Schemas of `/v1/needs` and `/v1/shortfalls` (api/read-routes.ts): Needs, what explains the verdict on one of them,
// and shortfalls.

import * as z from 'zod';
import { BLOCKED_CAUSES, OBSTACLE_CAUSES, UNMET_REASONS } from '../../model/index.ts';
import { ActionView } from './actions.ts';
import { count, NeedRef, page, Quantities, timeMs, type View, view } from './schema.ts';

const unmetReason = z.enum(UNMET_REASONS);

export const NeedView = view('NeedView', 'A row of demand with the verdict of the last cycle.', {
  ...NeedRef.shape,
  fingerprint: z.string().describe('Shortened where it is long; `id` identifies the row.'),
  wants: Quantities,
  minUnit: Quantities,
  requirements: z
    .array(z.string())
    .describe('Each shortened where it is long, with the number of values that are not shown.'),
  firstSeenMs: timeMs,
  isMet: z.boolean(),
  missing: Quantities,
  claimed: count.describe('Machines it counts on.'),
  bootstraps: count.describe('Of `claimed`, machines that are bound in this cycle.'),
  provisions: count.describe('Of `claimed`, machines that are bought in this cycle.'),
  preempts: count,
  domain: z.string().nullable(),
  reason: unmetReason.nullable(),
  why: z.string().describe('Why it is not met, a sentence without its full stop; empty if it is met.'),
  unmetCycles: count,
  isFolded: z.boolean(),
});
export type NeedView = View<typeof NeedView>;

export const NeedPage = page('NeedPage', NeedView);

const ObstacleView = view('ObstacleView', 'One cause that keeps machines from a Need, with its details.', {
  cause: z.enum([...OBSTACLE_CAUSES, ...BLOCKED_CAUSES]),
  machines: count,
  rows: z
    .array(z.object({ id: z.string(), priority: z.number(), machines: count }))
    .exactOptional()
    .describe('Rows that use the machines, most machines first; the first of `rowsTotal`.'),
  rowsTotal: count.exactOptional(),
  zones: z
    .array(z.object({ zone: z.string(), machines: count }))
    .exactOptional()
    .describe('Zones of Failed machines, most machines first.'),
  error: z
    .string()
    .exactOptional()
    .describe('The error of the machine that failed last, or why a machine is blocked or unused.'),
  provider: z.string().exactOptional(),
  offering: z.string().exactOptional().describe('Such as `g-8 in zone-b`.'),
  cluster: z.string().exactOptional(),
  who: z.string().exactOptional().describe('The person who froze or quarantined the machines.'),
  untilMs: timeMs
    .exactOptional()
    .describe('When the first of the machines is tried again, or the freeze ends.'),
  sentence: z.string(),
});

export const OnTheWayView = view('OnTheWayView', 'Machines that a Need gets and that do not serve it yet.', {
  state: z.string(),
  machines: count,
  sinceMs: timeMs.describe('When the machine that is in this state longest entered it.'),
  expectedByMs: timeMs
    .nullable()
    .describe(
      'When the last machine should arrive, by the usual time of its provider; null if that is unknown.',
    ),
});
export type OnTheWayView = View<typeof OnTheWayView>;

export const NeedExplanation = view('NeedExplanation', 'A Need with everything that explains its verdict.', {
  need: NeedView,
  sentence: z
    .string()
    .describe(
      'What it lives on, without a full stop, such as `met: keeps 2 machines, shares 1.5 cpu of machine-7`.',
    ),
  claimed: z.array(z.string()).describe('Ids of machines it counts on, at most 1,000.'),
  claimedTotal: count,
  shares: z
    .array(z.object({ machine: z.string(), amount: Quantities }))
    .describe('What it counts on of machines that other Needs of its cluster claim, at most 1,000.'),
  sharesTotal: count,
  preempts: z.array(z.string()).describe('Ids of machines that drain for it, at most 1,000.'),
  preemptsTotal: count,
  matching: z
    .object({ idle: count, speculative: count, configured: count })
    .describe('Machines that meet its requirements, by state.'),
  blocker: NeedRef.nullable().describe('The row ahead of it that claims a machine it could have used.'),
  extraSupply: z
    .object({ count, like: z.string() })
    .nullable()
    .describe(
      'The smallest additional supply that would meet it, if no other Need acquires it: `count` more machines like `like`. null: none would, as where its cluster cannot bind.',
    ),
  candidates: z
    .array(
      z.object({
        domain: z.string(),
        coverage: z
          .number()
          .describe('Share of the wanted amount, 0 to 1, of the resource that is covered least.'),
        satisfiable: z.boolean(),
      }),
    )
    .describe('For a gang: the best domains.'),
  obstacles: z
    .array(ObstacleView)
    .describe('Machines that meet its requirements and do not serve it, by cause; most machines first.'),
  remainders: z
    .object({
      matching: count.describe('Remainders of machines that meet its requirements.'),
      holdingUnit: count.describe('Of those, remainders that hold its largest pod.'),
      sentence: z
        .string()
        .describe(
          'Such as `3 remainders match, none holds its largest pod (4 cpu)`; empty where none matches.',
        ),
    })
    .describe(
      'What other Needs of its cluster left over of their machines when it was served; none for a Need that may not share.',
    ),
  onTheWay: z.array(OnTheWayView).describe('Machines that it gets, by state.'),
  advice: z.array(z.string()).describe('What would help, the most helpful first; full sentences.'),
  remarks: z
    .array(z.string())
    .describe('Causes outside the decision, such as freezes, sessions and unread providers; full sentences.'),
  actions: z.array(ActionView),
});
export type NeedExplanation = View<typeof NeedExplanation>;

export const ShortfallView = view('ShortfallView', 'A Need that stays unmet whatever is draining.', {
  ...NeedRef.shape,
  missing: Quantities,
  reason: unmetReason,
  why: z.string().describe('A sentence without its full stop.'),
  ageCycles: count,
  isEscalated: z.boolean(),
});
export type ShortfallView = View<typeof ShortfallView>;

export const ShortfallPage = page('ShortfallPage', ShortfallView);
