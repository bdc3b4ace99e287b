// Writes of the fake API server: create, update, patch, apply, delete and evict, with optimistic concurrency, finalizers,
// graceful deletion and the status subresource. Used by fake-api.ts.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/runtime/clock.ts';
import { ApiError, badRequest, conflict, invalid, notFound } from './api-errors.ts';
import {
  type ApiResource,
  groupVersion,
  qualifiedName,
  type ResourceRegistry,
  type StoredObject,
} from './api-resources.ts';
import { keyOf, type ObjectStore, objectKey } from './object-store.ts';
import {
  applyPatch,
  type FieldOwners,
  isEqual,
  isRecord,
  type Json,
  jsonPatch,
  mergePatch,
  updatedOwners,
} from './patches.ts';
import { withDefaults } from './pod-defaults.ts';
import { pruned, violationOf } from './schemas.ts';

export interface WriteOptions {
  readonly manager: string;
  readonly isDryRun: boolean;
  /** 'status', or '' for the object itself. */
  readonly subresource: string;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly isDryRun?: boolean;
}

const PATCH_CONTENT = {
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
  'application/apply-patch+yaml': 'apply',
  'application/strategic-merge-patch+json': 'merge',
} as const;

/** Resources that count changes of their spec. */
const NO_GENERATION = new Set(['pods', 'nodes', 'namespaces', 'secrets', 'configmaps', 'events', 'leases']);
const NAME = /^[a-z0-9]([a-z0-9.:-]*[a-z0-9])?$/;
const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789';

export class ApiWrites {
  readonly #store: ObjectStore;
  readonly #registry: ResourceRegistry;
  readonly #clock: Clock;
  /** By uid. */
  readonly #owners = new Map<string, FieldOwners>();

  constructor(store: ObjectStore, registry: ResourceRegistry, clock: Clock) {
    this.#store = store;
    this.#registry = registry;
    this.#clock = clock;
  }

  get(resource: ApiResource, namespace: string | undefined, name: string): StoredObject {
    const found = this.#store.get(resource.storageKey, objectKey(namespace, name));
    if (found === undefined) throw notFound(qualifiedName(resource), name);
    return found;
  }

  create(
    resource: ApiResource,
    namespace: string | undefined,
    body: Json,
    options: WriteOptions,
  ): StoredObject {
    const given = (isRecord(body['metadata']) ? body['metadata'] : {}) as Record<string, unknown>;
    const prefix = given['generateName'] as string | undefined;
    const name = (given['name'] as string | undefined) ?? (prefix === undefined ? '' : prefix + suffix());
    this.#check(resource, namespace, body, name);
    if (this.#store.get(resource.storageKey, objectKey(namespace, name)) !== undefined)
      throw new ApiError(409, 'AlreadyExists', `${qualifiedName(resource)} "${name}" already exists`);
    const { resourceVersion: _version, deletionTimestamp: _deletion, ...metadata } = given;
    const { status, ...rest } = body;
    const isStatusKept = !resource.hasStatus || resource.keepsStatusOnCreate;
    const complete = withDefaults(
      resource,
      {
        ...rest,
        ...(isStatusKept && status !== undefined ? { status } : {}),
        apiVersion: groupVersion(resource),
        kind: resource.kind,
        metadata: {
          ...metadata,
          name,
          ...(namespace === undefined ? {} : { namespace }),
          uid: randomUUID(),
          creationTimestamp: seconds(this.#clock.now()),
          ...(NO_GENERATION.has(resource.plural) ? {} : { generation: 1 }),
        },
      },
      {
        priorityClasses: () => this.#store.each('scheduling.k8s.io/priorityclasses'),
        nowMs: this.#clock.now(),
      },
    );
    const object = allowed(resource, complete);
    if (options.isDryRun) return object;
    this.#owners.set(object.metadata.uid!, updatedOwners(null, object, new Map(), options.manager));
    const stored = this.#store.put(resource.storageKey, object);
    if (resource.plural === 'customresourcedefinitions') return this.#established(resource, stored);
    return stored;
  }

  update(
    resource: ApiResource,
    namespace: string | undefined,
    name: string,
    body: Json,
    options: WriteOptions,
  ): StoredObject {
    const existing = this.get(resource, namespace, name);
    const metadata = (isRecord(body['metadata'])
      ? body['metadata']
      : {}) as unknown as StoredObject['metadata'];
    if (metadata.name !== name)
      throw badRequest(
        `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
      );
    if (resource.needsVersion && (metadata.resourceVersion ?? '') === '')
      throw invalid(
        resource.kind,
        name,
        'metadata.resourceVersion',
        'Invalid value: 0: must be specified for an update',
      );
    const owners = this.#owners.get(existing.metadata.uid!) ?? new Map();
    const result = this.#written(resource, existing, body, options);
    if (!options.isDryRun)
      this.#owners.set(existing.metadata.uid!, updatedOwners(existing, result, owners, options.manager));
    return result;
  }

  patch(
    resource: ApiResource,
    namespace: string | undefined,
    name: string,
    contentType: string,
    body: unknown,
    options: WriteOptions & { readonly force: boolean },
  ): StoredObject {
    const type = PATCH_CONTENT[contentType as keyof typeof PATCH_CONTENT];
    if (type === undefined)
      throw new ApiError(
        415,
        'UnsupportedMediaType',
        `the body of the request was in an unknown format: ${contentType}`,
      );
    if (type === 'apply') return this.#apply(resource, namespace, name, body as Json, options);
    const existing = this.get(resource, namespace, name);
    const next = type === 'merge' ? mergePatch(existing, body) : jsonPatch(existing, body);
    const owners = this.#owners.get(existing.metadata.uid!) ?? new Map();
    const result = this.#written(resource, existing, next as Json, options);
    if (!options.isDryRun)
      this.#owners.set(existing.metadata.uid!, updatedOwners(existing, result, owners, options.manager));
    return result;
  }

  #apply(
    resource: ApiResource,
    namespace: string | undefined,
    name: string,
    body: Json,
    options: WriteOptions & { readonly force: boolean },
  ): StoredObject {
    if (options.manager === '')
      throw new ApiError(
        400,
        'BadRequest',
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
    if (body['apiVersion'] !== groupVersion(resource) || body['kind'] !== resource.kind)
      throw badRequest(`apiVersion and kind must be ${groupVersion(resource)} and ${resource.kind}`);
    const existing = this.#store.get(resource.storageKey, objectKey(namespace, name));
    if (existing === undefined) {
      if (options.subresource !== '') throw notFound(qualifiedName(resource), name);
      const created = this.create(
        resource,
        namespace,
        { ...body, metadata: { ...(body['metadata'] as Json), name } },
        options,
      );
      const { owners } = applyPatch(null, body, new Map(), options.manager, true);
      if (!options.isDryRun) this.#owners.set(created.metadata.uid!, owners);
      return created;
    }
    const uid = existing.metadata.uid!;
    const wanted = options.subresource === '' ? body : { status: body['status'] };
    const applied = applyPatch(
      existing,
      wanted,
      this.#owners.get(uid) ?? new Map(),
      options.manager,
      options.force,
    );
    const result = this.#written(resource, existing, applied.object, options);
    if (!options.isDryRun) this.#owners.set(uid, applied.owners);
    return result;
  }

  delete(
    resource: ApiResource,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions,
  ): StoredObject {
    const existing = this.get(resource, namespace, name);
    checkPreconditions(existing, options.preconditions, resource);
    const graceSeconds = resource.plural === 'pods' ? podGrace(existing, options.gracePeriodSeconds) : 0;
    if (options.isDryRun === true) return existing;
    const { metadata } = existing;
    const hasFinalizers = (metadata.finalizers ?? []).length > 0;
    if (graceSeconds === 0 && !hasFinalizers) return this.#removed(resource, existing);
    const deletionMs = this.#clock.now() + graceSeconds * 1000;
    // A second deletion may shorten the grace period, never extend it.
    const isEarlier =
      metadata.deletionTimestamp === undefined || deletionMs < Date.parse(metadata.deletionTimestamp);
    if (!isEarlier) return existing;
    return this.#store.put(resource.storageKey, {
      ...existing,
      metadata: {
        ...metadata,
        deletionTimestamp: seconds(deletionMs),
        deletionGracePeriodSeconds: graceSeconds,
      } as StoredObject['metadata'],
    });
  }

  /** Checks the parts of a new object that every write needs. */
  #check(resource: ApiResource, namespace: string | undefined, body: Json, name: string): void {
    const inBody = (body['metadata'] as { namespace?: string } | undefined)?.namespace;
    if (resource.isNamespaced && inBody !== undefined && inBody !== namespace)
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    if (name === '')
      throw invalid(resource.kind, '', 'metadata.name', 'Required value: name or generateName is required');
    if (!NAME.test(name) || name.length > 253)
      throw invalid(
        resource.kind,
        name,
        'metadata.name',
        `Invalid value: "${name}": a lowercase RFC 1123 subdomain is required`,
      );
    if (body['kind'] !== undefined && body['kind'] !== resource.kind)
      throw badRequest(
        `${JSON.stringify(body['kind'])} in the body does not match ${resource.kind} of the path`,
      );
    if (namespace !== undefined && this.#store.get('/namespaces', namespace) === undefined)
      throw notFound('namespaces', namespace);
  }

  #written(resource: ApiResource, existing: StoredObject, body: Json, options: WriteOptions): StoredObject {
    const metadata = (isRecord(body['metadata'])
      ? body['metadata']
      : {}) as unknown as StoredObject['metadata'];
    const { resourceVersion, uid } = metadata;
    if (
      resourceVersion !== undefined &&
      resourceVersion !== '' &&
      resourceVersion !== existing.metadata.resourceVersion
    )
      throw conflict(qualifiedName(resource), existing.metadata.name);
    if (uid !== undefined && uid !== existing.metadata.uid) throw uidConflict(resource, existing, uid);
    const next = allowed(resource, this.#merged(resource, existing, body, options.subresource));
    if (isEqual(next, existing)) return existing;
    if (options.isDryRun) return next;
    const isGone =
      next.metadata.deletionTimestamp !== undefined &&
      (next.metadata.finalizers ?? []).length === 0 &&
      (existing.metadata.finalizers ?? []).length > 0 &&
      (resource.plural !== 'pods' ||
        (next.metadata as { deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds === 0);
    if (isGone) return this.#removed(resource, next);
    if (resource.plural === 'customresourcedefinitions') return this.#established(resource, next);
    return this.#store.put(resource.storageKey, next);
  }

  #merged(resource: ApiResource, existing: StoredObject, body: Json, subresource: string): StoredObject {
    if (subresource === 'status') {
      const { status: _old, ...rest } = existing;
      return { ...rest, ...(body['status'] === undefined ? {} : { status: body['status'] }) };
    }
    const { status, ...rest } = body;
    const kept = resource.hasStatus ? existing['status'] : status;
    const own = rest['metadata'] as StoredObject['metadata'];
    const { uid, creationTimestamp, name, namespace, deletionTimestamp, resourceVersion } = existing.metadata;
    const { deletionGracePeriodSeconds, generation } = existing.metadata as unknown as Record<
      string,
      unknown
    >;
    const isSpecChanged = !isEqual(rest['spec'], existing['spec']);
    const fixed: Record<string, unknown> = {
      uid,
      creationTimestamp,
      name,
      namespace,
      deletionTimestamp,
      deletionGracePeriodSeconds,
      resourceVersion,
      generation: typeof generation === 'number' && isSpecChanged ? generation + 1 : generation,
    };
    const metadata = Object.fromEntries(
      Object.entries({ ...own, ...fixed }).filter(([, value]) => value !== undefined),
    );
    return {
      ...rest,
      apiVersion: existing.apiVersion!,
      kind: existing.kind!,
      metadata: metadata as unknown as StoredObject['metadata'],
      ...(kept === undefined ? {} : { status: kept }),
    };
  }

  #removed(resource: ApiResource, object: StoredObject): StoredObject {
    this.#owners.delete(object.metadata.uid!);
    if (resource.plural === 'customresourcedefinitions') this.#registry.remove(object);
    return this.#store.remove(resource.storageKey, object);
  }

  #established(resource: ApiResource, definition: StoredObject): StoredObject {
    this.#registry.install(definition);
    const conditions = ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' }));
    return this.#store.put(resource.storageKey, { ...definition, status: { conditions } });
  }
}

/** What the schema of a custom resource keeps of an object. Throws 422 if it does not allow the object. */
function allowed(resource: ApiResource, object: StoredObject): StoredObject {
  const { schema, kind, group } = resource;
  if (schema === null) return object;
  const kept = pruned(schema, object) as StoredObject;
  const violation = violationOf(schema, kept);
  if (violation === null) return kept;
  throw invalid(`${kind}.${group}`, object.metadata.name, violation.field, violation.problem);
}

export function checkPreconditions(
  existing: StoredObject,
  preconditions: DeleteOptions['preconditions'],
  resource: ApiResource,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== existing.metadata.uid)
    throw new ApiError(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${resource.kind} "${existing.metadata.name}": the UID in the precondition (${uid}) does not match the UID in record (${existing.metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== existing.metadata.resourceVersion)
    throw conflict(qualifiedName(resource), existing.metadata.name);
}

function uidConflict(resource: ApiResource, existing: StoredObject, uid: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedName(resource)} "${keyOf(existing)}": Precondition failed: UID in precondition: ${uid}, UID in object meta: ${existing.metadata.uid}`,
  );
}

/** Pods that no kubelet runs are deleted at once. */
function podGrace(pod: StoredObject, asked: number | undefined): number {
  const spec = pod['spec'] as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const { phase } = (pod['status'] ?? {}) as { phase?: string };
  if (spec.nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0;
  return asked ?? spec.terminationGracePeriodSeconds ?? 30;
}

function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function suffix(): string {
  return Array.from({ length: 5 }, () => SUFFIX[Math.floor(Math.random() * SUFFIX.length)]).join('');
}
