// What reaches the brain of a shard, and what it wants done. Everything here is plain data that crosses threads as it is.

import type { Machine, Need, NeedKey, Requirement } from '../model/index.ts';
import type { ListKind, ListReport, RecordBatch } from '../provider/index.ts';
import type { AvailableCapacityUpdate, NodeStateUpdate } from '../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { OrderResult, RollupOrder, ShardPort } from './views.ts';

/** A cluster's operator, for as long as one connection of it lasts. Numbers are never used twice. */
export interface SessionRef {
  readonly cluster: string;
  readonly session: number;
}

/** How a call to a provider ended, by what the shard does about it. */
export type CallOutcome =
  /** A transition was accepted; the machine as it stood then. */
  | { readonly kind: 'accepted'; readonly operation: string; readonly machine: Machine }
  /** What a Get found. */
  | { readonly kind: 'found'; readonly machine: Machine }
  /** The provider has seen a newer shard of this name: stop. */
  | { readonly kind: 'fenced' }
  /** No such machine. */
  | { readonly kind: 'unknown-machine' }
  /** Throttled, unavailable, timed out: nobody knows whether it happened. */
  | { readonly kind: 'transient'; readonly message: string }
  /** The provider does not let this shard do it: nothing is wrong with the machine. */
  | { readonly kind: 'denied'; readonly message: string }
  /** Nothing of the kind is to be had now. */
  | { readonly kind: 'stock-out'; readonly message: string }
  /** It will not work however often it is tried. */
  | { readonly kind: 'permanent'; readonly message: string };

/** What a reading of a provider's inventory brings. `reading` is the number of the effect that asked for it. */
export type ListEvent =
  | {
      readonly kind: 'list-changed';
      readonly provider: string;
      readonly reading: number;
      /** As the reader packed it: its bytes may be transferred, and the brain decodes them. */
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
  | ({ readonly kind: 'session-opened' } & SessionRef)
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
  | { readonly kind: 'call-ended'; readonly call: number; readonly outcome: CallOutcome };

export type BrainEvent =
  | ActuationEvent
  | ListEvent
  /**
   * A cluster's complete demand, accepted by the guards. `needs` keeps the objects of rows that have not changed. Of a
   * roll-up that the guards hold the brain hears nothing: it keeps the last demand, and a cluster without one since the
   * start has not reported, or all it has would be taken for excess.
   */
  | {
      readonly kind: 'demand';
      readonly cluster: string;
      readonly needs: readonly Need[];
      /** Rows whose size is unknown because they exceed a limit, those that are not even in `needs` included. */
      readonly rowsSetAside: number;
    }
  /** An order that the hands have carried out or refused: the brain logs it and writes it down with all others. */
  | { readonly kind: 'ordered'; readonly order: RollupOrder; readonly result: OrderResult };

/** Where the hands find the brain, wherever it runs. */
export interface BrainPort extends ShardPort {
  post(event: BrainEvent): void;
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
    }
  | {
      readonly kind: 'instruct-reclaim';
      readonly instruction: string;
      readonly cluster: string;
      readonly machine: string;
      readonly graceSeconds: number;
      readonly preemptorPriority: number;
    }
  /** No answer is wanted any more; a new session is not asked again. */
  | { readonly kind: 'withdraw-bootstrap'; readonly cluster: string; readonly request: string }
  | { readonly kind: 'withdraw-reclaim'; readonly cluster: string; readonly instruction: string }
  | CallEffect
  | ListEffect
  /** To the cluster that a machine belongs, or until now belonged, to. */
  | { readonly kind: 'node-state'; readonly cluster: string; readonly update: NodeStateUpdate }
  /** Hints how much more a cluster could have. */
  | {
      readonly kind: 'available-capacity';
      readonly cluster: string;
      readonly updates: readonly AvailableCapacityUpdate[];
    }
  /** A provider has seen a newer shard of our name. Nothing is called any more; the process should end. */
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
