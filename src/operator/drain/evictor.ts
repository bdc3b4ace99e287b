// One eviction through policy/v1, and what the answer means. A pod is named with its uid, so that a pod of the same name
// that replaced it, as in a StatefulSet, is never hit.

import { type KubeClient, KubeError } from '../kube/client.ts';
import type { OperatorMetrics } from '../nodes/contract.ts';
import { podPath } from '../nodes/paths.ts';
import type { DrainPod } from './drain-pods.ts';

/** Longest grace of a pod that is deleted past the deadline of a preemption. */
const FORCED_GRACE_SECONDS = 30;

export type Outcome =
  /** The pod is being deleted. */
  | 'evicted'
  /** The pod was gone before. */
  | 'gone'
  /** A budget refuses for now. */
  | 'budget'
  /** The API server is busy, unreachable, or refuses for another reason. */
  | 'failed';

export class Evictor {
  readonly #kube: KubeClient;
  readonly #metrics: OperatorMetrics;

  constructor(kube: KubeClient, metrics: OperatorMetrics) {
    this.#kube = kube;
    this.#metrics = metrics;
  }

  async evict(pod: DrainPod): Promise<Outcome> {
    const outcome = await this.#attempt(async () => {
      await this.#kube.create(`${podPath(pod.namespace, pod.name)}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: pod.name, namespace: pod.namespace },
        deleteOptions: preconditions(pod),
      });
    });
    this.#metrics.count('bigfleet_operator_evictions_total', { outcome });
    return outcome;
  }

  /** Without asking budgets. */
  async delete(pod: DrainPod): Promise<Outcome> {
    const outcome = await this.#attempt(async () => {
      await this.#kube.delete(podPath(pod.namespace, pod.name), {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: Math.min(pod.graceSeconds, FORCED_GRACE_SECONDS),
        ...preconditions(pod),
      });
    });
    this.#metrics.count('bigfleet_operator_forced_deletions_total', { outcome });
    return outcome;
  }

  async #attempt(call: () => Promise<void>): Promise<Outcome> {
    try {
      await call();
      return 'evicted';
    } catch (error) {
      if (!(error instanceof KubeError)) return 'failed';
      // A conflict means that the uid is another one by now.
      if (error.isNotFound || error.isConflict) return 'gone';
      return error.isDisruptionBudget ? 'budget' : 'failed';
    }
  }
}

function preconditions({ uid }: DrainPod): object {
  return uid === '' ? {} : { preconditions: { uid } };
}
