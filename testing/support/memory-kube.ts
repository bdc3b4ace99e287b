// A `KubeClient` over a map in memory that answers as an API server does, as far as the parts for nodes, drains and
// verdicts call it: merge patches with a resource version, apply, the status subresource, evictions under disruption
// budgets, and field selectors. A test may intercept each call before and after it takes effect.

import {
  type KubeClient,
  KubeError,
  type PatchType,
  type RequestOptions,
} from '../../src/operator/kube/client.ts';
import type {
  KubeList,
  KubeObject,
  LabelSelector,
  Pod,
  PodDisruptionBudget,
} from '../../src/operator/kube/objects.ts';
import type { Clock } from '../../src/runtime/clock.ts';

interface KubeCall {
  readonly verb: 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'evict';
  readonly path: string;
  readonly body?: unknown;
  readonly maxRetries?: number | undefined;
}

type Stored = KubeObject & Record<string, unknown>;

interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

interface BudgetHealth {
  readonly unhealthyPodEvictionPolicy?: string;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
}

/** The objects of one API server. Several clients may share them. */
export class MemoryCluster {
  readonly objects = new Map<string, Stored>();
  readonly evictions: { readonly pod: string; readonly uid: string; readonly atMs: number }[] = [];
  readonly deletions: string[] = [];
  /** Paths below which the status subresource keeps only these fields of the status, as an older CRD would. */
  readonly prunedStatus = new Map<string, readonly string[]>();
  readonly clock: Clock;
  #version = 1;
  #uid = 1;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  put(path: string, object: unknown): Stored {
    const given = object as Stored;
    const old = this.objects.get(path);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stored: Stored = {
      ...given,
      metadata: {
        ...given.metadata,
        name,
        uid: given.metadata?.uid ?? old?.metadata.uid ?? `uid-${this.#uid++}`,
        resourceVersion: String(++this.#version),
      },
    };
    this.objects.set(path, stored);
    return stored;
  }

  get(path: string): Stored | undefined {
    return this.objects.get(path);
  }

  remove(path: string): void {
    this.objects.delete(path);
  }

  addNode(name: string, node: Partial<Stored> = {}): Stored {
    return this.put(`/api/v1/nodes/${name}`, {
      spec: {},
      status: {},
      ...node,
      metadata: { name, ...node.metadata },
    });
  }

  addPod(namespace: string, name: string, node: string, more: Partial<Pod> = {}): Stored {
    const metadata = { namespace, name, ...more.metadata };
    const spec = { containers: [], nodeName: node, ...more.spec };
    return this.put(`/api/v1/namespaces/${namespace}/pods/${name}`, {
      ...more,
      metadata,
      spec,
      status: { phase: 'Running', ...more.status },
    });
  }

  addBudget(
    namespace: string,
    name: string,
    labels: Readonly<Record<string, string>>,
    allowed: number,
    more: BudgetHealth = {},
  ): void {
    const { unhealthyPodEvictionPolicy, ...health } = more;
    this.put(`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${name}`, {
      metadata: { name, namespace },
      spec: { selector: { matchLabels: labels }, unhealthyPodEvictionPolicy },
      status: { disruptionsAllowed: allowed, ...health },
    });
  }

  setAllowed(namespace: string, name: string, allowed: number): void {
    const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${name}`;
    const budget = this.get(path)!;
    this.put(path, { ...budget, status: { ...(budget['status'] as object), disruptionsAllowed: allowed } });
  }

  pods(node: string): readonly Pod[] {
    return [...this.objects.values()].filter(
      (object) => (object as unknown as Pod).spec?.nodeName === node,
    ) as unknown as readonly Pod[];
  }

  client(hooks: KubeHooks = {}): KubeClient {
    return new MemoryKube(this, hooks);
  }
}

export interface KubeHooks {
  /** Before the call takes effect; may throw instead. */
  readonly before?: (call: KubeCall) => void | Promise<void>;
  /** After the call took effect, before the caller gets the answer; may throw instead. */
  readonly after?: (call: KubeCall) => void | Promise<void>;
}

class MemoryKube implements KubeClient {
  readonly #cluster: MemoryCluster;
  readonly #hooks: KubeHooks;

  constructor(cluster: MemoryCluster, hooks: KubeHooks) {
    this.#cluster = cluster;
    this.#hooks = hooks;
  }

  async #call<T>(call: KubeCall, run: () => unknown): Promise<T> {
    await this.#hooks.before?.(call);
    const result = run();
    await this.#hooks.after?.(call);
    return result as T;
  }

  get<T extends KubeObject>(path: string): Promise<T> {
    return this.#call({ verb: 'get', path }, () => this.#existing(path));
  }

  list<T extends KubeObject>(path: string, options: RequestOptions = {}): Promise<KubeList<T>> {
    return this.#call({ verb: 'list', path }, () => {
      const selector = String(options.query?.['fieldSelector'] ?? '');
      const kind = path.slice(path.lastIndexOf('/') + 1);
      const namespaced = path.includes('/namespaces/');
      const items = [...this.#cluster.objects.entries()]
        .filter(([key]) =>
          namespaced || key.startsWith(`${path}/`)
            ? key.startsWith(`${path}/`) && !key.slice(path.length + 1).includes('/')
            : key.includes('/namespaces/') && key.split('/').at(-2) === kind,
        )
        .map(([, object]) => object)
        .filter((object) => matchesFields(object, selector));
      const limit = Number(options.query?.['limit'] ?? 0) || items.length;
      const from = Number(options.query?.['continue'] ?? 0);
      const rest = from + limit < items.length ? String(from + limit) : '';
      return { metadata: { resourceVersion: '1', continue: rest }, items: items.slice(from, from + limit) };
    });
  }

  create<T extends KubeObject>(
    path: string,
    object: unknown,
    { maxRetries }: RequestOptions = {},
  ): Promise<T> {
    if (path.endsWith('/eviction'))
      return this.#evict(path.slice(0, -'/eviction'.length), object, maxRetries) as Promise<T>;
    return this.#call({ verb: 'create', path, body: object }, () => {
      const key = `${path}/${(object as Stored).metadata.name}`;
      if (this.#cluster.objects.has(key))
        throw new KubeError('exists', { status: 409, reason: 'AlreadyExists' });
      return this.#cluster.put(key, object);
    });
  }

  update<T extends KubeObject>(path: string, object: unknown): Promise<T> {
    return this.#call({ verb: 'update', path, body: object }, () => {
      const old = this.#existing(path);
      const version = (object as Stored).metadata.resourceVersion;
      if (version !== undefined && version !== old.metadata.resourceVersion) throw conflict();
      return this.#cluster.put(path, object);
    });
  }

  patch<T extends KubeObject>(path: string, type: PatchType, body: unknown): Promise<T> {
    return this.#call({ verb: 'patch', path, body }, () => {
      const isStatus = path.endsWith('/status');
      const key = isStatus ? path.slice(0, -'/status'.length) : path;
      const old = this.#cluster.get(key);
      if (old === undefined && (type !== 'apply' || isStatus)) throw notFound(key);
      const given = body as Stored;
      const version = given.metadata?.resourceVersion;
      if (version !== undefined && version !== old?.metadata.resourceVersion) throw conflict();
      // Like the API server: status changes through the subresource alone, everything else without it.
      const { status: _status, ...rest } = given;
      let change: Record<string, unknown> = isStatus ? { status: given['status'] } : rest;
      const kept = this.#cluster.prunedStatus.get(key.slice(0, key.lastIndexOf('/')));
      if (isStatus && kept !== undefined)
        change = {
          status: Object.fromEntries(
            Object.entries(given['status'] as object).filter(([name]) => kept.includes(name)),
          ),
        };
      return this.#cluster.put(key, merged(old ?? { metadata: { name: '' } }, change));
    });
  }

  delete(path: string, body?: unknown): Promise<void> {
    return this.#call({ verb: 'delete', path, body }, () => {
      const old = this.#existing(path);
      checkPreconditions(old, (body as { preconditions?: Preconditions } | undefined)?.preconditions);
      this.#cluster.deletions.push(path);
      if (path.includes('/pods/')) this.#terminate(path);
      else this.#cluster.remove(path);
    });
  }

  /** No part that uses this double watches by itself. */
  async *watch(): AsyncIterable<never> {}

  #evict(path: string, body: unknown, maxRetries: number | undefined): Promise<unknown> {
    return this.#call({ verb: 'evict', path, body, maxRetries }, () => {
      const pod = this.#existing(path) as unknown as Pod;
      const wanted = (body as { deleteOptions?: { preconditions?: Preconditions } }).deleteOptions;
      checkPreconditions(pod, wanted?.preconditions);
      // A pod that is on its way out is evicted without asking its budget, and so is one that has not run yet.
      if (pod.metadata.deletionTimestamp !== undefined) return {};
      const isPending = pod.status?.phase === 'Pending';
      const budgets = [...this.#cluster.objects.entries()].filter(
        ([key, object]) =>
          !isPending &&
          key.includes('/poddisruptionbudgets/') &&
          object.metadata.namespace === pod.metadata.namespace &&
          matches((object as unknown as PodDisruptionBudget).spec.selector, pod.metadata.labels ?? {}),
      );
      if (budgets.length > 1)
        throw new KubeError('This pod has more than one PodDisruptionBudget', {
          status: 500,
          reason: 'InternalError',
        });
      for (const [key, object] of budgets) {
        const budget = object as unknown as PodDisruptionBudget;
        if (!isReady(pod) && releasesUnready(budget)) continue;
        const allowed = budget.status?.disruptionsAllowed ?? 0;
        if (allowed <= 0)
          throw new KubeError('Cannot evict pod as it would violate the budget', {
            status: 429,
            reason: 'TooManyRequests',
            causes: [
              { reason: 'DisruptionBudget', message: `The disruption budget ${budget.metadata.name}` },
            ],
          });
        this.#cluster.put(key, { ...object, status: { ...budget.status, disruptionsAllowed: allowed - 1 } });
      }
      const at = this.#cluster.clock.now();
      this.#cluster.evictions.push({
        pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
        uid: pod.metadata.uid!,
        atMs: at,
      });
      this.#terminate(path);
      return {};
    });
  }

  /** The pod ends after its grace period, by default within a second. */
  #terminate(path: string): void {
    const pod = this.#cluster.get(path)!;
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const grace = (pod as unknown as Pod).spec.terminationGracePeriodSeconds ?? 1;
    const end = this.#cluster.clock.now() + grace * 1000;
    const { uid } = pod.metadata;
    this.#cluster.put(path, {
      ...pod,
      metadata: { ...pod.metadata, deletionTimestamp: new Date(end).toISOString() },
    });
    const isStuck = (pod.metadata.finalizers ?? []).length > 0;
    if (!isStuck)
      this.#cluster.clock.after(grace * 1000, () => {
        if (this.#cluster.get(path)?.metadata.uid === uid) this.#cluster.remove(path);
      });
  }

  #existing(path: string): Stored {
    const object = this.#cluster.get(path);
    if (object === undefined) throw notFound(path);
    return object;
  }
}

function notFound(path: string): KubeError {
  return new KubeError(`${path} not found`, { status: 404, reason: 'NotFound' });
}

function conflict(): KubeError {
  return new KubeError('the object has been modified', { status: 409, reason: 'Conflict' });
}

function checkPreconditions({ metadata }: KubeObject, { uid, resourceVersion }: Preconditions = {}): void {
  if (uid !== undefined && uid !== metadata.uid)
    throw new KubeError(
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
      { status: 409, reason: 'Conflict' },
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) throw conflict();
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
}

/** Written apart from the operator's own rule, so that the tests compare two readings of Kubernetes. */
function releasesUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const desired = status?.desiredHealthy ?? 0;
  return desired > 0 && (status?.currentHealthy ?? 0) >= desired;
}

/** JSON merge patch. Apply is treated alike: fields that an apply no longer names stay. */
function merged(old: unknown, change: unknown): unknown {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) return change;
  const base = old !== null && typeof old === 'object' && !Array.isArray(old) ? { ...old } : {};
  const result: Record<string, unknown> = base as Record<string, unknown>;
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else if (value !== undefined) result[key] = merged(result[key], value);
  }
  return result;
}

function matchesFields(object: Stored, selector: string): boolean {
  if (selector === '') return true;
  return selector.split(',').every((term) => {
    const [path, value] = term.split('=') as [string, string];
    const found = path
      .split('.')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
    return found === value;
  });
}

function matches(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  if (selector === undefined) return false;
  return Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}
