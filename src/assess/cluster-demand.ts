// The demand that the operator would report for a cluster, made by the operator's own code from lists: the Needs, the pods
// behind them, and what a Need cannot express. Pure.

import type { Need, ResourceVector } from '../model/index.ts';
import { claimNames, DEFAULT_TRANSLATION, Demand, podResources } from '../operator/demand/index.ts';
import type { KubeObject, Pod } from '../operator/kube/index.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { RollupIntake } from '../wire/index.ts';
import type { ClusterObjects, SupportingKind } from './cluster-objects.ts';

/** A pod that counts for a Need. */
export interface DemandPod {
  readonly uid: string;
  readonly fingerprint: string;
  readonly group: string;
  readonly resources: ResourceVector;
  /** '' for a pod that waits. */
  readonly node: string;
}

/** One thing that Needs cannot express, and the pods that ask for it. */
export interface Remark {
  readonly text: string;
  readonly pods: number;
  /** NAMESPACE/NAME of some of them. */
  readonly examples: readonly string[];
}

export interface ClusterDemand {
  readonly needs: readonly Need[];
  readonly pods: readonly DemandPod[];
  /** Pods that are in no Need, by reason. */
  readonly left: readonly Remark[];
  /** Pods that are in a Need which does not say all that they ask for, by what it leaves out. */
  readonly remarks: readonly Remark[];
  /** Pods that wait for a node now and count. */
  readonly waiting: number;
  /** Requests of the DaemonSet pods on a fresh machine for a Need. */
  readonly daemonsOnFreshNode: (fingerprint: string) => ResourceVector;
  readonly usesOf: (node: string) => 'empty' | 'in-use' | 'protected' | undefined;
}

const MAX_EXAMPLES = 5;

/** `assessed`: names of the nodes whose pods count. Pods that wait for a node count as well. */
export function demandOf(
  cluster: ClusterObjects,
  assessed: ReadonlySet<string>,
  nowMs: number,
): ClusterDemand {
  const demand = new Demand(cluster.name, {
    mode: 'all',
    translation: DEFAULT_TRANSLATION,
    alternativePatienceMs: Number.MAX_SAFE_INTEGER,
    joinTimeoutMs: Number.MAX_SAFE_INTEGER,
    isManaged: (node) => assessed.has(node),
    clock: new VirtualClock(nowMs),
  });
  listInto(demand, cluster);
  const rollup = demand.build(BigInt(nowMs) * 1_000_000n, { extraNeeds: [], nodeFacts: undefined });
  if (rollup === null) throw new Error(demand.problem ?? 'there is no roll-up');
  const intake = new RollupIntake(cluster.name).read(rollup.bytes);
  const needs = intake.kind === 'changed' ? intake.needs : [];
  const named = new Map(cluster.pods.map((pod) => [uidOf(pod), pod]));
  const left = new Remarks();
  const remarks = new Remarks();
  const pods: DemandPod[] = [];
  let waiting = 0;
  for (const { uid, row, resources, remarks: ofShape, problem } of demand.countedPods()) {
    const pod = named.get(uid);
    if (row === null) {
      left.add(problem ?? 'It is in no Need.', pod);
      continue;
    }
    const node = pod?.spec.nodeName ?? '';
    pods.push({ uid, ...row, resources, node });
    if (node === '') waiting++;
    if (pod === undefined) continue;
    for (const text of [...ofShape, ...podResources(pod).remarks]) remarks.add(text, pod);
  }
  for (const { isUnreadable, problem, uid } of demand.uncounted())
    if (isUnreadable) left.add(problem, named.get(uid));
  return {
    needs,
    pods,
    left: left.list(),
    remarks: remarks.list(),
    waiting,
    daemonsOnFreshNode: (fingerprint) => demand.daemonsOnFreshNode(fingerprint),
    usesOf: (node) => {
      const use = demand.useOf(node);
      if (use === null) return undefined;
      if (use.doNotDisrupt + use.withoutBudget > 0) return 'protected';
      return use.pods === 0 ? 'empty' : 'in-use';
    },
  };
}

function listInto({ consumers }: Demand, { pods, nodes, supporting }: ClusterObjects): void {
  const list = <T extends KubeObject>(
    consumer: { listing(): void; set(object: T): void; listed(): void },
    objects: readonly KubeObject[],
  ): void => {
    consumer.listing();
    // The kind of each list is known from how it was read.
    for (const object of objects) consumer.set(object as T);
    consumer.listed();
  };
  const of = (kind: SupportingKind): readonly KubeObject[] => supporting[kind] ?? [];
  list(consumers.namespaces, of('namespaces'));
  list(consumers.priorityclasses, of('priorityclasses'));
  list(consumers.daemonsets, of('daemonsets'));
  list(consumers.persistentvolumes, of('persistentvolumes'));
  list(consumers.persistentvolumeclaims, supporting.persistentvolumeclaims ?? claimsIn(pods));
  list(consumers.poddisruptionbudgets, of('poddisruptionbudgets'));
  list(consumers.capacityrequests, []);
  list(consumers.nodes, nodes);
  list(consumers.pods, pods);
}

/** Where claims could not be read, those that pods name exist: a pod must not count as waiting for one. */
function claimsIn(pods: readonly Pod[]): readonly KubeObject[] {
  return pods
    .filter(({ spec }) => typeof spec === 'object' && spec !== null)
    .flatMap((pod) =>
      claimNames(pod).map((name) => ({
        metadata: { name, namespace: pod.metadata.namespace ?? '' },
        spec: {},
      })),
    );
}

/** As the demand names pods. */
function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? `${metadata.namespace ?? ''}/${metadata.name}`;
}

class Remarks {
  readonly #byText = new Map<string, { pods: number; examples: string[] }>();

  add(text: string, pod: Pod | undefined): void {
    const known = this.#byText.get(text) ?? { pods: 0, examples: [] };
    this.#byText.set(text, known);
    known.pods++;
    if (pod !== undefined && known.examples.length < MAX_EXAMPLES)
      known.examples.push(`${pod.metadata.namespace ?? ''}/${pod.metadata.name}`);
  }

  /** Those of most pods first. */
  list(): readonly Remark[] {
    return [...this.#byText]
      .map(([text, { pods, examples }]) => ({ text, pods, examples }))
      .sort((a, b) => b.pods - a.pods || (a.text < b.text ? -1 : 1));
  }
}
