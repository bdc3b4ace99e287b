// The Kubernetes API as far as the operator uses it, without a network: resources, lists, watches, writes, tokens and
// RBAC. api-server.ts serves it over HTTP; memory-client.ts calls it directly, on a virtual clock. Trusted only because
// the cases of shared-cases.ts pass here and on a real API server.

import type { Clock } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { ApiError, badRequest, expired, notFound } from './api-errors.ts';
import { type ApiResource, groupVersion, ResourceRegistry, type StoredObject } from './api-resources.ts';
import { ApiWrites, type DeleteOptions } from './api-writes.ts';
import { evict } from './evictions.ts';
import { Faults, type RequestFacts } from './faults.ts';
import { ObjectStore } from './object-store.ts';
import { isRecord, type Json } from './patches.ts';
import { type AccessRequest, forbiddenMessage, isAllowed, type User } from './rbac.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { Watches, type WatchSink } from './watches.ts';

export interface FakeApiOptions {
  readonly clock?: Clock;
  readonly seed?: number;
  /** Changes that can be watched from the past. */
  readonly history?: number;
}

/** A request that has been understood. */
export interface ParsedRequest extends RequestFacts {
  readonly found: ApiResource | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Lists that are being read page by page; the oldest expire. */
const MAX_SNAPSHOTS = 64;
const DEFAULT_WATCH_MS = 30 * 60_000;
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const CONTROL: User = { name: 'system:control-plane', groups: ['system:masters'] };

export class FakeApi {
  readonly faults = new Faults();
  readonly registry = new ResourceRegistry();
  readonly store: ObjectStore;
  readonly watches: Watches;
  /** Requests by verb and resource: 'list pods'. */
  readonly counts = new Map<string, number>();
  readonly #clock: Clock;
  readonly #writes: ApiWrites;
  readonly #tokens = new Map<string, User>();
  readonly #snapshots = new Map<string, readonly StoredObject[]>();
  #nextSnapshot = 1;

  constructor({ clock = systemClock, seed = 1, history }: FakeApiOptions = {}) {
    const { settings } = this.faults;
    this.#clock = { now: () => clock.now() + settings.clockSkewMs, after: (ms, run) => clock.after(ms, run) };
    this.store = new ObjectStore(history);
    this.watches = new Watches(this.store, this.#clock, new Random(seed, 0x6b75), settings);
    this.#writes = new ApiWrites(this.store, this.registry, this.#clock);
    for (const name of NAMESPACES) this.admin('POST', '/api/v1/namespaces', { metadata: { name } });
    for (const [name, value] of [
      ['system-cluster-critical', 2e9],
      ['system-node-critical', 2e9 + 1000],
    ] as const)
      this.admin('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    this.counts.clear();
    // As in real API servers, where the handler of a custom resource is replaced.
    this.store.subscribe(({ storageKey, object }) => {
      if (!storageKey.endsWith('/customresourcedefinitions')) return;
      const { group, names } = object['spec'] as { group: string; names: { plural: string } };
      this.watches.closeAll(`${group}/${names.plural}`);
    });
  }

  get clock(): Clock {
    return this.#clock;
  }

  addToken(token: string, user: User): void {
    this.#tokens.set(token, user);
  }

  /** Requests with this token get 401 from now on; open watches go on, as with a real API server. */
  expireToken(token: string): void {
    this.#tokens.delete(token);
  }

  /** Throws 401. */
  userOf(token: string | undefined): User {
    const user = token === undefined ? undefined : this.#tokens.get(token);
    if (user === undefined) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }

  /** A request with all rights, for the fake's own controllers and for tests. Throws `ApiError`. */
  admin(method: string, target: string, body?: unknown, contentType = 'application/json'): Json {
    return this.request(CONTROL, this.parse(method, target), body, contentType).body as Json;
  }

  parse(method: string, target: string): ParsedRequest {
    const url = new URL(target, 'http://api');
    const parts = url.pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
    const isCore = parts[0] === 'api';
    const [group, version, ...rest] = isCore ? ['', ...parts.slice(1)] : parts.slice(1);
    const isNamespaced = rest[0] === 'namespaces' && rest.length > 2;
    const [plural = '', name, subresource = ''] = isNamespaced ? rest.slice(2) : rest;
    const namespace = isNamespaced ? rest[1] : undefined;
    const found = this.registry.find(group ?? '', version ?? '', plural);
    const query = url.searchParams;
    const isWatch = query.get('watch') === 'true' || query.get('watch') === '1';
    const resource = subresource === '' ? plural : `${plural}/${subresource}`;
    const verb = verbOf(method, name, isWatch);
    return { method, path: url.pathname, verb, resource, query, found, namespace, name, subresource };
  }

  /** Rights and existence. Throws 403 or 404. */
  admit(user: User, request: ParsedRequest): ApiResource {
    const { verb, resource, namespace, name, found, path } = request;
    const key = `${verb} ${resource}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    const [, , group = ''] = path.split('/');
    const access: AccessRequest = {
      verb,
      group: path.startsWith('/api/') ? '' : group,
      resource,
      namespace,
      // A create has no name yet.
      name: verb === 'create' && request.subresource === '' ? undefined : name,
    };
    if (!isAllowed({ all: (plural) => this.#all(plural) }, user, access))
      throw new ApiError(403, 'Forbidden', forbiddenMessage(user, access));
    if (found === undefined)
      throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
    return found;
  }

  /** Everything but watches. Throws `ApiError`. */
  request(user: User, request: ParsedRequest, body: unknown, contentType = 'application/json'): ApiAnswer {
    if (request.resource === 'selfsubjectaccessreviews') return this.#accessReview(user, body as Json);
    const resource = this.admit(user, request);
    const { namespace, name = '', query, subresource, verb } = request;
    const isDryRun = query.get('dryRun') === 'All';
    const manager = query.get('fieldManager') ?? (contentType.includes('apply') ? '' : 'fake-client');
    const options = { manager, isDryRun, subresource, force: query.get('force') === 'true' };
    const view = (object: StoredObject, status = 200): ApiAnswer => ({
      status,
      body: viewOf(resource, object),
    });
    switch (verb) {
      case 'get':
        return view(this.#writes.get(resource, namespace, name));
      case 'list':
        return { status: 200, body: this.#list(resource, request) };
      case 'create':
        if (subresource !== '') return this.#subresource(resource, request, body);
        // Of a built-in resource the path says what the body is. `admin` may leave it out always.
        if (isCustom(resource) && user !== CONTROL && record(body)['kind'] === undefined)
          throw badRequest("the object provided is unrecognized: Object 'Kind' is missing");
        return view(this.#writes.create(resource, namespace, record(body), options), 201);
      case 'update':
        return view(this.#writes.update(resource, namespace, name, record(body), options));
      case 'patch': {
        const existed = this.store.get(
          resource.storageKey,
          namespace === undefined ? name : `${namespace}/${name}`,
        );
        const patched = this.#writes.patch(resource, namespace, name, contentType, body, options);
        return view(patched, existed === undefined ? 201 : 200);
      }
      case 'delete':
        return view(
          this.#writes.delete(resource, namespace, name, {
            ...deleteOptions(body),
            ...(isDryRun ? { isDryRun } : {}),
          }),
        );
      default:
        throw new ApiError(
          405,
          'MethodNotAllowed',
          'the server does not allow this method on the requested resource',
        );
    }
  }

  /** Returns a function that ends the watch. Throws `ApiError`. */
  watch(user: User, request: ParsedRequest, sink: WatchSink): () => void {
    const resource = this.admit(user, request);
    const { query } = request;
    const seconds = Number(query.get('timeoutSeconds') ?? 0);
    return this.watches.open(
      {
        storageKey: resource.storageKey,
        matches: this.#filter(resource, request),
        view: (object) => viewOf(resource, object),
        from: query.get('resourceVersion') ?? '',
        hasBookmarks: query.get('allowWatchBookmarks') === 'true',
        timeoutMs: seconds > 0 ? seconds * 1000 : DEFAULT_WATCH_MS,
        bookmark: (resourceVersion) => ({
          kind: resource.kind,
          apiVersion: groupVersion(resource),
          metadata: { resourceVersion, creationTimestamp: null },
        }),
      },
      sink,
    );
  }

  #list(resource: ApiResource, request: ParsedRequest): unknown {
    const { query } = request;
    const limit = Number(query.get('limit') ?? 0);
    const token = query.get('continue') ?? '';
    const [id = '', version = '', from = '0'] = token === '' ? [] : token.split('.');
    const all =
      token === ''
        ? this.store.all(resource.storageKey).filter(this.#filter(resource, request))
        : this.#snapshots.get(id);
    if (all === undefined)
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
      );
    const start = Number(from);
    const items = limit > 0 ? all.slice(start, start + limit) : all.slice(start);
    const left = all.length - start - items.length;
    const metadata: Record<string, unknown> = {
      resourceVersion: token === '' ? String(this.store.version) : version,
    };
    if (left > 0) {
      const next = token === '' ? this.#snapshot(all) : id;
      metadata['continue'] = `${next}.${String(metadata['resourceVersion'])}.${start + items.length}`;
      metadata['remainingItemCount'] = left;
    } else this.#snapshots.delete(id);
    const views = items.map((object) =>
      isCustom(resource) ? object : withoutType(viewOf(resource, object)),
    );
    return { kind: `${resource.kind}List`, apiVersion: groupVersion(resource), metadata, items: views };
  }

  #snapshot(objects: readonly StoredObject[]): string {
    const id = `s${this.#nextSnapshot++}`;
    this.#snapshots.set(id, objects);
    if (this.#snapshots.size > MAX_SNAPSHOTS) {
      const [oldest] = this.#snapshots.keys();
      this.#snapshots.delete(oldest!);
    }
    return id;
  }

  /** Forgets history and lists in progress, so that clients get 410. */
  compact(): void {
    this.store.compact();
    this.#snapshots.clear();
  }

  #filter(
    resource: ApiResource,
    { query, namespace, name }: ParsedRequest,
  ): (object: StoredObject) => boolean {
    const labels = parseLabelSelector(query.get('labelSelector') ?? '');
    const known = ['metadata.name', 'metadata.namespace', ...resource.fields];
    const fields = parseFieldSelector(query.get('fieldSelector') ?? '', known);
    return (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (name === undefined || object.metadata.name === name) &&
      labels(object.metadata.labels ?? {}) &&
      fields(object);
  }

  #subresource(resource: ApiResource, request: ParsedRequest, body: unknown): ApiAnswer {
    const { namespace, name = '', subresource } = request;
    const pod = this.#writes.get(resource, namespace, name);
    const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
    if (subresource === 'eviction') {
      const options = deleteOptions((body as { deleteOptions?: unknown } | null)?.deleteOptions);
      evict(this.store, this.#writes, resource, pod, options, this.#clock.now());
      return { status: 201, body: done };
    }
    if (subresource !== 'binding') throw notFound(request.resource, name);
    const { target } = body as { target: { name: string } };
    const spec = pod['spec'] as Json;
    if (spec['nodeName'] !== undefined)
      throw new ApiError(
        409,
        'Conflict',
        `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} is already assigned to node "${spec['nodeName'] as string}"`,
      );
    this.bind(pod, target.name);
    return { status: 201, body: done };
  }

  /** Assigns a pod to a node. */
  bind(pod: StoredObject, nodeName: string): void {
    const status = (pod['status'] ?? {}) as { conditions?: readonly { type: string }[] };
    const conditions = [
      ...(status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled'),
      { type: 'PodScheduled', status: 'True', lastTransitionTime: new Date(this.#clock.now()).toISOString() },
    ];
    this.store.put('/pods', {
      ...pod,
      spec: { ...(pod['spec'] as Json), nodeName },
      status: { ...status, conditions },
    });
  }

  #accessReview(user: User, body: Json): ApiAnswer {
    const { resourceAttributes = {} } = (body['spec'] ?? {}) as {
      resourceAttributes?: Record<string, string>;
    };
    const {
      verb = '',
      group = '',
      resource = '',
      subresource = '',
      namespace = '',
      name = '',
    } = resourceAttributes;
    const allowed = isAllowed({ all: (plural) => this.#all(plural) }, user, {
      verb,
      group,
      resource: subresource === '' ? resource : `${resource}/${subresource}`,
      namespace: namespace === '' ? undefined : namespace,
      name: name === '' ? undefined : name,
    });
    return { status: 201, body: { ...body, metadata: {}, status: { allowed } } };
  }

  #all(plural: string): Iterable<StoredObject> {
    return this.store.each(`rbac.authorization.k8s.io/${plural}`);
  }
}

function verbOf(method: string, name: string | undefined, isWatch: boolean): string {
  if (isWatch) return 'watch';
  switch (method) {
    case 'GET':
      return name === undefined ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === undefined ? 'deletecollection' : 'delete';
    default:
      return method.toLowerCase();
  }
}

function record(body: unknown): Json {
  if (!isRecord(body)) throw badRequest('the object provided is unrecognized: it is not a JSON object');
  return body;
}

function deleteOptions(body: unknown): DeleteOptions {
  if (!isRecord(body)) return {};
  const { gracePeriodSeconds, preconditions, dryRun } = body;
  return {
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(isRecord(preconditions) ? { preconditions } : {}),
    ...(Array.isArray(dryRun) && dryRun.includes('All') ? { isDryRun: true } : {}),
  };
}

/** Several resources may show one object. */
function viewOf(resource: ApiResource, object: StoredObject): StoredObject {
  const apiVersion = groupVersion(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion, kind: resource.kind };
}

/** Lists of built-in resources leave out version and kind of their items. */
function withoutType({ apiVersion: _version, kind: _kind, ...rest }: StoredObject): unknown {
  return rest;
}

function isCustom({ group }: ApiResource): boolean {
  return group.includes('.') && !group.endsWith('.k8s.io');
}
