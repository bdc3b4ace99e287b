// References of rows to entries of the key, profile and pattern tables, recorded so that they can be dropped later.
// Types of demand-rows.ts and demand-ledger.ts.

import type { Need } from '../../model/index.ts';

/** All references of a row. */
export interface RowReferences {
  readonly key: number;
  readonly profile: number;
  /** Null for rows that do not fold. */
  readonly foldProfile: number | null;
  readonly amounts: AmountReferences;
}

/** The references of a row that depend on its amounts. */
export interface AmountReferences {
  readonly pattern: number;
  /** Null for rows that do not fold. */
  readonly fold: {
    readonly wholePattern: number;
    readonly foldPattern: number;
    readonly foldKey: number;
  } | null;
}

/** A new row, with references to its key and profile; a key of 0 means that none has been added yet. */
export interface NewRow {
  readonly need: Need;
  /** Index in the report. */
  readonly index: number;
  key: number;
  readonly profile: number;
}
