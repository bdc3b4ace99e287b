// The ceiling on spending: what the shard and each cluster may still spend on machines that are purchased by the hour.
// Rows pay in the order of their turns; the first purchase that a budget does not hold ends all purchases from it (R108).
// Used by solve.ts, spread.ts and ledger.ts of the oracle.

import { isPurchased, MachineState, microsOf, type PurchaseBudget } from '../../src/model/index.ts';
import type { Slot } from './ledger.ts';

/** Whether acquiring the machine is a purchase. Owned capacity is neither counted nor stopped. */
export function isPurchase({ machine }: Slot): boolean {
  return machine.state === MachineState.Speculative && isPurchased(machine.capacityType);
}

/** What is left in whole micro-dollars per hour. */
class Budget {
  private left: number;
  isSpent = false;

  constructor(left: number) {
    this.left = left;
  }

  holds(micros: number): boolean {
    if (micros > this.left) this.isSpent = true;
    return !this.isSpent;
  }

  hasLeft(micros: number): boolean {
    return micros <= this.left;
  }

  take(micros: number): void {
    this.left -= micros;
  }

  copy(): Budget {
    const copy = new Budget(this.left);
    copy.isSpent = this.isSpent;
    return copy;
  }
}

export class Budgets {
  private shard: Budget;
  private clusters: ReadonlyMap<string, Budget>;

  constructor(
    { shard, clusters }: PurchaseBudget = { shard: Number.POSITIVE_INFINITY, clusters: new Map() },
  ) {
    this.shard = new Budget(shard);
    this.clusters = new Map([...clusters].map(([name, left]) => [name, new Budget(left)]));
  }

  /** Whether rows of a cluster may buy nothing more. */
  isSpent(cluster: string): boolean {
    return this.of(cluster).some((budget) => budget.isSpent);
  }

  /** Pays for all these machines, or for none of them if a budget does not hold their price. */
  pay(cluster: string, slots: readonly Slot[]): boolean {
    const purchases = slots.filter(isPurchase);
    if (purchases.length === 0) return true;
    const micros = priceOf(purchases);
    const budgets = this.of(cluster);
    // Both are asked: a purchase may end two budgets at once.
    if (budgets.filter((budget) => !budget.holds(micros)).length > 0) return false;
    for (const budget of budgets) budget.take(micros);
    return true;
  }

  /** After Phase 1: whether enough is left for these purchases. */
  hasLeftFor(cluster: string, purchases: readonly Slot[]): boolean {
    const micros = priceOf(purchases);
    return purchases.length === 0 || this.of(cluster).every((budget) => budget.hasLeft(micros));
  }

  /** After Phase 1: takes off what a row will buy once its victims have drained (R114). */
  reserve(cluster: string, purchases: readonly Slot[]): void {
    for (const budget of this.of(cluster)) budget.take(priceOf(purchases));
  }

  /** What is left now, to return to after an attempt that is undone. */
  save(): { readonly shard: Budget; readonly clusters: ReadonlyMap<string, Budget> } {
    const clusters = new Map([...this.clusters].map(([name, budget]) => [name, budget.copy()]));
    return { shard: this.shard.copy(), clusters };
  }

  restore({ shard, clusters }: ReturnType<Budgets['save']>): void {
    this.shard = shard;
    this.clusters = clusters;
  }

  private of(cluster: string): readonly Budget[] {
    const own = this.clusters.get(cluster);
    return own === undefined ? [this.shard] : [this.shard, own];
  }
}

function priceOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { machine }) => sum + microsOf(machine.pricePerHour), 0);
}
