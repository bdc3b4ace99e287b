// Actions as people see them: those that are pending, and the last ones that ended.

import type { ActionKind, ActionReason, Leaving } from '../../../model/index.ts';
import type { ErrorClass } from '../../error-class.ts';
import type { NeedRef } from '../../views.ts';

export type ActionOutcome =
  /** The machine is where it was to go: it has a host, is Configured, has drained, or has no host any more. */
  | 'success'
  | 'ctx_canceled'
  | 'fenced'
  | 'no_session'
  | 'transition_raced_to_idle'
  | 'transition_error'
  | 'blob_error'
  /** The provider refused for good. */
  | 'provider_error'
  /** It does not let this shard do it. */
  | 'denied'
  /** It has nothing of the kind now. */
  | 'stock_out'
  /** It was throttled, out of reach or too slow, however often it was tried. */
  | 'transient'
  | 'stale_state'
  /** The provider no longer has the machine. */
  | 'inventory_miss'
  | 'missing_profile'
  /** The provider accepted it, and the machine is Failed. */
  | 'machine_failed'
  /** The provider accepted it, and the machine is back where it came from. */
  | 'rolled_back'
  /** The provider accepted it, and the machine is elsewhere, by the hand of another. */
  | 'superseded';

export interface ActionRecord {
  readonly id: string;
  readonly kind: ActionKind;
  readonly machine: string;
  readonly provider: string;
  readonly cluster: string;
  /** The row as it was when the action was accepted: it keeps its name and priority after the row has gone. */
  readonly need: NeedRef | null;
  /** Of the machine when the action was accepted; '' where its provider did not say. */
  readonly capacityType: string;
  readonly zone: string;
  /** Of a machine that leaves a cluster: the row that it was bound for. */
  readonly from: NeedRef | null;
  /** Of a machine that leaves a cluster because no row counts on it. */
  readonly leaving: Leaving | null;
  readonly reason: ActionReason;
  readonly startedMs: number;
  /** When the provider accepted it; null: it has not. */
  readonly acceptedMs: number | null;
  /** null while it is pending: not accepted yet, or the machine is on its way. */
  readonly endedMs: number | null;
  readonly outcome: ActionOutcome | null;
  /** null while it is pending and after success. */
  readonly errorClass: ErrorClass | null;
  /** What went wrong last; '' if nothing did. */
  readonly message: string;
  /** Calls that were made to the provider to bring it about. */
  readonly attempts: number;
}

/** The last so many, oldest first. */
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
