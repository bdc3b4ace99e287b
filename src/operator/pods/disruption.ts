// What keeps pods and nodes from being disrupted: annotations of BigFleet and of the two autoscalers that workloads may come
// from, and the rules by which the eviction API asks a disruption budget. The facts of nodes and the drains read them here, so
// that what counts as protected is what a drain leaves alone.

import type { Pod, PodDisruptionBudget } from '../kube/objects.ts';
import { isOff } from './switches.ts';

type Annotations = Readonly<Record<string, string>>;

/** In force unless switched off: a value that is not known must not cost a pod its node. */
export const DO_NOT_DISRUPT = ['bigfleet.lucy.sh/do-not-disrupt', 'karpenter.sh/do-not-disrupt'];
/** cluster-autoscaler's, in force with the value 'false'. */
const SAFE_TO_EVICT = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
/** cluster-autoscaler's annotation of nodes. */
const SCALE_DOWN_DISABLED = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';

/** Whether annotations forbid to disrupt a pod by choice. */
export function isAgainstDisruption(annotations: Annotations | undefined): boolean {
  if (annotations === undefined) return false;
  if (annotations[SAFE_TO_EVICT] === 'false') return true;
  return DO_NOT_DISRUPT.some((key) => annotations[key] !== undefined && !isOff(annotations[key]));
}

/** Whether annotations forbid to disrupt a node by choice. */
export function isNodeProtected(annotations: Annotations | undefined): boolean {
  return isAgainstDisruption(annotations) || annotations?.[SCALE_DOWN_DISABLED] === 'true';
}

/** `pending`: it has not run yet, so no budget is asked. `unready`: see `releasesUnready`. */
export type PodHealth = 'pending' | 'unready' | 'ready';

export function healthOf({ status }: Pod): PodHealth {
  if (status?.phase === 'Pending') return 'pending';
  for (const { type, status: value } of status?.conditions ?? [])
    if (type === 'Ready') return value === 'True' ? 'ready' : 'unready';
  return 'unready';
}

/** Whether the eviction API evicts running pods that are not ready without asking for room in the budget. */
export function releasesUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}
