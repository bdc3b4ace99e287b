// What a row is still short of while it claims machines one by one. Amounts only shrink towards zero, so plain numbers
// stay exact however large the fleet is; sums that may grow are never formed here. Used by all files of the oracle that
// claim machines.

import { compareText, covers, isZero, type ResourceVector } from '../../src/model/index.ts';
import type { Row, Slot } from './ledger.ts';

export class Shortage {
  /** aggregate − Σ allocatable, never below zero. Of a fold: unused. */
  private readonly rest: Map<string, number>;
  /** Of a fold: members that no machine hosts yet. */
  gangsLeft: number;
  /** "If no claim covers min_unit, the row is short of one min_unit whatever the sum." */
  unitMissing: boolean;
  private readonly row: Row;

  constructor(row: Row, taken: readonly Slot[] = []) {
    this.row = row;
    this.rest = new Map(row.aggregate);
    // A row that wants nothing is satisfied: there is no pod that a machine would have to host (R11, R20).
    const wantsNothing = isZero(row.aggregate);
    this.gangsLeft = wantsNothing ? 0 : row.members.length;
    this.unitMissing = row.kind !== 'fold' && !wantsNothing && !isZero(row.minUnit);
    for (const slot of taken) this.take(slot);
  }

  /** What is missing beyond these machines and what the row borrowed. */
  static of(row: Row, taken: readonly Slot[]): Shortage {
    const short = new Shortage(row, taken);
    for (const { amount } of row.shares) short.borrow(amount);
    return short;
  }

  get sumCovered(): boolean {
    return this.row.kind === 'fold' ? this.gangsLeft <= 0 : isZero(this.rest);
  }

  get covered(): boolean {
    return this.sumCovered && !this.unitMissing;
  }

  /**
   * "It adds if it has some of a dimension the row is still short of (folded: hosts a whole gang)." The first
   * machine that covers min_unit adds too, since the row is short of one min_unit until then (R10).
   */
  adds(slot: Slot): boolean {
    if (this.row.kind === 'fold') return this.gangsLeft > 0 && gangsHosted(slot.offer, this.row.minUnit) > 0;
    if (this.unitMissing && covers(slot.offer, this.row.minUnit)) return true;
    for (const [name, units] of this.rest) {
      if (units > 0 && (slot.offer.get(name) ?? 0) > 0) return true;
    }
    return false;
  }

  take(slot: Slot): void {
    if (this.row.kind === 'fold') {
      this.gangsLeft = Math.max(0, this.gangsLeft - gangsHosted(slot.offer, this.row.minUnit));
      return;
    }
    for (const [name, units] of this.rest) {
      this.rest.set(name, Math.max(0, units - (slot.offer.get(name) ?? 0)));
    }
    if (covers(slot.offer, this.row.minUnit)) this.unitMissing = false;
  }

  /** "Both shrink by it, and 'one claim must cover min_unit' is satisfied": a remainder that is borrowed covers it. */
  borrow(amount: ResourceVector): void {
    for (const [name, units] of this.rest) this.rest.set(name, Math.max(0, units - (amount.get(name) ?? 0)));
    this.unitMissing = false;
  }

  copy(): Shortage {
    const copy = new Shortage(this.row);
    for (const [name, units] of this.rest) copy.rest.set(name, units);
    copy.gangsLeft = this.gangsLeft;
    copy.unitMissing = this.unitMissing;
    return copy;
  }

  /** What is left of the sum. */
  get want(): ResourceVector {
    return this.rest;
  }

  /**
   * "Deficit: aggregate − Σ allocatable, at least one min_unit if no claim covers it; of a fold only the hosted
   * members count here", so a fold has none. Dimensions above zero, names in order.
   */
  deficit(): ResourceVector {
    if (this.row.kind === 'fold') return new Map();
    const missing = new Map(this.rest);
    if (this.unitMissing) {
      for (const [name, units] of this.row.minUnit) {
        missing.set(name, Math.max(units, missing.get(name) ?? 0));
      }
    }
    return new Map([...missing].filter(([, units]) => units > 0).sort(([a], [b]) => compareText(a, b)));
  }
}

/** "A machine counts ⌊allocatable ÷ min_unit⌋ gangs": the minimum over the dimensions min_unit wants. */
function gangsHosted(offer: ResourceVector, minUnit: ResourceVector): number {
  let gangs = Number.POSITIVE_INFINITY;
  for (const [name, units] of minUnit) {
    if (units === 0) continue;
    const have = offer.get(name) ?? 0;
    gangs = Math.min(gangs, (have - (have % units)) / units);
  }
  return gangs;
}
