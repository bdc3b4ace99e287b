// Minimal controllers for the fake API server: Deployments (rolling), DaemonSets, status of PodDisruptionBudgets, garbage
// collection of pods, and nodes that lost their heartbeat. They look at everything shortly after each change, which is
// enough for hundreds of pods.

import type { Lease } from '../../src/operator/kube/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { StoredObject } from './api-resources.ts';
import { isReady, selects } from './evictions.ts';
import type { FakeApi } from './fake-api.ts';
import { isEqual, type Json } from './patches.ts';

const DEBOUNCE_MS = 10;

export interface ControllerSettings {
  readonly nodeMonitorGraceMs: number;
  /** How long a pod may name a node that does not exist. The real one takes 40 to 60 s. */
  readonly orphanMs: number;
}

interface Workload {
  readonly replicas?: number;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: { readonly metadata?: Json; readonly spec: Json };
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
}

export class FakeControllers {
  readonly #api: FakeApi;
  readonly #clock: Clock;
  readonly #settings: ControllerSettings;
  #unsubscribe: () => void = () => {};
  #cancel: (() => void) | null = null;
  #cancelTick: () => void = () => {};
  /** When a pod was first seen on a missing node. */
  readonly #orphans = new Map<string, number>();

  constructor(api: FakeApi, settings: ControllerSettings) {
    this.#api = api;
    this.#clock = api.clock;
    this.#settings = settings;
  }

  start(): void {
    this.#unsubscribe = this.#api.store.subscribe(({ storageKey }) => {
      if (/pods$|nodes$|deployments$|daemonsets$|budgets$|replicasets$/.test(storageKey)) this.#soon();
    });
    this.#soon();
    const tick = (): void => {
      this.#cancelTick = this.#clock.after(1000, () => {
        this.#soon();
        tick();
      });
    };
    tick();
  }

  stop(): void {
    this.#unsubscribe();
    this.#cancelTick();
    this.#cancel?.();
    this.#cancel = null;
  }

  #soon(): void {
    this.#cancel ??= this.#clock.after(DEBOUNCE_MS, () => {
      this.#cancel = null;
      this.#pass();
    });
  }

  #pass(): void {
    const { store } = this.#api;
    this.#collect();
    for (const deployment of store.all('apps/deployments')) this.#deploy(deployment);
    for (const set of store.all('apps/daemonsets')) this.#daemon(set);
    for (const budget of store.all('policy/poddisruptionbudgets')) this.#budget(budget);
    this.#monitor();
  }

  /** A Deployment owns its pods through a ReplicaSet per template; a rollout adds one pod before it removes one. */
  #deploy(deployment: StoredObject): void {
    const { replicas = 1, template } = deployment['spec'] as Workload;
    const hash = hashOf(template);
    const owner = this.#replicaSet(deployment, hash);
    const all = this.#podsOf(deployment).filter(isLive);
    const [current, old] = [
      all.filter((pod) => hashLabel(pod) === hash),
      all.filter((pod) => hashLabel(pod) !== hash),
    ];
    const room = old.length === 0 ? replicas : Math.min(replicas, replicas + 1 - old.length);
    for (let i = current.length; i < room; i++)
      this.#createPod(deployment, template, owner, { 'pod-template-hash': hash });
    for (const pod of current.slice(replicas)) this.#delete(pod);
    const ready = current.filter(isReady).length;
    const excess = Math.min(old.length, ready + old.filter(isReady).length - replicas);
    for (const pod of old
      .toSorted((a, b) => Number(isReady(a)) - Number(isReady(b)))
      .slice(0, Math.max(excess, old.filter((each) => !isReady(each)).length)))
      this.#delete(pod);
    const status = {
      replicas: all.length,
      updatedReplicas: current.length,
      readyReplicas: all.filter(isReady).length,
      availableReplicas: all.filter(isReady).length,
    };
    this.#status('apps/deployments', deployment, status);
  }

  #replicaSet(deployment: StoredObject, hash: string): StoredObject {
    const { namespace, name } = deployment.metadata;
    const own = `${name}-${hash}`;
    const found = this.#api.store.get('apps/replicasets', `${namespace}/${own}`);
    if (found !== undefined) return found;
    const metadata = { name: own, ownerReferences: [referenceTo(deployment)] };
    return this.#api.admin('POST', `/apis/apps/v1/namespaces/${namespace}/replicasets`, {
      metadata,
      spec: deployment['spec'],
    }) as StoredObject;
  }

  #daemon(set: StoredObject): void {
    const { template } = set['spec'] as Workload;
    const pods = this.#podsOf(set).filter(isLive);
    const nodes = [...this.#api.store.each('/nodes')].map(({ metadata }) => metadata.name);
    for (const node of nodes) {
      if (pods.some((pod) => daemonNode(pod) === node)) continue;
      const terms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }];
      const affinity = {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
      };
      const keys = [
        'not-ready',
        'unreachable',
        'disk-pressure',
        'memory-pressure',
        'pid-pressure',
        'unschedulable',
      ];
      const tolerations = [
        ...((template.spec['tolerations'] ?? []) as readonly unknown[]),
        ...keys.map((key) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists' })),
      ];
      this.#createPod(set, { ...template, spec: { ...template.spec, affinity, tolerations } }, set, {});
    }
    for (const pod of pods) if (!nodes.includes(daemonNode(pod) ?? '')) this.#delete(pod);
  }

  #createPod(
    workload: StoredObject,
    template: Workload['template'],
    owner: StoredObject,
    labels: Json,
  ): void {
    const { namespace } = workload.metadata;
    const given = template.metadata ?? {};
    const metadata = {
      ...given,
      generateName: `${owner.metadata.name}-`,
      labels: { ...(given['labels'] as Json | undefined), ...labels },
      ownerReferences: [referenceTo(owner)],
    };
    try {
      this.#api.admin('POST', `/api/v1/namespaces/${namespace}/pods`, { metadata, spec: template.spec });
    } catch {
      // Refused, for example because its priority class is missing: tried again with the next change.
    }
  }

  #podsOf(workload: StoredObject): readonly StoredObject[] {
    const { matchLabels } = (workload['spec'] as Workload).selector;
    return this.#api.store
      .all('/pods')
      .filter(
        ({ metadata }) =>
          metadata.namespace === workload.metadata.namespace &&
          Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
      );
  }

  #budget(budget: StoredObject): void {
    const { minAvailable, maxUnavailable } = budget['spec'] as unknown as Workload;
    const pods = this.#api.store.all('/pods').filter((pod) => selects(budget, pod) && isLive(pod));
    const healthy = pods.filter(isReady).length;
    const desired =
      minAvailable === undefined
        ? pods.length - share(maxUnavailable ?? 1, pods.length)
        : share(minAvailable, pods.length);
    this.#status('policy/poddisruptionbudgets', budget, {
      disruptionsAllowed: Math.max(0, pods.length === 0 ? 0 : healthy - desired),
      currentHealthy: healthy,
      desiredHealthy: desired,
      expectedPods: pods.length,
      observedGeneration: (budget.metadata as { generation?: number }).generation ?? 1,
    });
  }

  /** Objects whose owner is gone, and pods whose node is gone. */
  #collect(): void {
    const { store } = this.#api;
    const uids = new Set<string | undefined>();
    for (const key of ['apps/deployments', 'apps/replicasets', 'apps/daemonsets', '/pods', '/nodes'])
      for (const object of store.each(key)) uids.add(object.metadata.uid);
    const isOrphan = ({ metadata }: StoredObject): boolean =>
      (metadata.ownerReferences ?? []).length > 0 &&
      metadata.ownerReferences!.every(
        ({ uid, kind }) =>
          ['Deployment', 'ReplicaSet', 'DaemonSet', 'Pod', 'Node'].includes(kind) && !uids.has(uid),
      );
    for (const set of store.all('apps/replicasets')) if (isOrphan(set)) store.remove('apps/replicasets', set);
    const nodes = new Set([...store.each('/nodes')].map(({ metadata }) => metadata.name));
    for (const pod of store.all('/pods')) {
      if (isOrphan(pod) && isLive(pod)) this.#delete(pod);
      const { nodeName } = pod['spec'] as { nodeName?: string };
      const uid = pod.metadata.uid!;
      if (nodeName === undefined || nodes.has(nodeName)) this.#orphans.delete(uid);
      else {
        const sinceMs = this.#orphans.get(uid) ?? this.#clock.now();
        this.#orphans.set(uid, sinceMs);
        if (this.#clock.now() - sinceMs < this.#settings.orphanMs) continue;
        this.#orphans.delete(uid);
        this.#delete(pod, 0);
      }
    }
  }

  /** Nodes without heartbeat become unreachable; their pods go when their toleration ends. */
  #monitor(): void {
    const { store } = this.#api;
    const nowMs = this.#clock.now();
    for (const node of store.all('/nodes')) {
      const lease = store.get('coordination.k8s.io/leases', `kube-node-lease/${node.metadata.name}`) as
        | Lease
        | undefined;
      const renewedMs = Date.parse(lease?.spec?.renewTime ?? node.metadata.creationTimestamp ?? '');
      const isLost = nowMs - renewedMs > this.#settings.nodeMonitorGraceMs;
      const spec = (node['spec'] ?? {}) as {
        taints?: readonly { key: string; effect: string; timeAdded?: string }[];
      };
      const taints = spec.taints ?? [];
      const lost = taints.find(({ key, effect }) => key === UNREACHABLE && effect === 'NoExecute');
      if (isLost && lost === undefined) {
        const timeAdded = new Date(nowMs).toISOString();
        const added = ['NoSchedule', 'NoExecute'].map((effect) => ({ key: UNREACHABLE, effect, timeAdded }));
        const status = node['status'] as { conditions?: readonly { type: string }[] } | undefined;
        const conditions = (status?.conditions ?? []).map((each) =>
          each.type === 'Ready'
            ? { ...each, status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: timeAdded }
            : each,
        );
        store.put('/nodes', {
          ...node,
          spec: { ...spec, taints: [...taints, ...added] },
          status: { ...status, conditions },
        });
      } else if (!isLost && lost !== undefined)
        store.put('/nodes', {
          ...node,
          spec: { ...spec, taints: taints.filter(({ key }) => key !== UNREACHABLE) },
        });
      else if (lost !== undefined)
        this.#evictFrom(node.metadata.name, nowMs - Date.parse(lost.timeAdded ?? ''));
    }
  }

  #evictFrom(nodeName: string, lostMs: number): void {
    for (const pod of this.#api.store.all('/pods')) {
      const spec = pod['spec'] as {
        nodeName?: string;
        tolerations?: readonly { key?: string; operator?: string; tolerationSeconds?: number }[];
      };
      if (spec.nodeName !== nodeName || !isLive(pod)) continue;
      const toleration = (spec.tolerations ?? []).find(
        ({ key, operator }) => key === UNREACHABLE || (key === undefined && operator === 'Exists'),
      );
      const seconds =
        toleration === undefined ? 0 : (toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY);
      if (lostMs >= seconds * 1000) this.#delete(pod);
    }
  }

  #status(storageKey: string, object: StoredObject, status: Json): void {
    const last = (object['status'] ?? {}) as Json;
    // Evicted pods stay in the budget's list until they are gone; it is not needed here.
    const { disruptedPods: _pods, ...rest } = last;
    if (!isEqual(rest, status)) this.#api.store.put(storageKey, { ...object, status });
  }

  #delete(pod: StoredObject, gracePeriodSeconds?: number): void {
    const { namespace, name } = pod.metadata;
    const body = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    this.#api.admin('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, body);
  }
}

const UNREACHABLE = 'node.kubernetes.io/unreachable';

function isLive(pod: StoredObject): boolean {
  const { phase } = (pod['status'] ?? {}) as { phase?: string };
  return pod.metadata.deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed';
}

function hashLabel({ metadata }: StoredObject): string | undefined {
  return metadata.labels?.['pod-template-hash'];
}

function hashOf(template: unknown): string {
  let hash = 0;
  for (const letter of JSON.stringify(template)) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0;
  return (hash >>> 0).toString(36);
}

/** 25 % of 3 is 1: percentages are rounded up. */
function share(amount: number | string, of: number): number {
  return typeof amount === 'number' ? amount : Math.ceil((Number.parseInt(amount, 10) * of) / 100);
}

function daemonNode(pod: StoredObject): string | undefined {
  const { affinity } = pod['spec'] as {
    affinity?: {
      nodeAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: {
          nodeSelectorTerms?: readonly { matchFields?: readonly { values?: readonly string[] }[] }[];
        };
      };
    };
  };
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.[0]?.values?.[0];
}

function referenceTo({ apiVersion, kind, metadata }: StoredObject): Json {
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
