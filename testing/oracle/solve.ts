// Phase 1, one row at a time: credit what already serves the row, then acquire what is free. A fold's unhosted members
// are served right after it. Called by oracle.ts.

import { MachineState, subtract } from '../../src/model/index.ts';
import { afterComing, type Coming, comingTo, forecastDrains, NOTHING_COMING } from './coming.ts';
import { domainsOf, mayTake, planInDomain } from './domain.ts';
import {
  acquirable,
  boundOrder,
  coversMinUnit,
  creatingInFlight,
  creditableBound,
  idleInFlight,
  isOthersOwn,
  isOwn,
  type OracleState,
  type Row,
  rowOf,
  type Slot,
  takesOver,
} from './ledger.ts';
import { poolOrder } from './pool-order.ts';
import { borrow, countRemainders, enterRemainders, remaindersFor } from './remainders.ts';
import { Shortage } from './shortage.ts';
import { acquireSpread, creditSpread, SpreadAccount } from './spread.ts';

/** Solves the rows in rank order. Returns every row served, unhosted members included, in that order. */
export function solveRows(oracleState: OracleState, rows: readonly Row[]): readonly Row[] {
  const turns: Row[] = [];
  // "Before the rows of its cluster are credited": machines bound to other clusters are not concerned (R82).
  for (const row of rows) if (row.kind === 'set-aside') keepOwn(oracleState, row);
  const solve = (row: Row): void => {
    row.turn = turns.length;
    row.mayBuy = !oracleState.budgets.isSpent(row.key.cluster);
    turns.push(row);
    if (row.kind === 'gang') solveGang(oracleState, row);
    else if (row.kind !== 'set-aside') solveSums(oracleState, row);
  };
  for (const row of rows) {
    solve(row);
    // "Right after its turn, members that no machine hosts (latest first-seen, then group) are solved one by
    // one as the `Same` rows they were."
    for (const member of unhostedMembers(row)) solve(rowOf(member, oracleState.options));
  }
  return turns;
}

export function unhostedMembers(row: Row): Row['members'] {
  const left = row.kind === 'fold' ? new Shortage(row, row.claims).gangsLeft : 0;
  return row.members.slice(row.members.length - left);
}

/** A row that is set aside claims its own bound machines, whether they match or not, and nothing else. */
function keepOwn(oracleState: OracleState, row: Row): void {
  const own = oracleState.slots.filter(
    (slot) =>
      isBoundSlot(slot) &&
      slot.machine.cluster === row.key.cluster &&
      slot.claimedBy === null &&
      isOwn(row, slot),
  );
  for (const slot of own.sort(boundOrder(oracleState, row))) {
    slot.claimedBy = row;
    row.claims.push(slot);
  }
}

/** Plain rows and folds: machines add up. */
function solveSums(oracleState: OracleState, row: Row): void {
  const borrowed = new Shortage(row);
  if (row.borrows) share(oracleState, row, borrowed);
  // E8: "In a cluster that can bind and has retiring machines, a plain row without strict spread is first served without
  // these and without machines of other rows. If that does not cover it, it is served as ever instead."
  const { retiring } = row.options;
  const leavesOut =
    row.kind === 'plain' &&
    row.spread === undefined &&
    row.canBind &&
    oracleState.slots.some(
      (slot) => isBoundSlot(slot) && slot.machine.cluster === row.key.cluster && retiring.has(slot.id),
    );
  const { mayBuy } = row;
  const budgets = oracleState.budgets.save();
  if (!leavesOut || !serveSums(oracleState, row, borrowed.copy(), true)) {
    for (const slot of row.claims.splice(0)) slot.claimedBy = null;
    // What it paid comes back, and a budget that it would have spent is not (R117).
    oracleState.budgets.restore(budgets);
    row.mayBuy = mayBuy;
    serveSums(oracleState, row, borrowed, false);
  }
  if (row.lends) lend(oracleState, row);
}

/** Credits a row and acquires what it lacks; returns whether that covers it. */
function serveSums(oracleState: OracleState, row: Row, short: Shortage, withoutRetiring: boolean): boolean {
  const claim = (slot: Slot): void => {
    slot.claimedBy = row;
    row.claims.push(slot);
    short.take(slot);
  };
  const coming = comingTo(oracleState, row);
  if (row.spread !== undefined) creditSpread(oracleState, row, short, claim, coming);
  else credit(oracleState, row, short, claim, coming, withoutRetiring);
  // "Rows of a cluster that cannot bind now are credited, and acquire and preempt nothing."
  if (row.canBind) {
    if (row.spread !== undefined) acquireSpread(oracleState, row, short, claim, coming);
    else acquire(oracleState, row, short, claim, coming);
    row.isStopped = !short.covered && wouldBuy(oracleState, row, short, coming);
  }
  return short.covered;
}

/** E1a: the row counts on what better-ranked rows of its cluster leave over, before anything of its own. */
function share(oracleState: OracleState, row: Row, short: Shortage): void {
  row.remainders = countRemainders(remaindersFor(oracleState.remainders, row), row);
  for (const { remainder, amount } of borrow(oracleState.remainders, row, row.aggregate)) {
    row.shares.push({ slot: remainder.slot, amount });
    remainder.slot.borrowers.push(row);
    short.borrow(amount);
  }
}

/** E1d: "want = aggregate − everything borrowed." What its claims leave over is there for later rows. */
function lend(oracleState: OracleState, row: Row): void {
  const want = row.shares.reduce((left, { amount }) => subtract(left, amount), row.aggregate);
  enterRemainders(oracleState.remainders, row, row.claims, want);
  forecastDrains(oracleState, row);
}

/**
 * Step 1: "until covered, skipping what adds nothing: its cluster's Configured, then Configuring (keep order),
 * then Idle in flight for it (pool order), then Creating in flight for it (id); another live row's own machines
 * after all of these, Configured first."
 */
function credit(
  oracleState: OracleState,
  row: Row,
  short: Shortage,
  claim: (slot: Slot) => void,
  coming: Coming,
  withoutRetiring: boolean,
): void {
  // "Counts bound ones below min_unit too"; but "gangs and folds count only what fits".
  const bound = creditableBound(oracleState, row)
    .filter((slot) => row.kind === 'plain' || coversMinUnit(row, slot))
    .filter((slot) => !withoutRetiring || !row.options.retiring.has(slot.id))
    .sort(boundOrder(oracleState, row));
  const mine = bound.filter((slot) => !isOthersOwn(oracleState, row, slot));
  // "Another live row's own machines are taken only if they fit" (R87).
  const others = bound.filter((slot) => isOthersOwn(oracleState, row, slot) && coversMinUnit(row, slot));

  const walkInFlight = (slots: readonly Slot[]): void => {
    for (const slot of slots) {
      if (short.covered) return;
      if (short.adds(slot)) claim(slot);
    }
  };
  // "A plain row takes first the first *bound* one that covers min_unit": once among its own and orphans, and
  // once more among other rows' machines if nothing up to there covers it (R27). "The walk over bound machines
  // ends when the sum covers the aggregate"; in-flight ones also settle a missing min_unit (R29). Other rows'
  // machines are taken only for what machines Draining for this row will not cover (R81).
  const walkBound = (slots: readonly Slot[], awaited: Coming): void => {
    const { unitMissing } = afterComing(row, short, awaited);
    const first = slots.find((slot) => unitMissing && coversMinUnit(row, slot));
    if (first !== undefined) claim(first);
    for (const slot of slots) {
      const beyond = afterComing(row, short, awaited);
      if (beyond.sumCovered) return;
      if (slot.claimedBy === null && beyond.adds(slot)) claim(slot);
    }
  };
  walkBound(mine, NOTHING_COMING);
  walkInFlight(idleInFlight(oracleState, row));
  walkInFlight(creatingInFlight(oracleState, row));
  if (!withoutRetiring && takesOver(row)) walkBound(others, coming);
}

/** Step 2: free fitting machines until covered, in pool order, which changes with each machine taken (E3). */
function acquire(
  oracleState: OracleState,
  row: Row,
  short: Shortage,
  claim: (slot: Slot) => void,
  coming: Coming,
): void {
  while (!short.covered) {
    const [next] = acquirable(oracleState, row)
      .filter((slot) => mayTake(row, slot, short, coming))
      .sort(poolOrder(row, short.want));
    if (next === undefined) return;
    if (oracleState.budgets.pay(row.key.cluster, [next])) claim(next);
    else row.mayBuy = false;
  }
}

/** Whether a row that has acquired what is free would acquire one machine more without the ceiling (R110). */
function wouldBuy(oracleState: OracleState, row: Row, short: Shortage, coming: Coming): boolean {
  return withoutCeiling(row, () => {
    const account = row.spread === undefined ? null : new SpreadAccount(oracleState, row, row.claims);
    return acquirable(oracleState, row).some(
      (slot) => mayTake(row, slot, short, coming) && (account === null || account.passes(slot, short)),
    );
  });
}

/** The answer as if the row might buy; false if it may. */
function withoutCeiling(row: Row, ask: () => boolean): boolean {
  if (row.mayBuy) return false;
  row.mayBuy = true;
  const answer = ask();
  row.mayBuy = false;
  return answer;
}

/** A gang: one domain, whole or nothing. */
function solveGang(oracleState: OracleState, row: Row): void {
  row.domains = domainsOf(oracleState, row);
  const domain = row.domains[0];
  row.isStopped =
    domain?.satisfiable !== true &&
    withoutCeiling(row, () => domainsOf(oracleState, row).some(({ satisfiable }) => satisfiable));
  if (domain === undefined) return;
  let claims: readonly Slot[];
  if (domain.satisfiable) {
    const plan = planInDomain(row, domain);
    claims = [...plan.credited, ...plan.acquired];
    // All its purchases or none: without them it may still find another domain (R109).
    if (!oracleState.budgets.pay(row.key.cluster, plan.acquired)) {
      row.mayBuy = false;
      solveGang(oracleState, row);
      return;
    }
  } else {
    // "A gang that step 2's test does not let acquire claims only bound machines that are its own or no live
    // row's, and no Idle machine" (R40).
    const kept = domain.creditable.filter(
      (slot) => isBoundSlot(slot) && !isOthersOwn(oracleState, row, slot),
    );
    claims = planInDomain(row, {
      creditable: kept,
      othersOwn: [],
      idle: [],
      speculative: [],
      draining: [],
    }).credited;
  }
  for (const slot of claims) {
    slot.claimedBy = row;
    row.claims.push(slot);
  }
}

function isBoundSlot(slot: Slot): boolean {
  const { state } = slot.machine;
  return state === MachineState.Configured || state === MachineState.Configuring;
}
