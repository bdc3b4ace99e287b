// Contract between the table of pods, which makes the demand, and the parts of the operator that read it.

import type { ResourceVector } from '../../model/index.ts';
import type { NodeFacts } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';

/** The identity of a row of this cluster, as verdicts name it. */
export interface RowKey {
  readonly fingerprint: string;
  readonly group: string;
}

/** A pod that waits for a machine: the scheduler has marked it Unschedulable. */
export interface PendingPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** When the scheduler marked it. */
  readonly unschedulableSinceMs: number;
  readonly row: RowKey;
  readonly resources: ResourceVector;
  /** What the pod asks for that a row cannot express, for a person. */
  readonly remarks: readonly string[];
}

/** A Need that a part of the operator adds to the roll-up: an episode of stuck pods. */
export interface ExtraNeed {
  /** Fingerprint of the row whose profile it has. */
  readonly fingerprint: string;
  readonly group: string;
  readonly aggregate: ResourceVector;
  readonly minUnit: ResourceVector;
}

/** Pods of one node that a drain would evict, that is, without those of DaemonSets and static ones. */
export interface NodeUse {
  readonly pods: number;
  /** Pods with an annotation against disruption. */
  readonly doNotDisrupt: number;
  /** Pods that match a PodDisruptionBudget which allows no disruption now. */
  readonly withoutBudget: number;
}

/** What other parts read of the pods of the cluster. */
export interface PodsView {
  pendingPods(): Iterable<PendingPod>;
  /** Null if no node of that name is known. */
  useOf(nodeName: string): NodeUse | null;
  /** Names of the nodes for which the answer of `useOf` may have changed since the last call. For one reader, node facts. */
  takeChangedUse(): Iterable<string>;
  /** Number of pods that count for a row, bound ones included. */
  podsIn(row: RowKey): number;
}

/** What a roll-up takes from other parts of the operator. */
export interface RollupParts {
  readonly extraNeeds: readonly ExtraNeed[];
  /** Undefined: the shard is not told anything about nodes. */
  readonly nodeFacts: NodeFacts | undefined;
}

/** An object that cannot be counted, or not as it is now; the operator says so on the object. */
export interface UncountedObject {
  readonly kind: 'Pod' | 'CapacityRequest';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** For a person. */
  readonly problem: string;
  /** It cannot be read; an earlier version of it may count. */
  readonly isUnreadable: boolean;
}

/** A pod that counts, or that would but for a problem; the operator itself tracks only those that wait. */
export interface CountedPod {
  readonly uid: string;
  /** Null: it is in no row. */
  readonly row: RowKey | null;
  readonly resources: ResourceVector;
  /** What its shape asks for that a row cannot express, for a person. */
  readonly remarks: readonly string[];
  /** Why it is in no row; null if it is in one. */
  readonly problem: string | null;
}

/** A CapacityRequest by name. */
export interface RequestName {
  readonly namespace: string;
  readonly name: string;
}

/** A CapacityRequest that counts, itself or through its pod, with the row. */
export interface CountedRequest extends RequestName {
  readonly uid: string;
  readonly row: RowKey;
}

/** One roll-up, ready to be sent. */
export interface Rollup {
  /** Encoded `ClusterCapacityNeeds`. Not written again: callers may keep it. */
  readonly bytes: Uint8Array;
  readonly timestampUnixNanos: bigint;
  readonly rows: number;
  /** Whether it is the last one again, because a watch is lost or a list is in progress. */
  readonly isRepeated: boolean;
  /** CapacityRequests whose status does not say yet that they are part of a roll-up, each for the first time in a while. */
  readonly acknowledge: readonly RequestName[];
}

/** Where the session gets roll-ups from. */
export interface RollupSource {
  /** Null before everything that demand depends on has been listed once. */
  build(timestampUnixNanos: bigint, parts: RollupParts): Rollup | null;
  /** What a first roll-up still waits for, or why the last one is repeated; null if neither. For a person. */
  readonly problem: string | null;
}
