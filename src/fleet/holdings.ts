// What rows hold of the tables of keys, profiles and patterns, for as long as somebody has to let go of it.

import type { Need } from '../model/index.ts';

/** What a row holds of the tables. */
export interface Holdings {
  readonly key: number;
  readonly profile: number;
  /** Null for rows that do not fold. */
  readonly foldProfile: number | null;
  readonly amounts: AmountHoldings;
}

/** What a row holds by how much it wants. */
export interface AmountHoldings {
  readonly pattern: number;
  /** Null for rows that do not fold. */
  readonly fold: {
    readonly wholePattern: number;
    readonly foldPattern: number;
    readonly foldKey: number;
  } | null;
}

/** A row that is new, with what it holds of the tables that its place depends on; a key of 0 is none yet. */
export interface Arrival {
  readonly need: Need;
  /** Its place in the report. */
  readonly index: number;
  key: number;
  readonly profile: number;
}
