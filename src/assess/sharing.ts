// What one pool is worth: each cluster with its own nodes against all clusters with all nodes. Every node is one that exists and
// is paid for, bound to its cluster at first, and never returned. Apart, a cluster buys what its own nodes do not hold;
// together it gets the nodes first that other clusters do not need when they are alone. Pure.

import { type LedgerMachine, MachineState } from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import type { Fleet, Sharing, SharingSide } from './assessment.ts';
import { cents, fleetOfPriced, type Priced, pricesOf } from './fleets.ts';
import { boundMachine, idleMachine, nodeId } from './machines.ts';
import type { PricedNode } from './priced-nodes.ts';
import { PurchasableMachines } from './purchasable-machines.ts';
import { type NamedDemand, type SettledFleet, settledFleet } from './settled.ts';

export interface SharingCluster extends NamedDemand {
  readonly nodes: readonly PricedNode[];
}

export function sharingOf(
  clusters: readonly SharingCluster[],
  catalogue: readonly CatalogueEntry[],
  pricesOfNodes: ReadonlyMap<string, Priced>,
  nowMs: number,
  progress: (what: string) => void,
): Sharing {
  // A node that no pod of its cluster needs is free for all from the start: in a running fleet it would be on hold for some
  // minutes, and others would buy meanwhile.
  const free = new Set<string>();
  const settled = (some: readonly SharingCluster[], what: string): SettledFleet => {
    const existing = some.flatMap(({ demand, name, nodes }) =>
      nodes.map((node) =>
        free.has(nodeId(name, node.name))
          ? idleMachine(name, node, nowMs)
          : boundMachine(name, node, demand.usesOf(node.name)),
      ),
    );
    return settledFleet(some, existing, new PurchasableMachines(catalogue), nowMs, (cycle) =>
      progress(`Sharing, ${what}: cycle ${cycle}`),
    );
  };
  const alone = clusters.map((cluster) => ({
    name: cluster.name,
    fleet: settled([cluster], `${cluster.name} alone`),
  }));
  for (const { fleet } of alone) for (const { id } of spareOf(fleet, pricesOfNodes)) free.add(id);
  const apartByCluster = alone.map(({ fleet, name }) => ({ name, ...side(fleet, pricesOfNodes) }));
  const together = side(settled(clusters, 'all clusters'), pricesOfNodes);
  const apart: SharingSide = {
    bought: sumOf(apartByCluster.map(({ bought }) => bought)),
    spare: sumOf(apartByCluster.map(({ spare }) => spare)),
    unmetPods: apartByCluster.reduce((sum, { unmetPods }) => sum + unmetPods, 0),
  };
  const largestSpare = Math.max(0, ...apartByCluster.map(({ spare }) => spare.dollarsPerHour));
  return {
    ...{ apart, apartByCluster, together },
    avoidedPerHour: cents(apart.bought.dollarsPerHour - together.bought.dollarsPerHour),
    headroomPerHour: cents(Math.max(0, together.spare.dollarsPerHour - largestSpare)),
  };
}

function side(fleet: SettledFleet, pricesOfNodes: ReadonlyMap<string, Priced>): SharingSide {
  const { machines, unmet, withoutRoom } = fleet;
  return {
    bought: fleetOfPriced(machines.filter(({ id }) => !pricesOfNodes.has(id))),
    spare: fleetOfPriced(pricesOf(spareOf(fleet, pricesOfNodes), pricesOfNodes)),
    unmetPods: withoutRoom + unmet.reduce((sum, { pods }) => sum + pods, 0),
  };
}

function spareOf(
  { machines }: SettledFleet,
  pricesOfNodes: ReadonlyMap<string, Priced>,
): readonly LedgerMachine[] {
  return machines.filter(({ id, state }) => pricesOfNodes.has(id) && state === MachineState.Idle);
}

function sumOf(fleets: readonly Fleet[]): Fleet {
  const types = Map.groupBy(
    fleets.flatMap((fleet) => fleet.types),
    ({ capacityType, instanceType }) => `${capacityType} ${instanceType}`,
  );
  return {
    machines: fleets.reduce((sum, { machines }) => sum + machines, 0),
    dollarsPerHour: cents(fleets.reduce((sum, { dollarsPerHour }) => sum + dollarsPerHour, 0)),
    types: [...types.values()]
      .map((alike) => ({
        ...alike[0]!,
        machines: alike.reduce((sum, { machines }) => sum + machines, 0),
        dollarsPerHour: cents(alike.reduce((sum, { dollarsPerHour }) => sum + dollarsPerHour, 0)),
      }))
      .sort((a, b) => b.dollarsPerHour - a.dollarsPerHour),
  };
}
