// What nodes have and no pod requests, per resource and in dollars. Each node's price is split over the resources that its
// kind is bought for: its accelerators if it has any, else half for cores and half for memory. Pure.

import { isAccelerator, type ResourceVector } from '../model/index.ts';
import { podResources } from '../operator/demand/index.ts';
import type { Pod } from '../operator/kube/index.ts';
import type { PricedNode } from './priced-nodes.ts';

export interface StrandedResource {
  readonly resource: string;
  readonly allocatable: number;
  readonly requested: number;
  /** `allocatable` minus `requested`, node by node and never below zero. */
  readonly stranded: number;
  /** 0 for a resource that no price is split over. */
  readonly dollarsPerHour: number;
}

const FINISHED = ['Succeeded', 'Failed'];
/** Limits on the number of pods, and nothing that a machine is bought for. */
const NOT_SHOWN = ['pods'];

export function strandedOf(nodes: readonly PricedNode[], pods: readonly Pod[]): readonly StrandedResource[] {
  const requested = requestsByNode(pods);
  const sums = new Map<string, { -readonly [key in keyof StrandedResource]: StrandedResource[key] }>();
  for (const { name, allocatable, offering } of nodes) {
    const priced = pricedResources(allocatable);
    for (const [resource, has] of allocatable) {
      if (NOT_SHOWN.includes(resource)) continue;
      const used = requested.get(name)?.get(resource) ?? 0;
      const free = Math.max(0, has - used);
      const known = sums.get(resource) ?? {
        ...{ resource, allocatable: 0, requested: 0, stranded: 0, dollarsPerHour: 0 },
      };
      sums.set(resource, known);
      known.allocatable += has;
      known.requested += used;
      known.stranded += free;
      if (priced.includes(resource))
        known.dollarsPerHour += ((offering.pricePerHour / priced.length) * free) / has;
    }
  }
  return [...sums.values()].sort(
    (a, b) => b.dollarsPerHour - a.dollarsPerHour || (a.resource < b.resource ? -1 : 1),
  );
}

function pricedResources(allocatable: ResourceVector): readonly string[] {
  const accelerators = [...allocatable.keys()].filter(isAccelerator);
  return accelerators.length > 0 ? accelerators : ['cpu', 'memory'].filter((name) => allocatable.has(name));
}

/** All pods that hold resources of a node, those of DaemonSets included. */
function requestsByNode(pods: readonly Pod[]): ReadonlyMap<string, ResourceVector> {
  const byNode = new Map<string, Map<string, number>>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? '';
    if (node === '' || FINISHED.includes(pod.status?.phase ?? '')) continue;
    const sum = byNode.get(node) ?? new Map<string, number>();
    byNode.set(node, sum);
    for (const [name, units] of podResources(pod).resources) sum.set(name, (sum.get(name) ?? 0) + units);
  }
  return byNode;
}
