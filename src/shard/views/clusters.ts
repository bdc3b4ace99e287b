// Schemas of `/v1/clusters` (api/read-routes.ts): clusters with their sessions, demand, machines and roll-ups.

import * as z from 'zod';
import { FreezeView } from './actions.ts';
import { Cost, costPerHour, ownedCost } from './cost.ts';
import { count, machinesByState, page, timeMs, type View, view } from './schema.ts';

export const SetAsideView = view(
  'SetAsideView',
  'Rows of a cluster that exceed a limit, so that their size is unknown.',
  {
    rows: count,
    machinesKept: count.describe(
      'Configured machines that no row counts on and that are kept because they may serve the rows set aside.',
    ),
    isLifted: z.boolean().describe('A person has ordered that these machines may be reclaimed.'),
    unknownResource: z
      .string()
      .nullable()
      .describe('A resource beyond those that the fleet can count, if rows are set aside because of it.'),
  },
);
export type SetAsideView = View<typeof SetAsideView>;

export const ReportsView = view('ReportsView', 'The roll-ups of a cluster.', {
  lastReportMs: timeMs.nullable(),
  problems: z.array(z.string()).describe('Why the last roll-up was refused, if it was.'),
  remarks: z
    .array(z.string())
    .describe(
      'Rows of the accepted roll-up that were set aside, saturated or zeroed; the first of `remarksTotal`.',
    ),
  remarksTotal: count,
  held: z
    .object({
      sinceMs: timeMs,
      count: count.describe('How often it was repeated.'),
      rows: count,
      knownRows: count.describe('Rows of the roll-up that is in force.'),
      isRefused: z.boolean(),
    })
    .nullable()
    .describe(
      'A roll-up that lacks most of the demand; it is quarantined until it is repeated, or a person accepts or refuses it.',
    ),
});
export type ReportsView = View<typeof ReportsView>;

export const ClusterView = view('ClusterView', 'A cluster.', {
  cluster: z.string(),
  hasSession: z.boolean(),
  hasReported: z
    .boolean()
    .describe('Since the shard started. Nothing is reclaimed from a cluster that has not reported.'),
  needs: count,
  unmet: count,
  machinesByState: machinesByState.describe('Machines that serve it, join it or leave it, by state.'),
  costPerHour,
  cost: Cost,
  ownedCost,
  usedShare: z
    .record(z.string(), z.number())
    .describe(
      'By kind of hardware: the share, 0 to 1, of its Configured machines that its Needs count on, of the resource that is used most. Kinds without a Configured machine are absent; empty before the first cycle.',
    ),
  freeze: FreezeView.nullable(),
  retired: z
    .object({ who: z.string(), why: z.string(), sinceMs: timeMs })
    .nullable()
    .describe(
      'Set if a person has declared the cluster gone for good: its machines are drained and given back.',
    ),
  cannotBind: z.string().describe('Why no machine can join now; empty if one can.'),
  setAside: SetAsideView.nullable().describe('null if no row is set aside.'),
  reports: ReportsView.nullable().describe('null if it never sent a roll-up.'),
});
export type ClusterView = View<typeof ClusterView>;

export const ClusterPage = page('ClusterPage', ClusterView);
