// Schemas of `/v1/cost`, `/v1/cost/series`, `/v1/cost/remedies` and `/v1/machine-counts` (api/cost-routes.ts).

import * as z from 'zod';
import { Cost, ownedCost } from './cost.ts';
import { count, machinesByState, NeedRef, page, timeMs, type View, view } from './schema.ts';

const dollars = z.number();
const aspect = z.string().describe('What the groups have in common, as it was asked for.');

const CostGroupView = view('CostGroupView', 'Machines that have a host, with one thing in common.', {
  name: z
    .string()
    .describe('Empty: machines without a cluster, or without a known priority of the row they serve.'),
  machines: count,
  cost: Cost,
});
export type CostGroupView = View<typeof CostGroupView>;

const StrandedView = view('StrandedView', 'What is paid for serving machines and no Need counts on.', {
  perHour: dollars,
  byHardware: z.array(
    z.object({
      kind: z.string(),
      servingPerHour: dollars,
      usedShare: z.number().describe('0 to 1, of the resource that is used most.'),
      resource: z.string().describe('That resource; empty if no machine of the kind serves.'),
      perHour: dollars.describe('`servingPerHour` times the share that is not used.'),
    }),
  ),
});

const SpotView = view('SpotView', 'What spot machines cost, compared with the same machines on demand.', {
  machines: count.describe('Spot machines with a host and a known on-demand price.'),
  perHour: dollars,
  onDemandPerHour: dollars.describe(
    'The lowest on-demand price of their instance types, in the same zone where there is one.',
  ),
  savesPerHour: dollars,
  interruptionsPerHour: dollars.describe(
    'Expected cost of interruptions: their probability times the penalty of the row served, as decisions weigh it.',
  ),
  netSavesPerHour: dollars,
  unpriced: count.describe('Spot machines without an on-demand price, which the figures leave out.'),
});

const ForecastView = view('ForecastView', 'The bill of this month (UTC) at the present rate.', {
  monthEndMs: timeMs,
  hoursLeft: z.number(),
  restOfMonth: dollars,
  wholeMonth: dollars.describe('All hours of the month at the present rate.'),
  sinceStart: z
    .object({ fromMs: timeMs, dollars })
    .describe('What machines cost since the start of the process, by the cost after each cycle.'),
});

export const CostReport = view('CostReport', 'What the fleet costs now.', {
  nowMs: timeMs,
  by: aspect,
  cost: Cost,
  ownedCost,
  stranded: StrandedView,
  spot: SpotView,
  forecast: ForecastView,
  groups: page('CostGroupPage', CostGroupView).describe('The most expensive first, or by name.'),
});
export type CostReport = View<typeof CostReport>;

export const CostSeries = view('CostSeries', 'Cost over the last day.', {
  nowMs: timeMs,
  by: aspect,
  stepMs: z.number(),
  names: z.array(z.string()).describe('All names in the points, the most expensive of the last point first.'),
  points: z
    .array(z.object({ atMs: timeMs, perHour: dollars, byName: z.record(z.string(), dollars) }))
    .describe('Oldest first. A point has its ten most expensive names; the sum of the others is `other`.'),
});
export type CostSeries = View<typeof CostSeries>;

const RemedyView = view('RemedyView', 'The smallest additional supply that would meet a Need.', {
  need: NeedRef,
  count: count.describe('Machines.'),
  like: z.string().describe('A machine such as they would have to be.'),
  instanceType: z.string(),
  zone: z.string(),
  capacityType: z.string(),
  pricePerHour: dollars.describe('Of one of them.'),
  perHour: dollars,
});

export const Remedies = view(
  'Remedies',
  'What would meet the Needs that are not met: for each the fewest machines, and of these the cheapest.',
  {
    perHour: dollars.describe('Of all that are known, not only of those listed.'),
    cheapest: z
      .object({ machines: count, perHour: dollars })
      .describe(
        'The cheapest purchase that would meet all Needs with a remedy, of more machines than the fewest where that costs less, expected interruptions included. Each Need by itself: Needs that share machines may need less.',
      ),
    items: z.array(RemedyView).describe('By rank of the Need, at most 200, or about 900 kB.'),
    total: count.describe('Needs with a remedy.'),
    withoutRemedy: count.describe('Needs that no known machine would meet.'),
  },
);
export type Remedies = View<typeof Remedies>;

export const MachineCounts = view('MachineCounts', 'Machines by one aspect and by state.', {
  by: aspect,
  items: z
    .array(z.object({ name: z.string(), machines: count, byState: machinesByState }))
    .describe('Most machines first, at most 1,000, or about 900 kB.'),
  total: count.describe('Number of names.'),
});
export type MachineCounts = View<typeof MachineCounts>;
