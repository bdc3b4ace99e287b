// Writes that need more than one call of a `KubeClient`: server-side apply, evictions and Leases. Used by the parts of the
// operator that keep objects, drain nodes and elect a leader.

import { type KubeClient, KubeError, type RequestOptions } from './client.ts';
import type { KubeObject, ObjectMeta } from './objects.ts';
import { apiVersionOf, pathOf, RESOURCES, type Resource } from './paths.ts';

/** Owner of the fields that the operator applies. */
export const FIELD_MANAGER = 'bigfleet-operator';

export interface ApplyOptions extends RequestOptions {
  readonly fieldManager?: string;
  /** Takes over fields that others own. Default true, as recommended for controllers. */
  readonly force?: boolean;
  /** 'status', for example. */
  readonly subresource?: string;
}

export type AppliedObject = Readonly<Record<string, unknown>> & {
  readonly metadata: Pick<ObjectMeta, 'name'> & Partial<ObjectMeta>;
};

/** Creates or changes an object so that it has these fields; fields that were applied before and are absent now go. */
export async function applyObject<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: AppliedObject,
  { fieldManager = FIELD_MANAGER, force = true, subresource, ...options }: ApplyOptions = {},
): Promise<T> {
  const { name, namespace } = object.metadata;
  const body = { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
  const path = pathOf(resource, { namespace, name, subresource });
  return await client.patch<T>(path, 'apply', body, { ...options, fieldManager, force });
}

export interface EvictedPod {
  readonly namespace: string;
  readonly name: string;
  /** Protects a new pod of the same name, as StatefulSets make them. */
  readonly uid?: string;
}

export type EvictionOutcome =
  | { readonly kind: 'evicted' }
  /** The pod no longer exists, or another pod has its name. */
  | { readonly kind: 'gone' }
  /** A PodDisruptionBudget does not allow it now. `budget`: its name, '' if the API server did not say. */
  | { readonly kind: 'blocked'; readonly budget: string; readonly message: string };

export interface EvictOptions extends RequestOptions {
  readonly graceSeconds?: number;
  readonly dryRun?: boolean;
}

/** Rejects with a `KubeError` for everything else, an ordinary 429 included. */
export async function evictPod(
  client: KubeClient,
  { namespace, name, uid }: EvictedPod,
  { graceSeconds, dryRun = false, ...options }: EvictOptions = {},
): Promise<EvictionOutcome> {
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: {
      ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
      ...(uid === undefined ? {} : { preconditions: { uid } }),
      ...(dryRun ? { dryRun: ['All'] } : {}),
    },
  };
  try {
    await client.create(pathOf(RESOURCES.pods, { namespace, name, subresource: 'eviction' }), body, options);
    return { kind: 'evicted' };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.isNotFound || (error.isConflict && /UID in (the )?precondition/.test(error.message)))
      return { kind: 'gone' };
    if (error.isDisruptionBudget) {
      const message = error.causes.find(({ reason }) => reason === 'DisruptionBudget')?.message ?? '';
      const [, budget = ''] = /disruption budget (\S+)/.exec(message) ?? [];
      return { kind: 'blocked', budget, message };
    }
    // The API server cannot evict a pod that several budgets select: it answers 500.
    if (error.status === 500 && /more than one PodDisruptionBudget/.test(error.message))
      return { kind: 'blocked', budget: '', message: 'The pod has more than one PodDisruptionBudget.' };
    throw error;
  }
}

/** coordination.k8s.io/v1 Lease, as leader election and kubelets use it. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    /** RFC 3339 with microseconds: `microTime`. */
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

export type LeaseSpec = NonNullable<Lease['spec']>;

/** The Lease; null if there is none. */
export async function getLease(
  client: KubeClient,
  namespace: string,
  name: string,
  options: RequestOptions = {},
): Promise<Lease | null> {
  try {
    return await client.get<Lease>(pathOf(RESOURCES.leases, { namespace, name }), options);
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return null;
    throw error;
  }
}

/** Rejects with 409 if another process created it first. */
export async function createLease(
  client: KubeClient,
  namespace: string,
  name: string,
  spec: LeaseSpec,
  options: RequestOptions = {},
): Promise<Lease> {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
  return await client.create<Lease>(pathOf(RESOURCES.leases, { namespace }), lease, options);
}

/** Rejects with 409 if the Lease is no longer as it was read: `lease` must have its resourceVersion. */
export async function updateLease(
  client: KubeClient,
  lease: Lease,
  spec: LeaseSpec,
  options: RequestOptions = {},
): Promise<Lease> {
  const { namespace, name } = lease.metadata;
  return await client.update<Lease>(
    pathOf(RESOURCES.leases, { namespace, name }),
    { ...lease, apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec },
    options,
  );
}

/** RFC 3339 with the six digits that the API server demands of a MicroTime. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
