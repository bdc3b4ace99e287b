// Strict spread: how a row with a DoNotSchedule term walks its bound machines, claims in-flight ones, acquires, and
// which domains are open to it. Counts are of the row's own claims; bound ones count whatever the skew. Used by
// solve.ts, preempt.ts and verdict.ts of the oracle.

import { MachineState } from '../../src/model/index.ts';
import { afterComing, type Coming, NOTHING_COMING } from './coming.ts';
import { mayTake } from './domain.ts';
import {
  acquirable,
  boundOrder,
  coversMinUnit,
  creatingInFlight,
  creditableBound,
  domainValue,
  fits,
  idleInFlight,
  inFlight,
  isFree,
  isOthersOwn,
  isWithinReach,
  type OracleState,
  type Row,
  type Slot,
  takesOver,
} from './ledger.ts';
import { poolOrder } from './pool-order.ts';
import type { Shortage } from './shortage.ts';

/** Step 2's test and the counts behind it. */
export class SpreadAccount {
  /** Machines the row has, by domain; never zero. */
  private readonly counts = new Map<string, number>();
  /** Fitting machines with the key that are free, or were before the row claimed them. */
  private readonly offers: readonly Slot[];
  private readonly row: Row;
  private readonly topologyKey: string;
  private readonly maxSkew: number;

  /** `counted`: what the row has so far; in Phase 1 its claims, in Phase 2 its drains as well. */
  constructor(oracleState: OracleState, row: Row, counted: readonly Slot[]) {
    this.topologyKey = row.spread!.topologyKey;
    this.maxSkew = Math.max(1, row.spread!.maxSkew);
    this.row = row;
    this.offers = oracleState.slots.filter(
      (slot) =>
        domainValue(slot, this.topologyKey) !== undefined &&
        couldCome(row, slot) &&
        isFree(row, slot) &&
        fits(row, slot),
    );
    for (const slot of counted) this.add(slot);
  }

  /** Machines without the key are counted in no domain. */
  add(slot: Slot): void {
    const domain = domainValue(slot, this.topologyKey);
    if (domain !== undefined) this.counts.set(domain, (this.counts.get(domain) ?? 0) + 1);
  }

  /** "In a domain whose count is at most the minimum + maxSkew − 1." */
  passes(slot: Slot, short: Shortage): boolean {
    const domain = domainValue(slot, this.topologyKey);
    return domain !== undefined && (this.counts.get(domain) ?? 0) <= this.minimum(short) + this.maxSkew - 1;
  }

  /**
   * "The minimum runs over domains where it has a claim or a free fitting machine (Idle, Speculative, in
   * flight)": one that it could claim, so one that adds (R54). Without any such domain it is 0.
   */
  private minimum(short: Shortage): number {
    const open = this.offers.some(
      (slot) =>
        isWithinReach(this.row, slot) &&
        !this.counts.has(domainValue(slot, this.topologyKey)!) &&
        short.adds(slot),
    );
    return open || this.counts.size === 0 ? 0 : Math.min(...this.counts.values());
  }
}

function couldCome(row: Row, slot: Slot): boolean {
  const { state } = slot.machine;
  return (
    state === MachineState.Idle ||
    state === MachineState.Speculative ||
    inFlight(row, slot, MachineState.Creating) ||
    inFlight(row, slot, MachineState.Draining)
  );
}

type Claim = (slot: Slot) => void;

/**
 * Step 1: "its own and orphans, then other rows' machines, each by the domain with the fewest credited, keep
 * order inside (ties: keep order of the heads), whatever the skew; in-flight ones only where step 2's test
 * passes."
 */
export function creditSpread(
  oracleState: OracleState,
  row: Row,
  short: Shortage,
  claim: Claim,
  coming: Coming,
): void {
  const bound = [...creditableBound(oracleState, row)].sort(boundOrder(oracleState, row));
  const mine = bound.filter((slot) => !isOthersOwn(oracleState, row, slot));
  // "Another live row's own machines are taken only if they fit" (R87).
  const others = bound.filter((slot) => isOthersOwn(oracleState, row, slot) && coversMinUnit(row, slot));

  walkByDomain(row, mine, short, claim, NOTHING_COMING);
  const inFlightOnes = [...idleInFlight(oracleState, row), ...creatingInFlight(oracleState, row)];
  takeWhileOpen(oracleState, row, short, claim, coming, () => inFlightOnes);
  // Other rows' machines only for what machines Draining for this row will not cover (R81).
  if (takesOver(row)) walkByDomain(row, others, short, claim, coming);
}

/**
 * Bound machines of one list by the domain with the fewest credited, the first of the list's order where counts
 * tie; those without the key last (R34). "A plain row takes first the first bound one that covers min_unit": the
 * first step of a list looks at those only, if nothing claimed so far covers it (R27, R35).
 */
function walkByDomain(
  row: Row,
  inOrder: readonly Slot[],
  short: Shortage,
  claim: Claim,
  coming: Coming,
): void {
  if (afterComing(row, short, coming).unitMissing) {
    const first = fewestFirst(
      row,
      inOrder.filter((slot) => coversMinUnit(row, slot)),
    );
    if (first !== undefined) claim(first);
  }
  // "The walk over bound machines ends when the sum covers the aggregate."
  for (;;) {
    const beyond = afterComing(row, short, coming);
    if (beyond.sumCovered) return;
    const next = fewestFirst(
      row,
      inOrder.filter((slot) => slot.claimedBy === null && beyond.adds(slot)),
    );
    if (next === undefined) return;
    claim(next);
  }
}

/** The head of the domain in which the row has the fewest claims. */
function fewestFirst(row: Row, inOrder: readonly Slot[]): Slot | undefined {
  const { topologyKey } = row.spread!;
  const counts = new Map<string, number>();
  for (const slot of row.claims) {
    const domain = domainValue(slot, topologyKey);
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  let best: Slot | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const slot of inOrder) {
    const domain = domainValue(slot, topologyKey);
    const count = domain === undefined ? Number.MAX_SAFE_INTEGER : (counts.get(domain) ?? 0);
    if (count < fewest) {
      best = slot;
      fewest = count;
    }
  }
  return best;
}

/**
 * Step 2: "takes the first whose domain passes" in pool order, which changes with each machine taken; a domain passes if its
 * count is at most the minimum + maxSkew − 1.
 */
export function acquireSpread(
  oracleState: OracleState,
  row: Row,
  short: Shortage,
  claim: Claim,
  coming: Coming,
): void {
  takeWhileOpen(oracleState, row, short, claim, coming, () =>
    acquirable(oracleState, row).toSorted(poolOrder(row, short.want)),
  );
}

function takeWhileOpen(
  oracleState: OracleState,
  row: Row,
  short: Shortage,
  claim: Claim,
  coming: Coming,
  inOrder: () => readonly Slot[],
): void {
  const account = new SpreadAccount(oracleState, row, row.claims);
  while (!short.covered) {
    const next = inOrder().find(
      (slot) => slot.claimedBy === null && mayTake(row, slot, short, coming) && account.passes(slot, short),
    );
    if (next === undefined) return;
    if (!oracleState.budgets.pay(row.key.cluster, [next])) {
      row.mayBuy = false;
      continue;
    }
    claim(next);
    account.add(next);
  }
}
