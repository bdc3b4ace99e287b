// What a ceiling on spending leaves once machines are bought, released, repriced or gone: the ceiling stays, and what is
// purchased differs. Used by change-fleet.ts and settle.ts.

import type { Fleet } from '../fleet/index.ts';
import {
  type CapacityType,
  type DecisionOptions,
  isPurchased,
  MachineState,
  microsOf,
  type PurchaseBudget,
} from '../model/index.ts';
import type { MachineFacts } from './selection.ts';

/** Micro-dollars per hour of machines that are purchased by the hour, those that are being created included. */
export interface Spending {
  readonly shard: number;
  /** By cluster: of machines that are bound to it, leave it or are on their way to it. */
  readonly clusters: ReadonlyMap<string, number>;
}

export function spendingOf(fleet: Fleet, facts: MachineFacts): Spending {
  const { classes, clusters, keys, machines } = fleet;
  const micros = Float64Array.from({ length: classes.size }, (_, number) =>
    classes.attributes[number] !== undefined && isPurchased(classes.capacityType[number] as CapacityType)
      ? microsOf(classes.price[number]!)
      : 0,
  );
  let shard = 0;
  const byNumber = new Map<number, number>();
  for (let slot = 0; slot < machines.size; slot++) {
    const state = machines.state[slot]!;
    if (state === 0 || state === MachineState.Speculative) continue;
    const price = micros[machines.classOf[slot]!]!;
    if (state === MachineState.Failed) {
      if (facts.hasFailedHost(slot)) shard += price;
      continue;
    }
    shard += price;
    const cluster = machines.cluster[slot]! || keys.clusterOf(machines.target[slot]!);
    if (cluster !== 0 && price > 0) byNumber.set(cluster, (byNumber.get(cluster) ?? 0) + price);
  }
  const byName = [...byNumber].map(([cluster, sum]) => [clusters.nameOf(cluster), sum] as const);
  return { shard, clusters: new Map(byName) };
}

/** What is left of a budget where `before` was spent when it was stated, and `after` is spent now. */
export function budgetAfter(
  { shard, clusters }: PurchaseBudget,
  before: Spending,
  after: Spending,
): PurchaseBudget {
  return {
    shard: shard + before.shard - after.shard,
    clusters: new Map(
      Array.from(clusters, ([name, micros]) => [
        name,
        micros + (before.clusters.get(name) ?? 0) - (after.clusters.get(name) ?? 0),
      ]),
    ),
  };
}

/** The budget under another ceiling of the shard, in dollars; the ceilings of clusters stay. */
export function budgetUnder(
  dollars: number,
  clusters: PurchaseBudget['clusters'],
  spent: Spending,
): DecisionOptions['purchaseBudget'] {
  const isUnlimited = dollars === Number.POSITIVE_INFINITY;
  if (isUnlimited && clusters.size === 0) return undefined;
  return { shard: isUnlimited ? dollars : microsOf(dollars) - spent.shard, clusters };
}
