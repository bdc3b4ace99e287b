// Nodes with their prices: the offering of the catalogue that a node is, by its labels. A node that has none, and the nodes of
// the control plane, are left out of every figure together with their pods. Pure.

import {
  CapacityType,
  INSTANCE_TYPE_KEY,
  parseQuantity,
  type ResourceVector,
  ZONE_KEY,
} from '../model/index.ts';
import type { Node, ResourceList } from '../operator/kube/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';

export interface PricedNode {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly instanceType: string;
  readonly zone: string;
  readonly offering: CatalogueEntry;
  readonly allocatable: ResourceVector;
}

/** Nodes that are left out, by what they are. */
export interface LeftOut {
  readonly instanceType: string;
  readonly reason: 'not in the catalogue' | 'no instance type' | 'control plane';
  readonly nodes: number;
}

export interface NodesOfCluster {
  readonly priced: readonly PricedNode[];
  readonly leftOut: readonly LeftOut[];
}

const { BareMetal, OnDemand, Reserved, Spot } = CapacityType;

const CONTROL_PLANE = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** Labels that say how a node is paid for, by Karpenter and by the managed Kubernetes of some clouds. */
const CAPACITY_LABELS: readonly (readonly [key: string, value: string, type: CapacityType])[] = [
  ['karpenter.sh/capacity-type', 'spot', Spot],
  ['karpenter.sh/capacity-type', 'on-demand', OnDemand],
  ['karpenter.sh/capacity-type', 'reserved', Reserved],
  ['eks.amazonaws.com/capacityType', 'SPOT', Spot],
  ['eks.amazonaws.com/capacityType', 'ON_DEMAND', OnDemand],
  ['cloud.google.com/gke-spot', 'true', Spot],
  ['cloud.google.com/gke-preemptible', 'true', Spot],
  ['kubernetes.azure.com/scalesetpriority', 'spot', Spot],
];

/** The order in which a node that does not say how it is paid for is looked up. */
const WITHOUT_LABEL = [OnDemand, Reserved, BareMetal, Spot];

export function pricedNodes(nodes: readonly Node[], catalogue: readonly CatalogueEntry[]): NodesOfCluster {
  const priced: PricedNode[] = [];
  const leftOut = new Map<string, { -readonly [key in keyof LeftOut]: LeftOut[key] }>();
  const leave = (instanceType: string, reason: LeftOut['reason']): void => {
    const key = `${reason} ${instanceType}`;
    const known = leftOut.get(key) ?? { instanceType, reason, nodes: 0 };
    known.nodes++;
    leftOut.set(key, known);
  };
  for (const { metadata, status } of nodes) {
    const labels = metadata.labels ?? {};
    const instanceType = labels[INSTANCE_TYPE_KEY] ?? '';
    if (CONTROL_PLANE.some((key) => labels[key] !== undefined)) {
      leave(instanceType, 'control plane');
      continue;
    }
    const zone = labels[ZONE_KEY] ?? '';
    const offering = offeringOf(catalogue, instanceType, zone, labels);
    if (offering === undefined) {
      const capacity = capacityTypeOf(labels) === Spot ? ' (spot)' : '';
      if (instanceType === '') leave(instanceType, 'no instance type');
      else leave(`${instanceType}${capacity}`, 'not in the catalogue');
      continue;
    }
    const allocatable = vectorOf(status?.allocatable ?? status?.capacity ?? {});
    priced.push({
      name: metadata.name,
      labels: new Map(Object.entries(labels)),
      ...{ instanceType, zone, offering, allocatable },
    });
  }
  return { priced, leftOut: [...leftOut.values()].sort((a, b) => b.nodes - a.nodes) };
}

/** That of its type and capacity type, in its zone if the catalogue has that zone. */
function offeringOf(
  catalogue: readonly CatalogueEntry[],
  instanceType: string,
  zone: string,
  labels: Readonly<Record<string, string>>,
): CatalogueEntry | undefined {
  const said = capacityTypeOf(labels);
  const ofType = catalogue.filter((entry) => entry.instanceType === instanceType);
  for (const wanted of said === undefined ? WITHOUT_LABEL : [said]) {
    const found = ofType.filter(({ capacityType }) => capacityType === wanted);
    const best = found.find(({ zones }) => zones.includes(zone)) ?? found[0];
    if (best !== undefined) return best;
  }
  return undefined;
}

function capacityTypeOf(labels: Readonly<Record<string, string>>): CapacityType | undefined {
  return CAPACITY_LABELS.find(([key, value]) => labels[key] === value)?.[2];
}

/** An amount that cannot be read counts as none. */
function vectorOf(list: ResourceList): ResourceVector {
  const vector = new Map<string, number>();
  for (const [name, text] of Object.entries(list)) {
    try {
      const units = parseQuantity(String(text), name, 'down');
      if (units > 0) vector.set(name, units);
    } catch {
      // The API server checks quantities; one that is new to this version is left out.
    }
  }
  return vector;
}
