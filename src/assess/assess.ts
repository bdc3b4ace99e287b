// The assessment: from what was read of clusters and a catalogue to every figure of the report. Pure; the time is an argument.

import { CapacityType } from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import type { Assessment, CatalogueFacts, ClusterAssessment, FreshFleet } from './assessment.ts';
import { type ClusterDemand, demandOf } from './cluster-demand.ts';
import type { ClusterObjects } from './cluster-objects.ts';
import { cents, fleetOfPriced, type Priced, pricesOf } from './fleets.ts';
import { idleMachine, isRented, nodeId } from './machines.ts';
import { type NodesOfCluster, type PricedNode, pricedNodes } from './priced-nodes.ts';
import { PurchasableMachines } from './purchasable-machines.ts';
import { settledFleet } from './settled.ts';
import { sharingOf } from './sharing.ts';
import { strandedOf } from './stranded.ts';

export interface AssessInput {
  readonly clusters: readonly ClusterObjects[];
  readonly catalogue: CatalogueFacts & { readonly offerings: readonly CatalogueEntry[] };
  readonly nowMs: number;
}

interface ReadCluster {
  readonly objects: ClusterObjects;
  readonly nodes: NodesOfCluster;
  readonly demand: ClusterDemand;
}

/** `progress` is called with what is computed, before each step that may take long. */
export function assess(input: AssessInput, progress: (what: string) => void = () => {}): Assessment {
  const { nowMs } = input;
  const { offerings, ...catalogue } = input.catalogue;
  const clusters = input.clusters.map((objects): ReadCluster => {
    progress(`Adding up the pods of ${objects.name}`);
    const nodes = pricedNodes(objects.nodes, offerings);
    const assessed = new Set(nodes.priced.map(({ name }) => name));
    return { objects, nodes, demand: demandOf(objects, assessed, nowMs) };
  });
  const rented = offerings.filter(isRented);
  const onDemand = rented.filter(({ capacityType }) => capacityType === CapacityType.OnDemand);
  const prices = pricesOfNodes(clusters);
  const fresh = (some: readonly CatalogueEntry[], what: string): FreshFleet =>
    freshFleet(clusters, some, prices, nowMs, (cycle) => progress(`BigFleet ${what}: cycle ${cycle}`));
  const assessments = clusters.map(clusterAssessment);
  return {
    catalogue,
    at: new Date(nowMs).toISOString(),
    now: fleetOfPriced([...prices.values()]),
    clusters: assessments,
    strandedPerHour: cents(
      assessments.flatMap(({ stranded }) => stranded).reduce((sum, each) => sum + each.dollarsPerHour, 0),
    ),
    onDemand: onDemand.length === 0 ? null : fresh(onDemand, 'on demand'),
    withSpot: onDemand.length === rented.length ? null : fresh(rented, 'with spot'),
    sharing:
      clusters.length < 2
        ? null
        : sharingOf(
            clusters.map(({ demand, nodes, objects: { name } }) => ({ name, demand, nodes: nodes.priced })),
            onDemand.length === 0 ? rented : onDemand,
            prices,
            nowMs,
            progress,
          ),
  };
}

function clusterAssessment({ demand, nodes, objects }: ReadCluster): ClusterAssessment {
  return {
    name: objects.name,
    now: fleetOfPriced(nodes.priced.map(priceOf)),
    leftOut: nodes.leftOut,
    needs: demand.needs.length,
    pods: demand.pods.length,
    waitingPods: demand.waiting,
    stranded: strandedOf(nodes.priced, objects.pods),
    notExpressed: demand.left,
    remarks: demand.remarks,
    gaps: objects.gaps,
  };
}

/** From nothing but the nodes that are paid for in any case: owned and reserved ones are free at first. */
function freshFleet(
  clusters: readonly ReadCluster[],
  catalogue: readonly CatalogueEntry[],
  prices: ReadonlyMap<string, Priced>,
  nowMs: number,
  progress: (cycle: number) => void,
): FreshFleet {
  const existing = clusters.flatMap(({ nodes, objects: { name } }) =>
    nodes.priced.filter(({ offering }) => !isRented(offering)).map((node) => idleMachine(name, node, nowMs)),
  );
  const demands = clusters.map(({ demand, objects: { name } }) => ({ name, demand }));
  const { course, machines, unmet, withoutRoom } = settledFleet(
    demands,
    existing,
    new PurchasableMachines(catalogue),
    nowMs,
    progress,
  );
  return {
    ...fleetOfPriced(pricesOf(machines, prices)),
    clusters: demands.map(({ name }) => {
      const own = fleetOfPriced(
        pricesOf(
          machines.filter(({ cluster }) => cluster === name),
          prices,
        ),
      );
      return { name, machines: own.machines, dollarsPerHour: own.dollarsPerHour };
    }),
    ...{ unmet, withoutRoom, course: course.map(cents) },
  };
}

function pricesOfNodes(clusters: readonly ReadCluster[]): ReadonlyMap<string, Priced> {
  return new Map(
    clusters.flatMap(({ nodes, objects: { name } }) =>
      nodes.priced.map((node) => [nodeId(name, node.name), priceOf(node)] as const),
    ),
  );
}

function priceOf({ instanceType, offering: { capacityType, pricePerHour } }: PricedNode): Priced {
  return { instanceType, capacityType, pricePerHour };
}
