// Actions as people see them: those under way, and the last ones that ended.

import type { ActionKind, ActionReason } from '../../../model/index.ts';
import type { NeedRef } from '../../views.ts';

export type ActionOutcome =
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
  | 'inventory_miss'
  | 'missing_profile';

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
  readonly reason: ActionReason;
  readonly startedMs: number;
  /** null while it is under way. A provider that has accepted ends it; how the machine goes on its state shows. */
  readonly endedMs: number | null;
  readonly outcome: ActionOutcome | null;
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
