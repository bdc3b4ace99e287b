// Pending changes since the last cycle, in order. Sessions and reconcile append; only the single writer of the ledgers
// drains them, between two cycles. A cycle therefore reads ledgers that do not change, without a copy of them.

import { BigFleetError, type Machine, type Need, type NeedKey } from '../model/index.ts';
import type { Move } from './machines/machine-status.ts';
import type { MachineStatus } from './machines/machine-table.ts';

/** A provider's record of a machine. Records are applied in the order in which the provider made them. */
interface Observation {
  readonly kind: 'observe';
  readonly machine: Machine;
  /** Shard clock; the release hold of a machine that is newly Idle starts here. */
  readonly atMs: number;
}

/** The provider no longer lists the machine. */
interface Disappearance {
  readonly kind: 'gone';
  readonly id: string;
}

/** A transition that the shard starts, as accepted. */
type CommandGiven = Move & {
  readonly kind: 'command';
  readonly id: string;
  readonly atMs: number;
};

/** A transition withdrawn before the provider received the call: restores the previous status, except `blocked`. */
interface Withdrawal {
  readonly kind: 'withdraw';
  readonly id: string;
  readonly before: MachineStatus;
}

/** A gang took over a bound machine. */
interface Restamp {
  readonly kind: 'restamp';
  readonly id: string;
  readonly key: NeedKey;
  readonly priority: number;
  readonly interruptionPenaltyDollars: number;
  readonly reclamationPenaltyDollars: number;
}

/** Back-off, quarantine or freeze begins or ends. */
interface Block {
  readonly kind: 'block';
  readonly id: string;
  readonly blocked: boolean;
}

/** A cluster's complete demand; replaces its previous roll-up. */
interface RollUp {
  readonly kind: 'demand';
  readonly cluster: string;
  readonly needs: readonly Need[];
}

/** A row was absent for a whole cycle: clears the target of every machine on its way to it. */
interface RowEnded {
  readonly kind: 'row-ended';
  readonly key: NeedKey;
}

/** The measured median drain time of one machine, or of all present and future machines of an instance type. */
interface DrainMeasured {
  readonly kind: 'drain-seconds';
  readonly of: { readonly id: string } | { readonly instanceType: string };
  readonly seconds: number;
}

export type PendingChange =
  | Observation
  | Disappearance
  | CommandGiven
  | Withdrawal
  | Restamp
  | Block
  | RollUp
  | RowEnded
  | DrainMeasured;

/**
 * Default limit of pending entries. The lower bound is a full List of the largest benchmark rung (2,250,000 records), which
 * must fit at startup. With a much higher limit a stalled cycle would exhaust memory before BF_JOURNAL_FULL is raised.
 */
const PENDING_LIMIT = 4_194_304;

export class PendingChanges {
  readonly limit: number;
  #entries: PendingChange[] = [];

  constructor(limit: number = PENDING_LIMIT) {
    this.limit = limit;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Throws BF_JOURNAL_FULL at the limit. The result does not depend on how entries are split between two freezes. */
  append(entry: PendingChange): void {
    if (this.#entries.length >= this.limit) {
      throw new BigFleetError(
        'BF_JOURNAL_FULL',
        `The journal holds ${this.limit} entries that wait to be applied.`,
      );
    }
    this.#entries.push(entry);
  }

  /** Removes and returns all entries, oldest first. */
  take(): readonly PendingChange[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }
}
