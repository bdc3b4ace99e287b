// A cluster for tests of demand: passes each change to the consumers as a reflector does, keeps the objects, and counts all
// of them from scratch in the plainest way. Only the translation of a single pod is shared with what it is compared with.

import {
  comparePrecedence,
  compareText,
  formatQuantity,
  MAX_UNITS,
  meetsAll,
  type Profile,
  type ResourceVector,
} from '../../src/model/index.ts';
import type { NodeUse } from '../../src/operator/demand/contract.ts';
import type { Demand } from '../../src/operator/demand/demand.ts';
import type { DemandOptions } from '../../src/operator/demand/pod-demand.ts';
import type {
  CapacityRequest,
  DaemonSet,
  KubeObject,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PriorityClass,
} from '../../src/operator/kube/objects.ts';
import type { ObjectConsumer } from '../../src/operator/kube/reflector.ts';
import type { ClusterFacts } from '../../src/operator/pods/constraints.ts';
import {
  type PodRequest,
  translateCapacityRequest,
  translatePod,
} from '../../src/operator/pods/pod-request.ts';
import { podResources } from '../../src/operator/pods/resources.ts';
import type { TranslationSettings } from '../../src/operator/pods/settings.ts';
import { claimNames, termsOfVolume } from '../../src/operator/pods/volumes.ts';
import type { CapacityNeed, PenaltyBucket } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { requirementsToWire } from '../../src/wire/index.ts';

interface Objects {
  pods: Pod;
  capacityrequests: CapacityRequest;
  nodes: Node;
  namespaces: Namespace;
  persistentvolumeclaims: PersistentVolumeClaim;
  persistentvolumes: PersistentVolume;
  daemonsets: DaemonSet;
  priorityclasses: PriorityClass;
  poddisruptionbudgets: PodDisruptionBudget;
}

const KINDS = [
  'pods',
  'capacityrequests',
  'nodes',
  'namespaces',
  'persistentvolumeclaims',
  'persistentvolumes',
  'daemonsets',
  'priorityclasses',
  'poddisruptionbudgets',
] as const satisfies readonly (keyof Objects)[];

interface Counted {
  readonly profile: Profile;
  readonly group: string;
  readonly resources: ResourceVector;
  readonly node: string;
}

export class Cluster {
  readonly demand: Demand;
  readonly #options: DemandOptions;
  readonly #managed: Set<string>;
  readonly #objects = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as {
    readonly [K in keyof Objects]: Map<string, Objects[K]>;
  };
  /** Labels of nodes, those that are gone included: values are remembered. */
  readonly #labels: Record<string, string>[] = [];

  constructor(demand: Demand, options: DemandOptions, managed: Set<string>) {
    this.demand = demand;
    this.#options = options;
    this.#managed = managed;
    for (const kind of KINDS) list(consumerOf(demand, kind), []);
  }

  set<K extends keyof Objects>(kind: K, object: Objects[K]): void {
    this.#objects[kind].set(keyOf(kind, object), object);
    if (kind === 'nodes') this.#labels.push({ ...object.metadata.labels });
    consumerOf(this.demand, kind).set(object);
  }

  remove<K extends keyof Objects>(kind: K, key: string): void {
    const object = this.#objects[kind].get(key);
    if (object === undefined) return;
    this.#objects[kind].delete(key);
    consumerOf(this.demand, kind).remove(object);
  }

  toggleManaged(node: string): void {
    if (!this.#managed.delete(node)) this.#managed.add(node);
    this.demand.nodeChanged(node);
  }

  /** The deletions of one object of each kind are missed, and everything is listed again. */
  relist(): void {
    for (const kind of KINDS) {
      const [first] = this.#objects[kind].keys();
      if (first !== undefined) this.#objects[kind].delete(first);
      list(consumerOf(this.demand, kind), [...this.#objects[kind].values()]);
    }
  }

  /** Pods may be resized while they run, also the only one of a row. */
  resize(nth: number, requests: Record<string, string>): void {
    const pod = this.#nthPod(nth);
    if (pod === undefined) return;
    this.set('pods', {
      ...pod,
      spec: { ...pod.spec, containers: [{ name: 'main', resources: { requests } }] },
    });
  }

  /** A pod ends and is made again as it was, which its row survives. */
  recreate(nth: number): void {
    const pod = this.#nthPod(nth);
    if (pod === undefined) return;
    this.remove('pods', pod.metadata.uid!);
    this.set('pods', pod);
  }

  #nthPod(nth: number): Pod | undefined {
    const pods = [...this.#objects.pods.values()];
    return pods[nth % pods.length];
  }

  /** Reads everything, so that caches are filled before the next change. */
  look(): void {
    this.demand.build(1n, { extraNeeds: [], nodeFacts: undefined });
    for (const name of this.#objects.nodes.keys()) this.demand.useOf(name);
  }

  copyInto(demand: Demand): Demand {
    for (const labels of this.#labels) demand.nodeStateUpdate({ labels: new Map(Object.entries(labels)) });
    for (const kind of KINDS) list(consumerOf(demand, kind), [...this.#objects[kind].values()]);
    return demand;
  }

  /** All rows, as the wire has them. */
  needs(): readonly CapacityNeed[] {
    const rows = new Map<
      string,
      { profile: Profile; group: string; sum: Map<string, bigint>; largest: Map<string, number> }
    >();
    const byNode = new Map<string, Counted[]>();
    for (const counted of this.#counted()) {
      const key = rowKey(counted);
      const row = rows.get(key) ?? { ...counted, sum: new Map(), largest: new Map() };
      rows.set(key, row);
      addTo(row.sum, counted.resources);
      for (const [name, units] of counted.resources)
        row.largest.set(name, Math.max(units, row.largest.get(name) ?? 0));
      byNode.set(counted.node, [...(byNode.get(counted.node) ?? []), counted]);
    }
    for (const pod of this.#objects.pods.values()) {
      const node = pod.spec.nodeName ?? '';
      if (node === '' || !isOverhead(pod) || isOver(pod)) continue;
      const best = byNode.get(node)?.sort(byRank)[0];
      const { resources, problem } = podResources(pod);
      if (best !== undefined && problem === null) addTo(rows.get(rowKey(best))!.sum, resources);
    }
    return [...rows.values()].map(({ profile, group, sum, largest }) => {
      for (const daemon of this.#objects.daemonsets.values()) {
        const template = daemon.spec.template.spec;
        const { resources, problem } = podResources({ spec: template });
        if (problem !== null || !mayRunOn(template, profile, this.#options.translation)) continue;
        for (const [name, units] of resources)
          largest.set(name, Math.min(MAX_UNITS, units + (largest.get(name) ?? 0)));
      }
      return {
        requirements: requirementsToWire(profile.requirements),
        aggregateResources: new Map([...sum].map(([name, units]) => [name, textOf(name, units)])),
        priority: profile.priority,
        spread: [...profile.spread],
        interruptionPenaltyBucket: profile.interruptionBucket as PenaltyBucket,
        reclamationPenaltyBucket: profile.reclamationBucket as PenaltyBucket,
        minUnit: new Map([...largest].map(([name, units]) => [name, formatQuantity(units, name)])),
        group,
      };
    });
  }

  useOf(node: string): NodeUse | null {
    if (!this.#objects.nodes.has(node)) return null;
    const pods = [...this.#objects.pods.values()].filter(
      (pod) => pod.spec.nodeName === node && !isOverhead(pod) && !isFinished(pod),
    );
    const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const isTight = this.#objects.poddisruptionbudgets.get('ns1/web')?.status?.disruptionsAllowed === 0;
    return {
      pods: pods.length,
      doNotDisrupt: staying.filter(
        ({ metadata }) => metadata.annotations?.['karpenter.sh/do-not-disrupt'] !== undefined,
      ).length,
      // The eviction API asks no budget for a pod that has not run yet.
      withoutBudget: staying.filter(
        ({ metadata, status }) => isTight && metadata.namespace === 'ns1' && status?.phase !== 'Pending',
      ).length,
    };
  }

  *#counted(): Generator<Counted> {
    const facts = this.#facts();
    const counting = new Set<string>();
    for (const [uid, pod] of this.#objects.pods) {
      if (!this.#counts(pod)) continue;
      const request = translatePod(pod, this.#volumesOf(pod), facts);
      const node = pod.spec.nodeName ?? '';
      const isMissing =
        node === '' &&
        claimNames(pod).some(
          (claim) => !this.#objects.persistentvolumeclaims.has(`${pod.metadata.namespace}/${claim}`),
        );
      if (request.problem !== null || isMissing) continue;
      counting.add(uid);
      yield { ...request, node, profile: this.#alternative(request, node) };
    }
    for (const each of this.#objects.capacityrequests.values()) {
      if (this.#isIgnoredNamespace(each)) continue;
      const uid = each.metadata.labels?.['bigfleet.lucy.sh/owned-by-pod'] ?? '';
      const owner = this.#objects.pods.get(uid);
      if (owner !== undefined && (counting.has(uid) || !isWaiting(owner) || !this.#isOptedIn(owner)))
        continue;
      const request = translateCapacityRequest(each, facts);
      if (request.problem === null) yield { ...request, node: '', profile: request.profiles[0]! };
    }
  }

  #counts(pod: Pod): boolean {
    const { spec, status } = pod;
    if (isOver(pod) || isOverhead(pod) || isIgnored(pod) || this.#isIgnoredNamespace(pod)) return false;
    if (spec.nodeName !== undefined) return this.#managed.has(spec.nodeName);
    if (spec.schedulingGates !== undefined || status?.conditions === undefined) return false;
    return this.#isOptedIn(pod);
  }

  #isOptedIn({ metadata }: Pod): boolean {
    const label = metadata.labels?.['bigfleet.lucy.sh/opt-in'];
    const ofNamespace = this.#objects.namespaces.get(metadata.namespace ?? '')?.metadata.labels ?? {};
    return this.#options.mode === 'all' || (label ?? ofNamespace['bigfleet.lucy.sh/opt-in']) === 'true';
  }

  #isIgnoredNamespace({ metadata }: KubeObject): boolean {
    const labels = this.#objects.namespaces.get(metadata.namespace ?? '')?.metadata.labels ?? {};
    return 'bigfleet.lucy.sh/ignore' in labels;
  }

  #alternative({ profiles }: PodRequest, node: string): Profile {
    const known = this.#objects.nodes.get(node);
    if (known === undefined) return profiles[0]!;
    const labels = new Map(Object.entries(known.metadata.labels ?? {}));
    return (
      profiles.find(({ requirements }) => meetsAll({ instanceType: '', zone: '', labels }, requirements)) ??
      profiles[0]!
    );
  }

  #volumesOf(pod: Pod) {
    return claimNames(pod).flatMap((name) => {
      const claim = this.#objects.persistentvolumeclaims.get(`${pod.metadata.namespace}/${name}`);
      const volume = this.#objects.persistentvolumes.get(claim?.spec.volumeName ?? '');
      const terms = volume === undefined ? null : termsOfVolume(volume);
      return terms === null ? [] : [terms];
    });
  }

  #facts(): ClusterFacts {
    return {
      settings: this.#options.translation,
      seenValues: (key) => this.#labels.flatMap((labels) => labels[key] ?? []),
      priorityOfClass: (name) => this.#objects.priorityclasses.get(name ?? '')?.value ?? null,
    };
  }
}

/** Labels of machines that may be bought: all that the events of the tests name, and a value that none of them names. */
const MACHINES: readonly ReadonlyMap<string, string>[] = combinations([
  ['topology.kubernetes.io/zone', ['a', 'b', 'other']],
  ['pool', [undefined, 'gpu', 'other']],
  ['size', [undefined, '2', '8', 'other']],
  ['x', [undefined, '1', 'other']],
  ['kubernetes.io/arch', ['amd64', 'other']],
  ['kubernetes.io/os', ['linux']],
  ['node.kubernetes.io/instance-type', ['other']],
]);

function combinations(
  domains: readonly (readonly [string, readonly (string | undefined)[]])[],
): readonly ReadonlyMap<string, string>[] {
  let all: readonly ReadonlyMap<string, string>[] = [new Map()];
  for (const [key, values] of domains)
    all = all.flatMap((labels) =>
      values.map((value) => (value === undefined ? labels : new Map(labels).set(key, value))),
    );
  return all;
}

const answers = new Map<string, boolean>();

/** Whether some machine of a profile may run the pods of a DaemonSet. `Same` says that the label exists. */
function mayRunOn(template: Pod['spec'], { requirements }: Profile, settings: TranslationSettings): boolean {
  const { nodeSelector = {}, tolerations = [] } = template;
  const key = JSON.stringify([requirements, nodeSelector, tolerations]);
  const known = answers.get(key);
  if (known !== undefined) return known;
  const answer = MACHINES.some((labels) => {
    const isTainted = settings.taints.some(({ selector }) =>
      Object.entries(selector.matchLabels ?? {}).every(([label, value]) => labels.get(label) === value),
    );
    return (
      meetsAll({ instanceType: '', zone: '', labels }, requirements.filter(isOfMachine)) &&
      Object.entries(nodeSelector).every(([label, value]) => labels.get(label) === value) &&
      (!isTainted || tolerations.length > 0)
    );
  });
  answers.set(key, answer);
  return answer;
}

/** A machine that is bought has a name of its own, whatever a row says. */
function isOfMachine({ key }: { readonly key: string }): boolean {
  return key !== 'kubernetes.io/hostname';
}

function consumerOf<K extends keyof Objects>(demand: Demand, kind: K): ObjectConsumer<Objects[K]> {
  return demand.consumers[kind] as unknown as ObjectConsumer<Objects[K]>;
}

function list<T extends KubeObject>(consumer: ObjectConsumer<T>, objects: readonly T[]): void {
  consumer.listing();
  for (const object of objects) consumer.set(object);
  consumer.listed();
}

function keyOf(kind: keyof Objects, { metadata }: KubeObject): string {
  if (kind === 'pods' || kind === 'capacityrequests') return metadata.uid!;
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}

function rowKey({ profile, group }: Pick<Counted, 'profile' | 'group'>): string {
  return JSON.stringify([profile.fingerprint, group]);
}

function byRank(a: Counted, b: Counted): number {
  return (
    comparePrecedence(b.profile, a.profile) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint) ||
    compareText(a.group, b.group)
  );
}

function addTo(sum: Map<string, bigint>, resources: ResourceVector): void {
  for (const [name, units] of resources) sum.set(name, (sum.get(name) ?? 0n) + BigInt(units));
}

function textOf(name: string, units: bigint): string {
  if (units <= BigInt(MAX_UNITS)) return formatQuantity(Number(units), name);
  return name === 'cpu' ? `${units}m` : String(units);
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function isOver(pod: Pod): boolean {
  return isFinished(pod) || pod.metadata.deletionTimestamp !== undefined;
}

function isOverhead({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node') ?? false;
}

function isIgnored({ metadata }: Pod): boolean {
  return metadata.annotations?.['bigfleet.lucy.sh/ignore'] === 'true';
}

/** A pod that a CapacityRequest may speak for. */
function isWaiting(pod: Pod): boolean {
  return (
    pod.spec.nodeName === undefined &&
    !isOver(pod) &&
    !isOverhead(pod) &&
    !isIgnored(pod) &&
    podResources(pod).problem === null
  );
}

/** Rows in one order, maps as sorted lists, so that equal demand is equal. */
export function wireOf(needs: readonly CapacityNeed[]): readonly string[] {
  const entries = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => compareText(a, b));
  return needs
    .map((need) =>
      JSON.stringify({
        ...need,
        aggregateResources: entries(need.aggregateResources),
        minUnit: entries(need.minUnit),
      }),
    )
    .sort();
}
