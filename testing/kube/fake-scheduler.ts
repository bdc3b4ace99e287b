// A minimal kube-scheduler for the fake API server: the filters that the operator's tests need (resources, node selector
// and affinity, taints, cordons, pod affinity and anti-affinity, hard topology spread, zones of volumes) and the real
// message on pods that do not fit. It neither preempts nor scores; it takes the node with most free CPU.

import type {
  Node,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  TopologySpreadConstraint,
} from '../../src/operator/kube/index.ts';
import type { StoredObject } from './api-resources.ts';
import type { FakeApi } from './fake-api.ts';
import { amountsOf, fits, type NodeRoom, podRequests, roomOf } from './pod-requests.ts';
import { type Labels, matchesExpression, matchesSelector } from './selectors.ts';

/** Changes within this time are handled together, as the real scheduler retries pods after a backoff. */
const DEBOUNCE_MS = 20;

interface Placed {
  readonly pod: Pod;
  readonly labels: Labels;
}

interface View {
  readonly nodes: readonly Node[];
  readonly rooms: Map<string, NodeRoom>;
  /** Pods on nodes. */
  readonly placed: Placed[];
  readonly volumeTerms: (pod: Pod) => readonly (readonly NodeSelectorTerm[])[];
}

export class FakeScheduler {
  readonly #api: FakeApi;
  #cancel: (() => void) | null = null;
  #unsubscribe: () => void = () => {};

  constructor(api: FakeApi) {
    this.#api = api;
  }

  start(): void {
    this.#unsubscribe = this.#api.store.subscribe(({ storageKey, object }) => {
      if (storageKey === '/nodes' || storageKey === '/persistentvolumes') this.#soon();
      // Its own marks are no reason to try again.
      else if (storageKey === '/pods' && !isMarked(object)) this.#soon();
    });
    this.#soon();
  }

  stop(): void {
    this.#unsubscribe();
    this.#cancel?.();
    this.#cancel = null;
  }

  #soon(): void {
    this.#cancel ??= this.#api.clock.after(DEBOUNCE_MS, () => {
      this.#cancel = null;
      this.pass();
    });
  }

  /** Tries each pod that waits, highest priority first. */
  pass(): void {
    const waiting = [...this.#api.store.each('/pods')]
      .filter((pod) => isWaiting(pod as unknown as Pod))
      .sort((a, b) => priorityOf(b) - priorityOf(a) || age(a) - age(b));
    if (waiting.length === 0) return;
    const view = viewOf(this.#api);
    for (const object of waiting) {
      const pod = object as unknown as Pod;
      const reasons = new Map<string, number>();
      const possible = view.nodes.filter((node) => {
        const reason = misfit(pod, node, view);
        if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        return reason === null;
      });
      const best = possible.toSorted(
        (a, b) => freeCpu(view, b) - freeCpu(view, a) || (name(a) < name(b) ? -1 : 1),
      )[0];
      if (best !== undefined) {
        this.#api.bind(object, name(best));
        place(view, pod, best);
      } else this.#mark(object, messageOf(view.nodes.length, reasons));
    }
  }

  #mark(pod: StoredObject, message: string): void {
    const status = (pod['status'] ?? {}) as { conditions?: readonly { type: string; message?: string }[] };
    const conditions = status.conditions ?? [];
    const last = conditions.find(({ type }) => type === 'PodScheduled') as
      | { message?: string; reason?: string; lastTransitionTime?: string }
      | undefined;
    if (last?.reason === 'Unschedulable' && last.message === message) return;
    const lastTransitionTime =
      last?.reason === 'Unschedulable'
        ? last.lastTransitionTime
        : new Date(this.#api.clock.now()).toISOString();
    const mark = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastTransitionTime,
    };
    const others = conditions.filter(({ type }) => type !== 'PodScheduled');
    this.#api.store.put('/pods', { ...pod, status: { ...status, conditions: [...others, mark] } });
  }
}

function place(view: View, pod: Pod, node: Node): void {
  const bound = { ...pod, spec: { ...pod.spec, nodeName: name(node) } };
  view.placed.push({ pod: bound, labels: pod.metadata.labels ?? {} });
  const rest = new Map(view.rooms.get(name(node))!.free);
  for (const [resource, amount] of [...amountsOf(podRequests(pod)), ['pods', 1] as const])
    rest.set(resource, (rest.get(resource) ?? 0) - amount);
  view.rooms.set(name(node), { free: rest });
}

function messageOf(nodes: number, reasons: ReadonlyMap<string, number>): string {
  if (nodes === 0) return 'no nodes available to schedule pods';
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${counted.join(', ')}. preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;
}

function isWaiting({ spec, metadata, status }: Pod): boolean {
  const { phase } = status ?? {};
  return (
    spec.nodeName === undefined &&
    metadata.deletionTimestamp === undefined &&
    phase === 'Pending' &&
    (spec.schedulingGates ?? []).length === 0 &&
    (spec as { schedulerName?: string }).schedulerName === 'default-scheduler'
  );
}

/** Pods with the mark of this scheduler as their latest change. */
function isMarked(object: StoredObject): boolean {
  const pod = object as unknown as Pod;
  return (
    pod.spec.nodeName === undefined &&
    (pod.status?.conditions ?? []).some(
      ({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable',
    )
  );
}

function viewOf(api: FakeApi): View {
  const nodes = [...api.store.each('/nodes')] as unknown as Node[];
  const pods = [...api.store.each('/pods')] as unknown as Pod[];
  const placed = pods.filter(
    ({ spec, status }) =>
      spec.nodeName !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed',
  );
  const volumeTerms = (pod: Pod): readonly (readonly NodeSelectorTerm[])[] =>
    (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => {
      if (persistentVolumeClaim === undefined) return [];
      const claim = api.store.get(
        '/persistentvolumeclaims',
        `${pod.metadata.namespace}/${persistentVolumeClaim.claimName}`,
      );
      const { volumeName = '' } = (claim?.['spec'] ?? {}) as { volumeName?: string };
      const volume = api.store.get('/persistentvolumes', volumeName);
      const { nodeAffinity } = (volume?.['spec'] ?? {}) as {
        nodeAffinity?: { required?: { nodeSelectorTerms: readonly NodeSelectorTerm[] } };
      };
      const byLabel = TOPOLOGY_LABELS.flatMap((key) => {
        const values = volume?.metadata.labels?.[key]?.split('__');
        if (values === undefined) return [];
        // A node without any of these labels is taken, as the real scheduler does.
        const nowhere = TOPOLOGY_LABELS.map((each) => ({ key: each, operator: 'DoesNotExist' }));
        return [[{ matchExpressions: [{ key, operator: 'In', values }] }, { matchExpressions: nowhere }]];
      });
      return nodeAffinity?.required === undefined
        ? byLabel
        : [nodeAffinity.required.nodeSelectorTerms, ...byLabel];
    });
  return {
    nodes,
    rooms: new Map(nodes.map((node) => [name(node), roomOf(node, placed)])),
    placed: placed.map((pod) => ({ pod, labels: pod.metadata.labels ?? {} })),
    volumeTerms,
  };
}

/** Why a pod cannot run on a node, in the words of kube-scheduler; null if it can. Filters in its order. */
function misfit(pod: Pod, node: Node, view: View): string | null {
  const { spec } = pod;
  const labels = node.metadata.labels ?? {};
  if (node.spec?.unschedulable === true && !tolerates(spec.tolerations ?? [], UNSCHEDULABLE))
    return 'node(s) were unschedulable';
  const taint = (node.spec?.taints ?? []).find(
    (each) => each.effect !== 'PreferNoSchedule' && !tolerates(spec.tolerations ?? [], each),
  );
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const isSelected = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  if (!isSelected || (terms !== undefined && !matchesTerms(node, terms)))
    return "node(s) didn't match Pod's node affinity/selector";
  const missing = fits(amountsOf(podRequests(pod)), view.rooms.get(name(node))!);
  if (missing !== null) return missing === 'pods' ? 'Too many pods' : `Insufficient ${missing}`;
  if (view.volumeTerms(pod).some((each) => !matchesTerms(node, each)))
    return 'node(s) had volume node affinity conflict';
  if (!spreads(pod, node, view)) return "node(s) didn't match pod topology spread constraints";
  return affinityMisfit(pod, node, view);
}

/** Labels of a volume that name where it is; values are joined by `__`. */
const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function tolerates(
  tolerations: NonNullable<Pod['spec']['tolerations']>,
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  return tolerations.some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
    if (key === undefined || key === '') return operator === 'Exists';
    return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''));
  });
}

/** One term must match; all of its expressions must. A term without any matches nothing. */
function matchesTerms(node: Node, terms: readonly NodeSelectorTerm[]): boolean {
  return terms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((each) => matchesExpression(node.metadata.labels ?? {}, each)) &&
      matchFields.every((each) => matchesExpression({ 'metadata.name': node.metadata.name }, each))
    );
  });
}

function affinityMisfit(pod: Pod, node: Node, view: View): string | null {
  const labels = node.metadata.labels ?? {};
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const required = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  for (const term of required) {
    const matching = view.placed.filter((each) => isOfTerm(each.pod, term, pod));
    const domain = labels[term.topologyKey];
    if (domain === undefined) return "node(s) didn't match pod affinity rules";
    const isThere = matching.some((each) => domainOf(each.pod, term.topologyKey, view) === domain);
    // The first pod of a group may go anywhere.
    const isFirst = matching.length === 0 && matchesSelector(pod.metadata.labels ?? {}, term.labelSelector);
    if (!isThere && !isFirst) return "node(s) didn't match pod affinity rules";
  }
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const domain = labels[term.topologyKey];
    if (domain === undefined) continue;
    const isThere = view.placed.some(
      (each) => isOfTerm(each.pod, term, pod) && domainOf(each.pod, term.topologyKey, view) === domain,
    );
    if (isThere) return "node(s) didn't match pod anti-affinity rules";
  }
  const isRefused = view.placed.some(({ pod: other }) =>
    (other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
      (term) =>
        isOfTerm(pod, term, other) &&
        labels[term.topologyKey] !== undefined &&
        domainOf(other, term.topologyKey, view) === labels[term.topologyKey],
    ),
  );
  return isRefused ? "node(s) didn't satisfy existing pods anti-affinity rules" : null;
}

/** Whether a pod is meant by a term of `owner`. Namespace selectors are not supported. */
function isOfTerm(pod: Pod, { labelSelector, namespaces }: PodAffinityTerm, owner: Pod): boolean {
  const inNamespaces = namespaces ?? [owner.metadata.namespace ?? ''];
  return (
    inNamespaces.includes(pod.metadata.namespace ?? '') &&
    matchesSelector(pod.metadata.labels ?? {}, labelSelector)
  );
}

function domainOf(pod: Pod, topologyKey: string, view: View): string | undefined {
  const node = view.nodes.find((each) => name(each) === pod.spec.nodeName);
  return node?.metadata.labels?.[topologyKey];
}

function spreads(pod: Pod, node: Node, view: View): boolean {
  return (pod.spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .every((constraint) => isSpread(pod, node, constraint, view));
}

function isSpread(pod: Pod, node: Node, constraint: TopologySpreadConstraint, view: View): boolean {
  const { topologyKey, maxSkew, labelSelector, minDomains = 1 } = constraint;
  const own = node.metadata.labels?.[topologyKey];
  if (own === undefined) return false;
  const counts = new Map<string, number>();
  const { nodeSelector = {}, affinity } = pod.spec;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  for (const each of view.nodes) {
    const domain = each.metadata.labels?.[topologyKey];
    const isEligible =
      Object.entries(nodeSelector).every(([key, value]) => each.metadata.labels?.[key] === value) &&
      (terms === undefined || matchesTerms(each, terms));
    if (domain !== undefined && isEligible) counts.set(domain, counts.get(domain) ?? 0);
  }
  for (const other of view.placed) {
    if (
      other.pod.metadata.namespace !== pod.metadata.namespace ||
      !matchesSelector(other.labels, labelSelector)
    )
      continue;
    if (other.pod.metadata.deletionTimestamp !== undefined) continue;
    const domain = domainOf(other.pod, topologyKey, view);
    if (domain !== undefined && counts.has(domain)) counts.set(domain, counts.get(domain)! + 1);
  }
  const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
  const self = matchesSelector(pod.metadata.labels ?? {}, labelSelector) ? 1 : 0;
  return (counts.get(own) ?? 0) + self - least <= maxSkew;
}

function freeCpu({ rooms }: View, node: Node): number {
  return rooms.get(name(node))!.free.get('cpu') ?? 0;
}

function priorityOf(pod: StoredObject): number {
  return (pod as unknown as Pod).spec.priority ?? 0;
}

function age({ metadata }: StoredObject): number {
  return Number(Date.parse(metadata.creationTimestamp ?? ''));
}

function name({ metadata }: Node): string {
  return metadata.name;
}
