// What one pool is worth: each cluster with its own nodes against all clusters with all nodes. Every node is one that exists and
// is paid for, bound to its cluster at first, and never returned. Apart, a cluster buys what its own nodes do not hold;
// together it gets the nodes that other clusters do not need first. Pure.

import { type LedgerMachine, MachineState } from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import type { Fleet, Sharing, SharingSide } from './assessment.ts';
import { cents, fleetOfPriced, type Priced, pricesOf } from './fleets.ts';
import { boundMachine } from './machines.ts';
import type { PricedNode } from './priced-nodes.ts';
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
  const sideOf = (some: readonly SharingCluster[], what: string): SharingSide => {
    const existing = some.flatMap(({ demand, name, nodes }) =>
      nodes.map((node) => boundMachine(name, node, demand.usesOf(node.name))),
    );
    const settled = settledFleet(some, existing, catalogue, nowMs, (cycle) =>
      progress(`Sharing, ${what}: cycle ${cycle}`),
    );
    return side(settled, pricesOfNodes);
  };
  const apartByCluster = clusters.map((cluster) => ({
    name: cluster.name,
    ...sideOf([cluster], `${cluster.name} alone`),
  }));
  const together = sideOf(clusters, 'all clusters');
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

function side(
  { machines, unmet, withoutRoom }: SettledFleet,
  pricesOfNodes: ReadonlyMap<string, Priced>,
): SharingSide {
  const isNode = ({ id }: LedgerMachine): boolean => pricesOfNodes.has(id);
  const isFree = ({ state }: LedgerMachine): boolean => state === MachineState.Idle;
  return {
    bought: fleetOfPriced(machines.filter((machine) => !isNode(machine))),
    spare: fleetOfPriced(
      pricesOf(
        machines.filter((machine) => isNode(machine) && isFree(machine)),
        pricesOfNodes,
      ),
    ),
    unmetPods: withoutRoom + unmet.reduce((sum, { pods }) => sum + pods, 0),
  };
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
