// One eviction through policy/v1, and what the answer means. A pod is named with its uid, so that a pod of the same name
// that replaced it, as in a StatefulSet, is never hit. Requests are not repeated here: the next round is the retry.

import { type KubeClient, KubeError } from '../kube/client.ts';
import { evictPod } from '../kube/writes.ts';
import type { OperatorMetrics } from '../nodes/contract.ts';
import { podPath } from '../nodes/paths.ts';
import { budgetId } from './budgets.ts';
import type { DrainPod } from './drain-pods.ts';

/** Longest grace of a pod that is deleted past the deadline of a preemption. */
const FORCED_GRACE_SECONDS = 30;

export type Outcome =
  /** The pod is being deleted. */
  | { readonly kind: 'evicted' }
  /** The pod was gone before. */
  | { readonly kind: 'gone' }
  /** A budget refuses for now. `budget`: its id, null if the API server did not name it. */
  | { readonly kind: 'budget'; readonly budget: string | null }
  /** The API server is busy, unreachable, or refuses for another reason. */
  | { readonly kind: 'failed' };

export class Evictor {
  readonly #kube: KubeClient;
  readonly #metrics: OperatorMetrics;

  constructor(kube: KubeClient, metrics: OperatorMetrics) {
    this.#kube = kube;
    this.#metrics = metrics;
  }

  async evict(pod: DrainPod): Promise<Outcome> {
    const outcome = await this.#evict(pod);
    this.#metrics.count('bigfleet_operator_evictions_total', { outcome: outcome.kind });
    return outcome;
  }

  /** Without asking budgets. */
  async delete(pod: DrainPod): Promise<'evicted' | 'gone' | 'failed'> {
    const outcome = await this.#delete(pod);
    this.#metrics.count('bigfleet_operator_forced_deletions_total', { outcome });
    return outcome;
  }

  async #evict({ namespace, name, uid }: DrainPod): Promise<Outcome> {
    try {
      const pod = { namespace, name, ...(uid === '' ? {} : { uid }) };
      const outcome = await evictPod(this.#kube, pod, { maxRetries: 0 });
      if (outcome.kind !== 'blocked') return outcome;
      const { budget } = outcome;
      return { kind: 'budget', budget: budget === '' ? null : budgetId(namespace, budget) };
    } catch {
      return { kind: 'failed' };
    }
  }

  async #delete({ namespace, name, uid, graceSeconds }: DrainPod): Promise<'evicted' | 'gone' | 'failed'> {
    const options = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: Math.min(graceSeconds, FORCED_GRACE_SECONDS),
      ...(uid === '' ? {} : { preconditions: { uid } }),
    };
    try {
      await this.#kube.delete(podPath(namespace, name), options, { maxRetries: 0 });
      return 'evicted';
    } catch (error) {
      // The only precondition is the uid, so a conflict means that the pod was replaced.
      return error instanceof KubeError && (error.isNotFound || error.isConflict) ? 'gone' : 'failed';
    }
  }
}
