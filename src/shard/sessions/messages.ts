// Messages of the controller to a cluster, and their frames. A newer frame replaces a queued one of equal key. Made by
// sessions.ts and session.ts.

import type { Requirement } from '../../model/index.ts';
import {
  type AvailableCapacityUpdate,
  type NeedVerdicts,
  type NodeStateUpdate,
  ReclaimInstruction_Kind,
  type ReclaimWithdrawal,
  type RollupReport,
  type ShardMessage,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { FEATURES, type Feature, requirementsToWire } from '../../wire/index.ts';
import type { DrainKind, JoiningMachine } from '../events.ts';

/** Asks the operator for what a machine needs to join; answered by `bootstrap-answered`. */
interface BootstrapAsk {
  readonly kind: 'bootstrap';
  readonly cluster: string;
  /** 16 hexadecimal digits, never used twice. */
  readonly id: string;
  readonly requirements: readonly Requirement[];
  readonly joining: JoiningMachine;
}

/** Instructs the operator to drain a node; answered by `reclaim-acked`. */
interface ReclaimAsk {
  readonly kind: 'reclaim';
  readonly cluster: string;
  /** Never used twice. */
  readonly id: string;
  readonly machine: string;
  /** Deadline of the eviction by the clock of the shard; the remaining time is sent. */
  readonly deadlineMs: number;
  readonly preemptorPriority: number;
  readonly drainKind: DrainKind;
}

export type Ask = BootstrapAsk | ReclaimAsk;

export interface Outgoing {
  readonly key: string;
  readonly frame: ShardMessage;
}

/** The payloads of numbers from 1000 up: operators that do not announce the feature must not get them. */
const FEATURE_OF: Partial<Record<NonNullable<ShardMessage['payload']>['$case'], Feature>> = {
  rollupReport: 'rollup-report',
  needVerdicts: 'verdicts',
  reclaimWithdrawal: 'withdraw',
};

/** The feature without which an operator must not get a frame; null: any operator may. */
export function featureOf({ payload }: ShardMessage): Feature | null {
  return payload === undefined ? null : (FEATURE_OF[payload.$case] ?? null);
}

/** `rollupTimestampUnixNanos`: of the roll-up that is acknowledged, 0 for a hello. */
export function ackFrame(
  echo: 'hello' | 'rollup',
  shardEpoch: bigint,
  rollupTimestampUnixNanos = 0n,
): Outgoing {
  const features = echo === 'hello' ? [...FEATURES] : [];
  // There is no coordinator yet, so no term has been seen.
  return outgoing(`ack:${echo}`, {
    $case: 'ack',
    value: { echo, coordinatorTerm: 0n, shardEpoch, features, rollupTimestampUnixNanos },
  });
}

/** Outcome of the last roll-up. A newer report replaces a queued one. */
export function rollupReportFrame(value: RollupReport): Outgoing {
  return outgoing(ROLLUP_REPORT_KEY, { $case: 'rollupReport', value });
}

const ROLLUP_REPORT_KEY = 'rollup-report';

/** `number` is never used twice. */
export function verdictsFrame(value: NeedVerdicts, number: number): Outgoing {
  return outgoing(`verdicts:${number}`, { $case: 'needVerdicts', value });
}

/** The nodes of an instruction stay. */
export function withdrawalFrame(value: ReclaimWithdrawal): Outgoing {
  return outgoing(`withdrawal:${value.instructionId}`, { $case: 'reclaimWithdrawal', value });
}

export function nodeStateFrame(value: NodeStateUpdate): Outgoing {
  return outgoing(value.supersedesKey, { $case: 'nodeStateUpdate', value });
}

export function availableCapacityFrame(value: AvailableCapacityUpdate): Outgoing {
  return outgoing(value.supersedesKey, { $case: 'availableCapacity', value });
}

export function askKey({ kind, id }: Pick<Ask, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

export function askFrame(ask: Ask, nowMs: number): Outgoing {
  const key = askKey(ask);
  if (ask.kind === 'bootstrap') {
    const value = {
      requestId: ask.id,
      requirements: requirementsToWire(ask.requirements),
      clusterId: ask.cluster,
      ...ask.joining,
      labels: new Map(ask.joining.labels),
      taints: [],
    };
    return outgoing(key, { $case: 'bootstrapRequest', value });
  }
  // Operators interpret 0 as "unset".
  const seconds = Math.max(1, Math.ceil((ask.deadlineMs - nowMs) / 1000));
  const value = {
    instructionId: ask.id,
    nodes: [ask.machine],
    gracePeriodSeconds: BigInt(seconds),
    preemptorPriority: ask.preemptorPriority,
    kind: DRAIN_KINDS[ask.drainKind],
  };
  return outgoing(key, { $case: 'reclaimInstruction', value });
}

const DRAIN_KINDS: Readonly<Record<DrainKind, ReclaimInstruction_Kind>> = {
  reclaim: ReclaimInstruction_Kind.KIND_RECLAIM,
  preemption: ReclaimInstruction_Kind.KIND_PREEMPTION,
  excess: ReclaimInstruction_Kind.KIND_EXCESS,
};

function outgoing(key: string, payload: NonNullable<ShardMessage['payload']>): Outgoing {
  return { key, frame: { payload } };
}
