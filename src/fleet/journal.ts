// The journal: what happened since the last cycle, in order. Sessions and reconcile append; nobody but the one writer
// of the ledgers takes it out, between two cycles, so a cycle reads ledgers that stand still without a copy of them.

import { BigFleetError, type Machine, type Need, type NeedKey } from '../model/index.ts';
import type { Standing } from './machines.ts';
import type { Move } from './standing.ts';

/** A provider's record of a machine. Records are taken in the order in which they were made. */
interface Observation {
  readonly kind: 'observe';
  readonly machine: Machine;
  /** Shard clock; a machine that is newly Idle is held from here. */
  readonly atMs: number;
}

/** The provider no longer lists the machine. */
interface Disappearance {
  readonly kind: 'gone';
  readonly id: string;
}

/** A move that we start, as accepted. */
type CommandGiven = Move & {
  readonly kind: 'command';
  readonly id: string;
  readonly atMs: number;
};

/** A move that we took back before the provider heard of it: the machine stands as it did, holds apart. */
interface Withdrawal {
  readonly kind: 'withdraw';
  readonly id: string;
  readonly before: Standing;
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
interface Hold {
  readonly kind: 'hold';
  readonly id: string;
  readonly held: boolean;
}

/** A cluster's complete demand; replaces what it wanted before. */
interface RollUp {
  readonly kind: 'demand';
  readonly cluster: string;
  readonly needs: readonly Need[];
}

/** A row was absent for a whole cycle: nothing is on its way to it any more. */
interface RowEnded {
  readonly kind: 'row-ended';
  readonly key: NeedKey;
}

/** The measured median drain of one machine, or of all machines of an instance type, those to come included. */
interface DrainMeasured {
  readonly kind: 'drain-seconds';
  readonly of: { readonly id: string } | { readonly instanceType: string };
  readonly seconds: number;
}

export type JournalEntry =
  | Observation
  | Disappearance
  | CommandGiven
  | Withdrawal
  | Restamp
  | Hold
  | RollUp
  | RowEnded
  | DrainMeasured;

/**
 * Entries a journal holds unless told otherwise: a full List of the largest rung (2,250,000 records) with room to spare.
 * Lower, and a first List does not fit; much higher, and a stalled cycle fills the memory before anybody hears of it.
 */
export const JOURNAL_LIMIT = 4_194_304;

export class Journal {
  readonly limit: number;
  #entries: JournalEntry[] = [];

  constructor(limit: number = JOURNAL_LIMIT) {
    this.limit = limit;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Throws BF_JOURNAL_FULL rather than grow past the limit; where a journal is cut by freezes changes nothing. */
  append(entry: JournalEntry): void {
    if (this.#entries.length >= this.limit) {
      throw new BigFleetError(
        'BF_JOURNAL_FULL',
        `The journal holds ${this.limit} entries that wait to be applied.`,
      );
    }
    this.#entries.push(entry);
  }

  /** All entries, oldest first; the journal is empty afterwards. */
  take(): readonly JournalEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }
}
