// Actions as the API and the dashboard show them: pending ones, and the latest that ended. Part of actuation.ts.

import type { ActionKind, ActionReason, Leaving } from '../../model/index.ts';
import type { ErrorClass } from '../inventory/error-class.ts';
import type { NeedRef } from '../views.ts';

export type ActionOutcome =
  /** The machine reached its goal: it has a host, is Configured, has drained, or no longer has a host. */
  | 'success'
  | 'ctx_canceled'
  | 'fenced'
  | 'no_session'
  | 'transition_raced_to_idle'
  | 'transition_error'
  | 'blob_error'
  /** The provider refused for good. */
  | 'provider_error'
  /** The provider denied the call to this shard. */
  | 'denied'
  /** The provider has no stock of the offering. */
  | 'stock_out'
  /** The provider throttled, was unreachable or timed out on every attempt. */
  | 'transient'
  | 'stale_state'
  /** The cluster could not drain the node within the grace, so the machine stays where it is. */
  | 'drain_withdrawn'
  /** The provider no longer has the machine. */
  | 'inventory_miss'
  | 'missing_profile'
  /** The provider accepted the call, and the machine became Failed. */
  | 'machine_failed'
  /** The provider accepted the call, and the machine returned to the state it came from. */
  | 'rolled_back'
  /** The provider accepted the call, and another actor then moved the machine to an unrelated state or cluster. */
  | 'superseded';

export interface ActionRecord {
  readonly id: string;
  readonly kind: ActionKind;
  readonly machine: string;
  readonly provider: string;
  readonly cluster: string;
  /** Snapshot of the row at acceptance: name and priority remain readable after the row is gone. */
  readonly need: NeedRef | null;
  /** Of the machine at acceptance; '' if its provider did not report it. */
  readonly capacityType: string;
  readonly zone: string;
  /** For a machine that leaves a cluster: the row it was bound for. */
  readonly from: NeedRef | null;
  /** For a machine that leaves a cluster because no row counts on it: the reason. */
  readonly leaving: Leaving | null;
  readonly reason: ActionReason;
  readonly startedMs: number;
  /** null: the provider has not accepted it. */
  readonly acceptedMs: number | null;
  /** null while pending: not accepted yet, or the machine is in transition. */
  readonly endedMs: number | null;
  readonly outcome: ActionOutcome | null;
  /** null while pending and after success. */
  readonly errorClass: ErrorClass | null;
  /** The last error; '' if there was none. */
  readonly message: string;
  /** Mutation calls made to the provider. */
  readonly attempts: number;
}

/** The latest `limit` records, oldest first. */
export class RecordList {
  readonly #limit: number;
  readonly #records = new Map<string, ActionRecord>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(record: ActionRecord): void {
    this.#records.set(record.id, record);
    if (this.#records.size <= this.#limit) return;
    const [oldest] = this.#records.keys();
    this.#records.delete(oldest!);
  }

  get(id: string): ActionRecord | undefined {
    return this.#records.get(id);
  }

  *[Symbol.iterator](): Generator<ActionRecord> {
    yield* this.#records.values();
  }
}
