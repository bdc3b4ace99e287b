// What the brain says to a cluster, and the frames it becomes. The key of a frame names what a newer one replaces.

import {
  formatResources,
  type MachineState,
  type Requirement,
  type ResourceVector,
} from '../../model/index.ts';
import {
  AvailableCapacityUpdate_Confidence as Confidence,
  type ShardMessage,
  type Taint,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

export interface NodeState {
  /** The cluster it belongs, or until this change belonged, to. */
  readonly cluster: string;
  readonly machine: string;
  readonly state: MachineState;
  /** '' until its kubelet has registered. */
  readonly nodeName: string;
  readonly providerId: string;
  readonly lastError: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly allocatable: ResourceVector;
  readonly taints: readonly Taint[];
}

export interface AvailableCapacity {
  readonly cluster: string;
  /** Of the profile that is asked for. */
  readonly fingerprint: string;
  readonly requirements: readonly Requirement[];
  /** Of one such machine. */
  readonly allocatable: ResourceVector;
  readonly count: number;
  readonly confidence: 'none' | 'low' | 'medium' | 'high';
  readonly costPerHour: number;
}

/** Asks the operator for what a machine needs to join; answered by `bootstrap-answered`. */
interface BootstrapAsk {
  readonly kind: 'bootstrap';
  readonly cluster: string;
  /** 16 hexadecimal digits, never used twice. */
  readonly id: string;
  readonly requirements: readonly Requirement[];
}

/** Tells the operator to empty a node; answered by `reclaim-acked`. */
interface ReclaimAsk {
  readonly kind: 'reclaim';
  readonly cluster: string;
  /** Never used twice. */
  readonly id: string;
  readonly machine: string;
  /** When the pods must have left, by the clock of the shard: what is sent is the rest. */
  readonly deadlineMs: number;
  readonly preemptorPriority: number;
}

export type Ask = BootstrapAsk | ReclaimAsk;

export interface Outgoing {
  readonly key: string;
  readonly frame: ShardMessage;
}

export function ackFrame(echo: 'hello' | 'rollup', shardEpoch: bigint): Outgoing {
  // There is no coordinator yet, so no term has been seen.
  return outgoing(`ack:${echo}`, { $case: 'ack', value: { echo, coordinatorTerm: 0n, shardEpoch } });
}

export function nodeStateFrame(node: NodeState): Outgoing {
  const key = `node:${node.machine}`;
  return outgoing(key, {
    $case: 'nodeStateUpdate',
    value: {
      supersedesKey: key,
      machineId: node.machine,
      clusterId: node.cluster,
      state: node.state,
      nodeName: node.nodeName,
      providerId: node.providerId,
      lastError: node.lastError,
      labels: new Map(node.labels),
      resources: resources(node.allocatable),
      taints: node.taints,
    },
  });
}

const CONFIDENCE = {
  none: Confidence.CONFIDENCE_NONE,
  low: Confidence.CONFIDENCE_LOW,
  medium: Confidence.CONFIDENCE_MEDIUM,
  high: Confidence.CONFIDENCE_HIGH,
} as const;

export function availableCapacityFrame(capacity: AvailableCapacity): Outgoing {
  const key = `available:${capacity.fingerprint}`;
  return outgoing(key, {
    $case: 'availableCapacity',
    value: {
      supersedesKey: key,
      requirements: requirements(capacity.requirements),
      resources: resources(capacity.allocatable),
      availableCount: capacity.count,
      confidence: CONFIDENCE[capacity.confidence],
      costPerHour: capacity.costPerHour,
    },
  });
}

export function askKey({ kind, id }: Pick<Ask, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

export function askFrame(ask: Ask, nowMs: number): Outgoing {
  const key = askKey(ask);
  if (ask.kind === 'bootstrap') {
    const value = {
      requestId: ask.id,
      requirements: requirements(ask.requirements),
      clusterId: ask.cluster,
    };
    return outgoing(key, { $case: 'bootstrapRequest', value });
  }
  // Operators take 0 for "not given", so a deadline that has passed is sent as a second.
  const seconds = Math.max(1, Math.ceil((ask.deadlineMs - nowMs) / 1000));
  const value = {
    instructionId: ask.id,
    nodes: [ask.machine],
    gracePeriodSeconds: BigInt(seconds),
    preemptorPriority: ask.preemptorPriority,
  };
  return outgoing(key, { $case: 'reclaimInstruction', value });
}

function outgoing(key: string, payload: NonNullable<ShardMessage['payload']>): Outgoing {
  return { key, frame: { payload } };
}

function resources(vector: ResourceVector): { resources: Map<string, string> } {
  return { resources: new Map(Object.entries(formatResources(vector))) };
}

function requirements(list: readonly Requirement[]) {
  return list.map(({ key, operator, values }) => ({ key, operator, values: [...values] }));
}
