// The pods of a node that a drain would evict: all but those of DaemonSets, static ones and finished ones, which either
// come back at once or are over. Values in, values out.

import type { Pod } from '../kube/objects.ts';
import { healthOf, isAgainstDisruption, type PodHealth } from '../pods/disruption.ts';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
/** Kubernetes' own default. */
const DEFAULT_GRACE_SECONDS = 30;

export interface DrainPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** When a pod that is being deleted must have ended; null if it is not being deleted. */
  readonly endsMs: number | null;
  /** It has an annotation against disruption. */
  readonly isHeld: boolean;
  readonly health: PodHealth;
  readonly priority: number;
  readonly createdMs: number;
  readonly graceSeconds: number;
}

/** In the order in which they should leave: lowest priority first, then the youngest, which have done the least work. */
export function drainPods(pods: readonly Pod[]): readonly DrainPod[] {
  return pods.filter(leavesByEviction).map(drainPod).sort(compare);
}

/** `pod/<namespace>/<name>`, as reports name it. */
export function podId({ namespace, name }: DrainPod): string {
  return `pod/${namespace}/${name}`;
}

function leavesByEviction({ metadata, status }: Pod): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind === 'DaemonSet' || owner?.kind === 'Node') return false;
  if (metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return false;
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function drainPod(pod: Pod): DrainPod {
  const { metadata, spec } = pod;
  const ends = metadata.deletionTimestamp === undefined ? null : Date.parse(metadata.deletionTimestamp);
  return {
    namespace: metadata.namespace ?? 'default',
    name: metadata.name,
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    endsMs: ends === null || !Number.isNaN(ends) ? ends : 0,
    isHeld: isAgainstDisruption(metadata.annotations),
    health: healthOf(pod),
    priority: spec.priority ?? 0,
    createdMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
    graceSeconds: spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
  };
}

function compare(a: DrainPod, b: DrainPod): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.createdMs !== b.createdMs) return b.createdMs - a.createdMs;
  return podId(a) < podId(b) ? -1 : 1;
}
