// The ceiling on spending: what the shard and its clusters may still spend on machines that are purchased by the hour, as
// an input of the decision, which stops purchases there in rank order. Owned capacity (bare metal, reserved) is neither
// counted nor stopped. Computed by cycles.ts before each decision, from what is purchased as of the last commit.

import type { Fleet } from '../../fleet/index.ts';
import {
  type CapacityType,
  isPurchased,
  MachineState,
  microsOf,
  type PurchaseBudget,
} from '../../model/index.ts';

export interface SpendLimits {
  /** Dollars per hour of purchased machines of the shard; Infinity: no limit. */
  readonly maxPurchasedPerHour: number;
  /** Dollars per hour of purchased machines by cluster; `EVERY_OTHER` for clusters that are not named. */
  readonly maxPurchasedPerHourOf: ReadonlyMap<string, number>;
}

/** In the place of a cluster's name: each cluster without a limit of its own. */
const EVERY_OTHER = '*';

export const NO_SPEND_LIMITS: SpendLimits = {
  maxPurchasedPerHour: Number.POSITIVE_INFINITY,
  maxPurchasedPerHourOf: new Map(),
};

/** A ledger as the ceiling reads it. */
interface Purchased {
  readonly fleet: Fleet;
  /** Failed machines that have a host, by class. */
  readonly failedHosts: { readonly byClass: ReadonlyMap<number, number> };
}

/** What may still be spent; undefined without a limit. */
export function purchaseBudgetOf(limits: SpendLimits, ledger: Purchased): PurchaseBudget | undefined {
  const { maxPurchasedPerHour: limit, maxPurchasedPerHourOf: limitsOf } = limits;
  const isUnlimited = limit === Number.POSITIVE_INFINITY;
  if (isUnlimited && limitsOf.size === 0) return undefined;
  return {
    shard: isUnlimited ? limit : microsOf(limit) - purchasedOf(ledger),
    clusters: limitsOf.size === 0 ? new Map() : budgetsOf(limitsOf, ledger.fleet),
  };
}

/** States in which a machine is paid for, or will be once it has been made. A Failed one is, if it has a host. */
const PAID: readonly MachineState[] = [
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
  MachineState.Deleting,
];
const IS_PAID: ReadonlySet<number> = new Set(PAID);

/** Micro-dollars per hour of a machine of a class; 0 if it is owned. */
function microsOfClass({ classes }: Fleet, classNumber: number): number {
  const isCounted = isPurchased(classes.capacityType[classNumber] as CapacityType);
  return isCounted ? microsOf(classes.price[classNumber]!) : 0;
}

/** Micro-dollars per hour of all purchased machines, those that are being created included. */
function purchasedOf({ fleet, failedHosts }: Purchased): number {
  const { classes, machines } = fleet;
  let sum = 0;
  for (const [c, attributes] of classes.attributes.entries()) {
    if (attributes === undefined) continue;
    let count = failedHosts.byClass.get(c) ?? 0;
    for (const state of PAID) count += machines.countOf(c, state);
    if (count > 0) sum += count * microsOfClass(fleet, c);
  }
  return sum;
}

/** What each cluster with a limit may spend beyond its machines: bound to it, leaving it, or on their way to one of its rows. */
function budgetsOf(limits: SpendLimits['maxPurchasedPerHourOf'], fleet: Fleet): ReadonlyMap<string, number> {
  const { clusters, keys, machines } = fleet;
  const sums = new Map<number, number>();
  for (let slot = 0; slot < machines.size; slot++) {
    if (!IS_PAID.has(machines.state[slot]!)) continue;
    const cluster = machines.cluster[slot]! || keys.clusterOf(machines.target[slot]!);
    const micros = microsOfClass(fleet, machines.classOf[slot]!);
    if (cluster !== 0 && micros > 0) sums.set(cluster, (sums.get(cluster) ?? 0) + micros);
  }
  const budgets = new Map<string, number>();
  for (const cluster of clusters.sorted()) {
    const name = clusters.nameOf(cluster);
    const limit = limits.get(name) ?? limits.get(EVERY_OTHER);
    if (limit !== undefined) budgets.set(name, microsOf(limit) - (sums.get(cluster) ?? 0));
  }
  return budgets;
}
