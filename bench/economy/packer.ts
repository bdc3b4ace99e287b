// The peer of `bench economy`: a packer that sees every pod, in the style of Karpenter's provisioner. For each cluster, pods
// are sorted by size and put, first fit, onto owned machines, then onto planned nodes. A planned node keeps every offering
// that meets the requirements of all its pods and holds them together; a pod joins it if at least one offering remains.
// When all pods are placed, each planned node becomes the cheapest of its offerings.
//
// As in Karpenter, a node that holds a pod with a narrow requirement (a zone, no spot) is narrow for all its pods, and
// nodes are not rearranged afterwards. Nodes with GPUs are tainted, as people set them up: only pods with GPUs go there.

import { type Amounts, fits, minus, NOTHING, plus } from './amounts.ts';
import type { Offering } from './catalogue.ts';
import { type ClusterDemand, podsIn } from './demand.ts';
import type { Scenario } from './scenario.ts';

export interface PackedPod {
  readonly amounts: Amounts;
  /** By offering: 1 if it may run there. */
  readonly eligible: Uint8Array;
}

export interface PackedNode {
  readonly offering: Offering;
  readonly pods: readonly PackedPod[];
}

export interface PackedCluster {
  readonly name: string;
  readonly nodes: readonly PackedNode[];
}

/** A machine that exists: it is paid in any case. */
interface OwnedNode {
  readonly offering: Offering;
  room: Amounts;
  readonly pods: PackedPod[];
}

interface PlannedNode {
  offerings: readonly Offering[];
  sum: Amounts;
  readonly pods: PackedPod[];
}

export function pack(scenario: Scenario): PackedCluster[] {
  const owned = dealOwned(scenario);
  return scenario.demand.map((cluster) => {
    return { name: cluster.name, nodes: packCluster(scenario, cluster, owned.get(cluster) ?? []) };
  });
}

/** Owned machines go to the clusters in turn, the largest first; those with GPUs to clusters that use GPUs. */
function dealOwned({ catalogue, demand }: Scenario): Map<ClusterDemand, OwnedNode[]> {
  const bySize = [...demand].sort((a, b) => podsIn(b) - podsIn(a));
  const withGpus = bySize.filter(({ groups }) => groups.some(({ pods }) => pods.some(usesGpus)));
  const dealt = new Map<ClusterDemand, OwnedNode[]>();
  const turns = { plain: 0, gpus: 0 };
  for (const offering of catalogue) {
    for (let i = 0; i < (offering.owned ?? 0); i++) {
      const hasGpus = usesGpus(offering.offers) && withGpus.length > 0;
      const cluster = hasGpus
        ? withGpus[turns.gpus++ % withGpus.length]!
        : bySize[turns.plain++ % bySize.length]!;
      dealt.set(cluster, [...(dealt.get(cluster) ?? []), { offering, room: offering.offers, pods: [] }]);
    }
  }
  return dealt;
}

function packCluster(scenario: Scenario, cluster: ClusterDemand, owned: readonly OwnedNode[]): PackedNode[] {
  const planned: PlannedNode[] = [];
  for (const pod of sortedPods(scenario, cluster)) {
    if (owned.some((node) => joinedOwned(node, pod))) continue;
    if (planned.some((node) => joinedPlanned(node, pod))) continue;
    const node: PlannedNode = {
      offerings: scenario.catalogue.filter((each) => each.owned === null),
      sum: NOTHING,
      pods: [],
    };
    if (!joinedPlanned(node, pod)) throw new Error(`no offering holds a pod of ${cluster.name}`);
    planned.push(node);
  }
  return [
    ...owned.filter(({ pods }) => pods.length > 0),
    ...planned.map(({ offerings, pods }) => ({ offering: cheapest(offerings), pods })),
  ];
}

function sortedPods({ eligibility }: Scenario, { groups }: ClusterDemand): PackedPod[] {
  const pods = groups.flatMap(({ profile, pods: sizes }) => {
    const eligible = eligibility.of(profile);
    return sizes.map((amounts) => ({ amounts, eligible }));
  });
  return pods.sort((a, b) => b.amounts[0] - a.amounts[0] || b.amounts[1] - a.amounts[1]);
}

function joinedOwned(node: OwnedNode, pod: PackedPod): boolean {
  const { index, offers } = node.offering;
  if (usesGpus(pod.amounts) !== usesGpus(offers)) return false;
  if (pod.eligible[index] === 0 || !fits(pod.amounts, node.room)) return false;
  node.room = minus(node.room, pod.amounts);
  node.pods.push(pod);
  return true;
}

function joinedPlanned(node: PlannedNode, pod: PackedPod): boolean {
  const sum = plus(node.sum, pod.amounts);
  const holds = ({ index, offers }: Offering): boolean =>
    pod.eligible[index] === 1 && usesGpus(offers) === usesGpus(pod.amounts) && fits(sum, offers);
  if (!node.offerings.some(holds)) return false;
  node.offerings = node.offerings.filter(holds);
  node.sum = sum;
  node.pods.push(pod);
  return true;
}

function usesGpus([, , gpus]: Amounts): boolean {
  return gpus > 0;
}

function cheapest(offerings: readonly Offering[]): Offering {
  return offerings.reduce((best, each) => (each.pricePerHour < best.pricePerHour ? each : best));
}
