// The eviction subresource of the fake API server: deletes a pod if its PodDisruptionBudget allows it. Used by fake-api.ts.

import { ApiError } from './api-errors.ts';
import type { ApiResource, StoredObject } from './api-resources.ts';
import { type ApiWrites, checkPreconditions, type DeleteOptions } from './api-writes.ts';
import type { ObjectStore } from './object-store.ts';
import { matchesSelector } from './selectors.ts';

const BUDGETS = 'policy/poddisruptionbudgets';

interface BudgetStatus {
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly observedGeneration?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
}

export function evict(
  store: ObjectStore,
  writes: ApiWrites,
  pods: ApiResource,
  pod: StoredObject,
  options: DeleteOptions,
  nowMs: number,
): void {
  checkPreconditions(pod, options.preconditions, pods);
  const { namespace, name } = pod.metadata;
  if (!isFree(pod)) {
    const budgets = [...store.each(BUDGETS)].filter((budget) => selects(budget, pod));
    if (budgets.length > 1)
      throw new ApiError(
        500,
        'InternalError',
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      );
    if (budgets[0] !== undefined) claim(store, budgets[0], pod, options.isDryRun === true, nowMs);
  }
  writes.delete(pods, namespace, name, options);
}

/** Pods that are not running cannot be disrupted. */
function isFree(pod: StoredObject): boolean {
  const { phase } = (pod['status'] ?? {}) as { phase?: string };
  return (
    phase === 'Pending' ||
    phase === 'Succeeded' ||
    phase === 'Failed' ||
    pod.metadata.deletionTimestamp !== undefined
  );
}

export function selects(budget: StoredObject, pod: StoredObject): boolean {
  const { selector } = budget['spec'] as { selector?: Parameters<typeof matchesSelector>[1] };
  return (
    budget.metadata.namespace === pod.metadata.namespace &&
    matchesSelector(pod.metadata.labels ?? {}, selector)
  );
}

export function isReady(pod: StoredObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as {
    conditions?: readonly { type: string; status: string }[];
  };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function claim(
  store: ObjectStore,
  budget: StoredObject,
  pod: StoredObject,
  isDryRun: boolean,
  nowMs: number,
): void {
  const status = (budget['status'] ?? {}) as BudgetStatus;
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0, observedGeneration = 0 } = status;
  const refuse = (message: string, retryAfterSeconds: number | null) =>
    new ApiError(
      429,
      'TooManyRequests',
      "Cannot evict pod as it would violate the pod's disruption budget.",
      { causes: [{ reason: 'DisruptionBudget', message }], retryAfterSeconds },
    );
  const { name } = budget.metadata;
  // Pods that are not ready do not count as healthy, and may go while enough others are, or always if the policy says so.
  const { unhealthyPodEvictionPolicy: policy } = budget['spec'] as { unhealthyPodEvictionPolicy?: string };
  const isReleased = policy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
  if (!isReady(pod) && isReleased) return;
  const generation = (budget.metadata as { generation?: number }).generation ?? 1;
  if (observedGeneration < generation)
    throw refuse(`The disruption budget ${name} is still being processed by the server.`, 10);
  if (disruptionsAllowed <= 0)
    throw refuse(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
      null,
    );
  if (isDryRun) return;
  store.put(BUDGETS, {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: disruptionsAllowed - 1,
      disruptedPods: { ...status.disruptedPods, [pod.metadata.name]: new Date(nowMs).toISOString() },
    },
  });
}
