// The changes of a question as validated values. Types only, so that a thread that answers need not load the validator.

import type { CapacityType, EconomyOptions } from '../model/index.ts';

/** Machines by what they are; all that is given must hold, and null holds for every machine. Texts are patterns with `*`. */
export interface Match {
  /** Instance type, or capacity type as in `spot` and `on-demand`. */
  readonly name: readonly string[] | null;
  readonly provider: readonly string[] | null;
  readonly zone: readonly string[] | null;
  /** Short wire names, such as `ON_DEMAND`. */
  readonly capacityType: readonly string[] | null;
  readonly instanceType: readonly string[] | null;
  /** Short wire names, such as `IDLE`. */
  readonly state: readonly string[] | null;
  readonly cluster: readonly string[] | null;
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

/** A factor or a new value; the other one is null. */
export interface AmountChange {
  readonly match: Match;
  readonly times: number | null;
  readonly set: number | null;
}

/** Machines that could be bought in addition, like the existing ones of an instance type. */
export interface StockChange {
  readonly count: number;
  readonly instanceType: string;
  readonly zone: string | null;
  readonly capacityType: CapacityType | null;
}

/** Needs by cluster and by short id; both must hold where both are given. */
export interface NeedMatch {
  readonly cluster: readonly string[] | null;
  readonly need: readonly string[] | null;
}

/** Options that are other than now; null: as now. */
export interface OptionChanges {
  readonly sharing: EconomyOptions['sharing'] | null;
  readonly reclaimHold: number | null;
  readonly poolOrder: EconomyOptions['poolOrder'] | null;
  readonly accelerators: Pick<EconomyOptions, 'accelerators' | 'ignoredAccelerators'> | null;
  /** Dollars; Infinity: no limit. */
  readonly maxPurchasedPerHour: number | null;
}

/** Applied in this order; `stock` copies machines as they were before `without` and with the prices of `prices`. */
export interface Changes {
  readonly without: readonly Match[];
  readonly prices: readonly AmountChange[];
  readonly probabilities: readonly AmountChange[];
  readonly stock: readonly StockChange[];
  readonly demand: readonly (NeedMatch & { readonly times: number })[];
  readonly priorities: readonly (NeedMatch & { readonly set: number })[];
  readonly options: OptionChanges | null;
}

export interface WhatIfRequest {
  readonly changes: Changes;
  /** Most cycles until the fleet is quiet; 0: one decision. */
  readonly settle: number;
  /** Items of each list of the answer. */
  readonly limit: number;
}
