// The ceiling on spending: what the shard and each cluster may still spend on machines that are purchased by the hour.
// Rows pay in the order in which they are served. The first purchase that a budget does not hold spends it: from then on
// Speculative machines that are purchased are withheld from the rows it is for. Part of a `Cycle`, for which rows are then
// served by one lane; asked by acquire.ts, spread.ts and gang.ts, and by whatever reads free machines for a row.

import type { FleetView } from '../../fleet/index.ts';
import {
  type CapacityType,
  isPurchased,
  MachineState,
  microsOf,
  type PurchaseBudget,
} from '../../model/index.ts';
import { type RankedRowsView, RowKind } from './ranked-rows.ts';

/** Whether acquiring a Speculative machine of a class is a purchase. */
export function isPurchasedClass({ classes }: FleetView, classNumber: number): boolean {
  return isPurchased(classes.capacityType[classNumber] as CapacityType);
}

/** What a budget has left, in whole micro-dollars per hour. */
interface Budget {
  left: number;
  isSpent: boolean;
}

/** What budgets of a row were when it began to buy. */
interface SavedBudgets {
  readonly shard: Budget;
  readonly cluster: Budget | undefined;
  readonly isWithheld: boolean;
}

export class Purchases {
  readonly #fleet: FleetView;
  readonly #rankedRows: RankedRowsView;
  /** Null without a ceiling. */
  #shard: Budget | null = null;
  readonly #clusters = new Map<number, Budget>();
  /** Ranked rows that purchases are withheld from. */
  readonly #withheld = new Set<number>();

  constructor(fleet: FleetView, rankedRows: RankedRowsView) {
    this.#fleet = fleet;
    this.#rankedRows = rankedRows;
  }

  begin(budget: PurchaseBudget | undefined): void {
    if (this.#shard === null && budget === undefined) return;
    this.#clusters.clear();
    this.#withheld.clear();
    this.#shard = budget === undefined ? null : { left: budget.shard, isSpent: false };
    for (const [name, left] of budget?.clusters ?? [])
      this.#clusters.set(this.#fleet.clusters.find(name), { left, isSpent: false });
  }

  /** Whether there is a ceiling. */
  get areLimited(): boolean {
    return this.#shard !== null;
  }

  /** Withholds purchases from a ranked row that is about to be served if a budget for it is spent. */
  beginTurn(rankedRow: number): void {
    if (this.#shard === null) return;
    if (this.#shard.isSpent || this.#clusters.get(this.#rankedRows.cluster[rankedRow]!)?.isSpent === true)
      this.#withheld.add(rankedRow);
  }

  areWithheld(rankedRow: number): boolean {
    return this.#shard !== null && this.#withheld.has(rankedRow);
  }

  /** Whether a free Speculative machine of a class is withheld from a ranked row. */
  withholds(rankedRow: number, classNumber: number): boolean {
    return this.areWithheld(rankedRow) && isPurchasedClass(this.#fleet, classNumber);
  }

  /** Answers as if nothing were withheld from the ranked row; false if nothing is. */
  wouldChange(rankedRow: number, ask: () => boolean): boolean {
    if (!this.areWithheld(rankedRow)) return false;
    this.#withheld.delete(rankedRow);
    const answer = ask();
    this.#withheld.add(rankedRow);
    return answer;
  }

  /** Pays for a machine that a ranked row is about to acquire; a gang pays for all of its machines at once. */
  pays(rankedRow: number, slot: number): boolean {
    return this.#rankedRows.kind[rankedRow] === RowKind.Gang || this.paysAll(rankedRow, [slot]);
  }

  /** Pays for all these machines. If a budget does not hold their price, pays for none and withholds purchases. */
  paysAll(rankedRow: number, slots: Iterable<number>): boolean {
    const shard = this.#shard;
    if (shard === null) return true;
    const { classes, machines } = this.#fleet;
    let micros = 0;
    let isPurchase = false;
    for (const slot of slots) {
      const c = machines.classOf[slot]!;
      if (machines.state[slot] !== MachineState.Speculative || !isPurchasedClass(this.#fleet, c)) continue;
      isPurchase = true;
      micros += microsOf(classes.price[c]!);
    }
    if (!isPurchase) return true;
    const cluster = this.#clusters.get(this.#rankedRows.cluster[rankedRow]!);
    if (micros > shard.left) shard.isSpent = true;
    if (cluster !== undefined && micros > cluster.left) cluster.isSpent = true;
    if (shard.isSpent || cluster?.isSpent === true) {
      this.#withheld.add(rankedRow);
      return false;
    }
    shard.left -= micros;
    if (cluster !== undefined) cluster.left -= micros;
    return true;
  }

  /** The budgets of a ranked row, so that purchases can be undone; null without a ceiling. */
  save(rankedRow: number): SavedBudgets | null {
    if (this.#shard === null) return null;
    const cluster = this.#clusters.get(this.#rankedRows.cluster[rankedRow]!);
    const isWithheld = this.#withheld.has(rankedRow);
    return { shard: { ...this.#shard }, cluster: cluster && { ...cluster }, isWithheld };
  }

  /** Undoes all purchases since the budgets were saved; the ranked row alone has bought since. */
  restore(rankedRow: number, saved: SavedBudgets | null): void {
    if (saved === null) return;
    this.#shard = saved.shard;
    if (saved.cluster !== undefined) this.#clusters.set(this.#rankedRows.cluster[rankedRow]!, saved.cluster);
    if (!saved.isWithheld) this.#withheld.delete(rankedRow);
  }

  /**
   * After Phase 1: whether budgets hold the price of these machines, a number for each class, that a ranked row will buy once
   * its victims have drained.
   */
  hasLeftFor(rankedRow: number, machines: ReadonlyMap<number, number>): boolean {
    if (this.#shard === null || machines.size === 0) return true;
    const micros = this.#priceOf(machines);
    const cluster = this.#clusters.get(this.#rankedRows.cluster[rankedRow]!);
    return micros <= this.#shard.left && (cluster === undefined || micros <= cluster.left);
  }

  /** After Phase 1: takes the price of these machines off the budgets, so that no other row counts on it. */
  reserve(rankedRow: number, machines: ReadonlyMap<number, number>): void {
    if (this.#shard === null) return;
    const cluster = this.#clusters.get(this.#rankedRows.cluster[rankedRow]!);
    this.#shard.left -= this.#priceOf(machines);
    if (cluster !== undefined) cluster.left -= this.#priceOf(machines);
  }

  #priceOf(machines: ReadonlyMap<number, number>): number {
    let micros = 0;
    for (const [c, count] of machines) micros += count * microsOf(this.#fleet.classes.price[c]!);
    return micros;
  }
}
