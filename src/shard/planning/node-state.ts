// Node state frames, which report machines to their cluster. A frame is complete, so a newer one replaces an older one
// of the same machine. A machine that leaves a cluster is reported to the cluster it leaves. Used by
// node-state-router.ts.

import {
  canonicalResources,
  effectiveAllocatable,
  INSTANCE_TYPE_KEY,
  type Machine,
  MachineState,
  ZONE_KEY,
} from '../../model/index.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { resourcesToWire } from '../../wire/index.ts';

/** Input of a frame. */
export type NodeRecord = Pick<
  Machine,
  | 'id'
  | 'state'
  | 'cluster'
  | 'host'
  | 'instanceType'
  | 'zone'
  | 'labels'
  | 'resources'
  | 'allocatable'
  | 'lastError'
>;

export const MACHINE_GONE = 'The provider no longer has this machine.';
const HOSTNAME_KEY = 'kubernetes.io/hostname';

/** Name of the node in the cluster: the provider's well-known label, else the id of the machine. */
export function nodeNameOf({ id, labels }: Pick<NodeRecord, 'id' | 'labels'>): string {
  return labels.get(HOSTNAME_KEY) || id;
}

/** Frame for the machine's cluster, or for the one that it has just left. */
export function nodeStateUpdate(machine: NodeRecord, cluster = machine.cluster): NodeStateUpdate {
  return {
    supersedesKey: `node:${machine.id}`,
    machineId: machine.id,
    clusterId: cluster,
    state: machine.state,
    nodeName: hasNode(machine.state) ? nodeNameOf(machine) : '',
    providerId: machine.host?.ref ?? '',
    lastError: machine.lastError,
    labels: nodeLabels(machine),
    resources: { resources: resourcesToWire(effectiveAllocatable(machine)) },
    taints: [],
  };
}

/** Frames for one change of a machine, each with the cluster it goes to; null: not on record. */
export function nodeStateUpdates(before: NodeRecord | null, after: NodeRecord | null): NodeStateUpdate[] {
  const left = before?.cluster ?? '';
  const joined = after?.cluster ?? '';
  const updates: NodeStateUpdate[] = [];
  if (left !== '' && left !== joined) updates.push(farewell(before!, joined === '' ? after : null));
  if (joined !== '' && (left !== joined || !sameNode(before!, after!))) updates.push(nodeStateUpdate(after!));
  return updates;
}

/**
 * The last frame of a machine to the cluster it left. If the machine is on record and in no other cluster, the frame has
 * its new state. Otherwise a machine that was draining is reported Idle and any other Failed: the wire has no state "gone".
 */
function farewell(before: NodeRecord, after: NodeRecord | null): NodeStateUpdate {
  if (after !== null) return nodeStateUpdate(after, before.cluster);
  if (before.state === MachineState.Draining) return nodeStateUpdate({ ...before, state: MachineState.Idle });
  return nodeStateUpdate({ ...before, state: MachineState.Failed, lastError: MACHINE_GONE });
}

/** The node exists from Configured until the machine has drained. */
function hasNode(state: MachineState): boolean {
  return state === MachineState.Configured || state === MachineState.Draining;
}

/** Labels that the node of a machine carries. */
export function nodeLabels({
  labels,
  instanceType,
  zone,
}: Pick<NodeRecord, 'labels' | 'instanceType' | 'zone'>): Map<string, string> {
  const all = new Map(labels);
  if (instanceType !== '') all.set(INSTANCE_TYPE_KEY, instanceType);
  if (zone !== '') all.set(ZONE_KEY, zone);
  return all;
}

/** Whether both records yield the same frame; prices and stamps are not part of it. */
function sameNode(a: NodeRecord, b: NodeRecord): boolean {
  return (
    a.state === b.state &&
    a.host?.ref === b.host?.ref &&
    a.lastError === b.lastError &&
    a.instanceType === b.instanceType &&
    a.zone === b.zone &&
    sameLabels(a.labels, b.labels) &&
    canonicalResources(effectiveAllocatable(a)) === canonicalResources(effectiveAllocatable(b))
  );
}

function sameLabels(a: Machine['labels'], b: Machine['labels']): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}
