// Which pods count: what a single pod, request or namespace says about that, as flags. The rules that combine them with the
// node and namespace of the pod are in row-choice.ts.

import type { CapacityRequest, Condition, Namespace, ObjectMeta, Pod } from '../kube/objects.ts';
import { DO_NOT_DISRUPT, healthOf, isAgainstDisruption } from '../pods/disruption.ts';
import { IGNORE, OPT_IN, OWNED_BY_POD } from '../pods/keys.ts';
import { isOn, switchRemark } from '../pods/switches.ts';

export const Flag = {
  /** Succeeded or Failed. */
  Finished: 1,
  Terminating: 2,
  /** The scheduler has found no node, and no gate keeps the pod from being scheduled. */
  Unschedulable: 4,
  /** A DaemonSet or static pod: follows the node, and no machine is acquired for it. */
  Overhead: 8,
  /** An annotation against disruption. */
  DoNotDisrupt: 16,
  Ignored: 32,
  OptedIn: 64,
  /** Explicitly not opted in, whatever the namespace says. */
  OptedOut: 128,
  /** A CapacityRequest, not a pod. */
  Request: 256,
  /** Cannot be counted. */
  Quarantined: 512,
  /** A CapacityRequest whose status says Acknowledged. */
  Acknowledged: 1024,
  /** It has not run yet. */
  Pending: 2048,
  /** It runs and is not ready. */
  Unready: 4096,
} as const;

/** Objects with one of these flags are in no row of their own. */
export const NEVER_COUNTS = Flag.Finished | Flag.Terminating | Flag.Overhead | Flag.Quarantined;

const MIRROR = 'kubernetes.io/config.mirror';

export function flagsOfPod(pod: Pod): number {
  const { metadata, spec, status } = pod;
  let flags = optFlags(metadata);
  const phase = status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed') flags |= Flag.Finished;
  if (metadata.deletionTimestamp !== undefined) flags |= Flag.Terminating;
  const health = healthOf(pod);
  if (health !== 'ready') flags |= health === 'pending' ? Flag.Pending : Flag.Unready;
  if (isOverhead(metadata)) flags |= Flag.Overhead;
  if (isAgainstDisruption(metadata.annotations)) flags |= Flag.DoNotDisrupt;
  const isGated = spec.schedulingGates !== undefined && spec.schedulingGates.length > 0;
  if (!isGated && unschedulableCondition(status?.conditions) !== undefined) flags |= Flag.Unschedulable;
  return flags;
}

export function flagsOfRequest({ metadata, status }: CapacityRequest): number {
  let flags = Flag.Request | (optFlags(metadata) & Flag.Ignored);
  if (metadata.deletionTimestamp !== undefined) flags |= Flag.Terminating;
  if (status?.phase === 'Acknowledged') flags |= Flag.Acknowledged;
  return flags;
}

/** The condition with which the scheduler says that it found no node. */
export function unschedulableCondition(conditions: readonly Condition[] | undefined): Condition | undefined {
  if (conditions === undefined) return undefined;
  for (const condition of conditions) {
    if (condition.type === 'PodScheduled')
      return condition.status === 'False' && condition.reason === 'Unschedulable' ? condition : undefined;
  }
  return undefined;
}

/** Uid of the pod that a CapacityRequest was made for; '' for none. */
export function ownerOf({ metadata }: CapacityRequest): string {
  const owner = metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === 'Pod' && apiVersion === 'v1',
  );
  return metadata.labels?.[OWNED_BY_POD] ?? owner?.uid ?? '';
}

/** What a namespace says for all its pods. */
export interface NamespacePolicy {
  readonly isIgnored: boolean;
  readonly isOptedIn: boolean;
  /** What to say on its pods about switches of the namespace that are neither on nor off. */
  readonly misread: readonly string[];
}

const NO_REMARKS: readonly string[] = [];

export const NO_POLICY: NamespacePolicy = { isIgnored: false, isOptedIn: false, misread: NO_REMARKS };

export function policyOf({ metadata }: Namespace): NamespacePolicy {
  const flags = optFlags(metadata);
  const misread = misreadSwitches(metadata).map((remark) => `On its namespace: ${remark}`);
  return { isIgnored: (flags & Flag.Ignored) !== 0, isOptedIn: (flags & Flag.OptedIn) !== 0, misread };
}

/** What to say about switches of an object whose value is neither on nor off. */
export function misreadSwitches({ labels, annotations }: ObjectMeta): readonly string[] {
  if (labels === undefined && annotations === undefined) return NO_REMARKS;
  const remarks = [
    switchRemark(IGNORE, labels?.[IGNORE]),
    switchRemark(IGNORE, annotations?.[IGNORE]),
    switchRemark(OPT_IN, labels?.[OPT_IN]),
    ...DO_NOT_DISRUPT.map((key) => switchRemark(key, annotations?.[key], true)),
  ].filter((remark) => remark !== null);
  return remarks.length === 0 ? NO_REMARKS : remarks;
}

function optFlags({ labels, annotations }: ObjectMeta): number {
  let flags = 0;
  if (isOn(labels?.[IGNORE]) || isOn(annotations?.[IGNORE])) flags |= Flag.Ignored;
  const optIn = labels?.[OPT_IN];
  if (optIn !== undefined) flags |= isOn(optIn) ? Flag.OptedIn : Flag.OptedOut;
  return flags;
}

function isOverhead({ ownerReferences, annotations }: ObjectMeta): boolean {
  if (annotations !== undefined && Object.hasOwn(annotations, MIRROR)) return true;
  if (ownerReferences === undefined) return false;
  for (const { kind, controller } of ownerReferences)
    if (kind === 'Node' || (kind === 'DaemonSet' && controller !== false)) return true;
  return false;
}
