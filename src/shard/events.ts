// The controller's inputs (events) and outputs (effects). All of them are plain data that can be cloned between
// threads. They pass between planning/controller.ts and the main thread (process/, sessions/, demand/). What people
// see as events of a shard is `ShardEvent` in views.ts.

import type { CapacityType, Machine, NeedKey, NodeFacts, Requirement, RollupDelta } from '../model/index.ts';
import type { ListKind, ListReport, RecordBatch } from '../provider/index.ts';
import type {
  AvailableCapacityUpdate,
  NeedVerdicts,
  NodeStateUpdate,
} from '../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { OrderResult, RollupOrder, ShardPort } from './views.ts';

/** One connection of a cluster's operator. Session numbers are never used twice. */
export interface SessionRef {
  readonly cluster: string;
  readonly session: number;
}

/** Additions to the protocol that the operator of a session announced. */
export interface SessionFeatures {
  /** Reports when a node has drained: the provider is not called before. */
  readonly drainReport: boolean;
  /** Receives verdicts on its needs. */
  readonly verdicts: boolean;
}

/** Why a machine is drained: no row claims it, a row of higher priority takes it, or a row takes an unclaimed machine. */
export type DrainKind = 'reclaim' | 'preemption' | 'excess';

/** What an operator may put into the bootstrap blob of a machine that is to join. The bounds are those of `MachineLimits`. */
export interface JoiningMachine {
  readonly machineId: string;
  /** Labels that the node will carry. */
  readonly labels: ReadonlyMap<string, string>;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** The provider's id of the host; '' if it is not known yet. */
  readonly providerId: string;
}

/** What an operator reports of the node of a machine. Texts are bounded by `FrameLimits`; they may be repeated. */
export interface NodeReported {
  readonly kind: 'node-reported';
  readonly cluster: string;
  readonly machine: string;
  readonly what: 'joined' | 'join-timeout' | 'drained' | 'drain-blocked';
  /** Of a drain; '' for joins. */
  readonly instruction: string;
  readonly nodeName: string;
  readonly providerId: string;
  readonly reason: string;
  readonly blockedBy: readonly string[];
}

/** Outcomes of a call to a provider, classified by the shard's reaction. */
export type CallOutcome =
  /** A transition was accepted; `machine` is the provider's record at that time. */
  | { readonly kind: 'accepted'; readonly operation: string; readonly machine: Machine }
  /** The result of a Get. */
  | { readonly kind: 'found'; readonly machine: Machine }
  /** The provider has seen a newer shard of this name: stop. */
  | { readonly kind: 'fenced' }
  /** No such machine. */
  | { readonly kind: 'unknown-machine' }
  /** Throttled, unavailable or timed out: it is unknown whether the call took effect. */
  | { readonly kind: 'transient'; readonly message: string }
  /** The provider denies this shard the call; the machine is not at fault. */
  | { readonly kind: 'denied'; readonly message: string }
  /** The offering is not available now. */
  | { readonly kind: 'stock-out'; readonly message: string }
  /** A retry cannot succeed. */
  | { readonly kind: 'permanent'; readonly message: string };

/** Results of an inventory read. `reading` is the number in the effect that requested it. */
export type ListEvent =
  | {
      readonly kind: 'list-changed';
      readonly provider: string;
      readonly reading: number;
      /** As the reader packed it: its bytes may be transferred, and the controller decodes them. */
      readonly batch: RecordBatch;
    }
  | {
      readonly kind: 'list-gone';
      readonly provider: string;
      readonly reading: number;
      readonly ids: readonly string[];
    }
  /** `report` is null if the reading failed; `error` says how. */
  | {
      readonly kind: 'list-ended';
      readonly provider: string;
      readonly reading: number;
      readonly report: ListReport | null;
      readonly error: string;
    };

/** What actuation waits for. */
export type ActuationEvent =
  | ({ readonly kind: 'session-opened'; readonly features: SessionFeatures } & SessionRef)
  /** The operator of an open session has repeated its hello with other features. */
  | ({ readonly kind: 'session-features'; readonly features: SessionFeatures } & SessionRef)
  | ({ readonly kind: 'session-closed' } & SessionRef)
  | {
      readonly kind: 'bootstrap-answered';
      readonly request: string;
      /** null: the operator says it cannot; `error` says why. */
      readonly blob: Uint8Array | null;
      readonly ttlSeconds: number;
      readonly error: string;
    }
  | { readonly kind: 'reclaim-acked'; readonly instruction: string }
  | NodeReported
  | { readonly kind: 'call-ended'; readonly call: number; readonly outcome: CallOutcome };

export type ControllerEvent =
  | ActuationEvent
  | ListEvent
  /**
   * A cluster's roll-up, accepted by the guard, with first-seen times, as its difference from the last one that was posted. A
   * quarantined roll-up is not posted: the controller keeps the last demand. A cluster without an accepted roll-up since the start counts as
   * not having reported; otherwise all its machines would count as excess.
   */
  | {
      readonly kind: 'demand';
      readonly delta: RollupDelta;
      /** Number of rows of unknown size because they exceed a limit, including those without a key, absent from `delta`. */
      readonly rowsSetAside: number;
    }
  /**
   * How a cluster uses its nodes, with an accepted or unchanged roll-up; posted when it changes, after the demand. Replaces the
   * facts posted before.
   */
  | { readonly kind: 'node-facts'; readonly cluster: string; readonly facts: NodeFacts }
  /** An order that the sessions have executed or refused: the controller logs and journals it like its own orders. */
  | { readonly kind: 'ordered'; readonly order: RollupOrder; readonly result: OrderResult };

/** The sessions' interface to the controller, independent of its thread. */
export interface ControllerPort extends ShardPort {
  post(event: ControllerEvent): void;
}

export type Effect =
  | {
      readonly kind: 'ask-bootstrap';
      readonly request: string;
      readonly cluster: string;
      readonly machine: string;
      readonly need: NeedKey;
      /** Of the need, so that a cluster can render by profile. */
      readonly requirements: readonly Requirement[];
      readonly joining: JoiningMachine;
    }
  | {
      readonly kind: 'instruct-reclaim';
      readonly instruction: string;
      readonly cluster: string;
      readonly machine: string;
      readonly graceSeconds: number;
      readonly preemptorPriority: number;
      readonly drainKind: DrainKind;
    }
  /** The answer is no longer needed; new sessions are not sent the request. */
  | { readonly kind: 'withdraw-bootstrap'; readonly cluster: string; readonly request: string }
  | {
      readonly kind: 'withdraw-reclaim';
      readonly cluster: string;
      readonly instruction: string;
      readonly machine: string;
      /** Why the node stays, which operators that know withdrawals are sent; null: the machine has left, or fails. */
      readonly staysBecause: string | null;
    }
  | CallEffect
  | ListEffect
  /** Sent to the cluster that the machine is bound to, or was bound to until this update. */
  | { readonly kind: 'node-state'; readonly cluster: string; readonly update: NodeStateUpdate }
  /** Hints how much more a cluster could have. */
  | {
      readonly kind: 'available-capacity';
      readonly cluster: string;
      readonly updates: readonly AvailableCapacityUpdate[];
    }
  /** Verdicts on the needs of a cluster; for operators that announced the feature. */
  | { readonly kind: 'need-verdicts'; readonly cluster: string; readonly frame: NeedVerdicts }
  /** A roll-up could not be applied to the last one that the controller has: the whole roll-up must be posted. */
  | { readonly kind: 'ask-demand'; readonly cluster: string }
  /** A provider has seen a newer process of this shard. No provider is called any more; the process should end. */
  | { readonly kind: 'stop'; readonly why: 'fenced'; readonly provider: string; readonly machine: string };

export interface CallEffect {
  readonly kind: 'call';
  readonly call: number;
  readonly provider: string;
  readonly machine: string;
  readonly request: ProviderRequest;
}

/** Read a provider's inventory. One reading of a provider at a time. */
export interface ListEffect {
  readonly kind: 'list';
  readonly provider: string;
  readonly reading: number;
  readonly wanted: ListKind;
}

export type ProviderRequest =
  | { readonly command: 'create' }
  | {
      readonly command: 'configure';
      readonly cluster: string;
      readonly blob: Uint8Array;
      readonly metadata: ReadonlyMap<string, string>;
    }
  | { readonly command: 'drain'; readonly graceSeconds: number }
  | { readonly command: 'delete' }
  | { readonly command: 'get' };
