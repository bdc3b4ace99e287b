// Credit: what a row already has. Its own machines and orphans come first, then machines on their way to it, then machines
// of other live rows. This file covers plain rows and folds, and gangs that their own machines complete.
//
// Bound machines couple only rows of one cluster, so each cluster is credited by itself. A row whose credit may depend on
// more than that (a gang that must choose, a row with machines in flight that others may claim) waits for the pass over the
// free machines; what it might claim is contended, and every later row of the cluster that finds a contended machine waits
// as well (contended.ts). The result is that of serving all rows one by one.
//
// Rows that are set aside come before all others of their cluster: no other row may claim their machines.

import { type Pattern, Serves } from '../../fleet/index.ts';
import type { Cycle } from '../cycle.ts';
import { Credit } from './credits.ts';
import { creatingInFlight, drainingFor, idleInFlight } from './in-flight.ts';
import { NONE, RowKind } from './ranked-rows.ts';
import { creditSpread } from './spread.ts';

/**
 * Makes the ranked rows of a cluster, unless they are kept, indexes its machines and credits it; or puts it off, if that
 * depends on more than the cluster. Writes nothing that belongs to another cluster, so that threads can serve clusters in
 * parallel.
 */
export function serveCluster(cycle: Cycle, cluster: number): void {
  const hasRankedRows = cycle.dirtyClusters.keeps[cluster] === 1 || cycle.makeRankedRows(cluster);
  if (hasRankedRows && cycle.bound.index(cluster, false)) creditAll(cycle, cluster);
  else cycle.credits.defer(cluster);
}

/** Credits a cluster that was put off; the ranked rows of all clusters are made. */
export function creditCluster(cycle: Cycle, cluster: number): void {
  cycle.bound.index(cluster, true);
  creditAll(cycle, cluster);
}

/** Serves every ranked row of a cluster as far as no free machine is needed, and records the outcome of each. */
function creditAll(cycle: Cycle, cluster: number): void {
  const { rankedRows } = cycle;
  const creditOf = cycle.walk.countOf(cluster) === 0 ? creditNothing : creditRankedRow;
  const hasSetAside = cycle.fleet.demand.setAsideIn[cluster]! > 0;
  cycle.credits.openCluster(cluster);
  cycle.sharing.openCluster(cluster);
  if (hasSetAside) creditSetAside(cycle, cluster);
  for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
    // It never needs free machines; set-aside.ts records it as unmet when all rows are served.
    if (hasSetAside && rankedRows.kind[rankedRow] === RowKind.SetAside)
      cycle.credits.settle(rankedRow, Credit.Covered);
    else if (cycle.sharing.lends(rankedRow))
      cycle.credits.settle(rankedRow, creditLender(cycle, rankedRow, creditOf));
    else cycle.credits.settle(rankedRow, creditOf(cycle, rankedRow));
  }
  cycle.credits.closeCluster(cluster);
}

/** Rows that are set aside claim the machines that are bound for them, in rank order. */
function creditSetAside(cycle: Cycle, cluster: number): void {
  const { bound, rankedRows } = cycle;
  for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
    if (rankedRows.kind[rankedRow] !== RowKind.SetAside) continue;
    cycle.claims.openCredits(rankedRow);
    cycle.beginUnfilled(rankedRow);
    for (let i = bound.ownStart[rankedRow]!; i < bound.ownEnd[rankedRow]!; i++) {
      const slot = bound.slots[i]!;
      // It may also belong to another row that is set aside, by stamp or by target.
      if (cycle.claims.isFree(slot)) cycle.credits.credit(rankedRow, slot, false);
    }
  }
}

/** The result of `creditRow` for a cluster without bound machines, computed without a search. */
function creditNothing(cycle: Cycle, rankedRow: number): Credit {
  const { hasInFlight, kind, row } = cycle.rankedRows;
  cycle.claims.openCredits(rankedRow);
  if (kind[rankedRow] === RowKind.Gang || cycle.isExplained(rankedRow)) return Credit.Waits;
  const wantsNothing = cycle.fleet.demand.empty[row[rankedRow]!] === 1;
  if (hasInFlight[rankedRow] === 1) {
    // Whatever a lender wants, later rows may use the machines that drain for it; its turn in the pass lends them.
    return wantsNothing && !cycle.sharing.lends(rankedRow) ? Credit.Covered : Credit.Waits;
  }
  return wantsNothing ? Credit.Covered : Credit.Short;
}

/**
 * A row that shares machines. Once one waits for the pass, all later ones of the cluster do: they may borrow from what the
 * pass acquires for it.
 */
function creditLender(
  cycle: Cycle,
  rankedRow: number,
  creditOf: (cycle: Cycle, rankedRow: number) => Credit,
): Credit {
  const { sharing } = cycle;
  let credit: Credit = Credit.Waits;
  // Without bound machines there is nothing to credit or to contend for, whatever earlier rows acquire.
  if (creditOf !== creditNothing && sharing.mustWait(rankedRow)) {
    cycle.claims.openCredits(rankedRow);
    cycle.credits.contended.add(cycle.rankedRows.pattern[rankedRow]!, true);
  } else credit = creditOf(cycle, rankedRow);
  if (credit === Credit.Covered) sharing.lend(rankedRow);
  else sharing.wait();
  return credit;
}

function creditRankedRow(cycle: Cycle, rankedRow: number): Credit {
  const kind = cycle.rankedRows.kind[rankedRow];
  cycle.claims.openCredits(rankedRow);
  let credit: Credit = Credit.Waits;
  if (!cycle.isExplained(rankedRow)) {
    credit = kind === RowKind.Gang ? creditGang(cycle, rankedRow) : creditRow(cycle, rankedRow, true);
  }
  if (credit === Credit.Waits) {
    cycle.credits.drop(rankedRow);
    if (cycle.rankedRows.infeasible[rankedRow] === 1) contestMine(cycle, rankedRow);
    else
      cycle.credits.contended.add(
        cycle.rankedRows.pattern[rankedRow]!,
        kind === RowKind.Plain || kind === RowKind.Spread,
      );
  }
  if (credit !== Credit.Covered && kind === RowKind.Fold) {
    // Members without a host will be served as gangs right behind the fold, each with its own largest pod.
    contestMembers(cycle, rankedRow);
  }
  return credit;
}

/** Credits a row that is not a gang. With `early`, the pass has not begun: returns Waits at anything that depends on it. */
export function creditRow(cycle: Cycle, rankedRow: number, early: boolean): Credit {
  const leavesOut = leavesOutRetiring(cycle, rankedRow);
  cycle.beginUnfilled(rankedRow);
  cycle.sharing.borrow(rankedRow);
  cycle.retiring.leaveOutFor(leavesOut ? cycle.unfilled.save() : null);
  const credit = creditUnfilled(cycle, rankedRow, early);
  // Whether it can do without the machines that it leaves out depends on the free machines.
  return early && leavesOut && credit === Credit.Short ? Credit.Waits : credit;
}

/** Whether a row is first served without machines that are to be replaced: its cluster has some, and its kind allows it. */
function leavesOutRetiring({ rankedRows, retiring }: Cycle, rankedRow: number): boolean {
  return rankedRows.kind[rankedRow] === RowKind.Plain && retiring.isIn[rankedRows.cluster[rankedRow]!] === 1;
}

/** Credits a row with what it lacks according to `cycle.unfilled`. */
export function creditUnfilled(cycle: Cycle, rankedRow: number, early: boolean): Credit {
  if (cycle.unfilled.covered) return Credit.Covered;
  const spread = cycle.rankedRows.kind[rankedRow] === RowKind.Spread;
  // A single machine cannot be uneven.
  if (
    spread &&
    (cycle.rankedRows.hasInFlight[rankedRow] === 1 || cycle.ownAndOrphans.begin(rankedRow).left > 1)
  )
    return creditSpread(cycle, rankedRow, early);
  const pattern = cycle.patternOf(rankedRow);
  if (!creditMine(cycle, rankedRow, pattern, early, cycle.unfilled.unitMissing)) return Credit.Waits;
  if (cycle.unfilled.covered) return Credit.Covered;
  if (spread) return creditSpread(cycle, rankedRow, early);
  if (cycle.rankedRows.hasInFlight[rankedRow] === 1) {
    if (early) return Credit.Waits;
    creditInFlight(cycle, rankedRow);
    if (cycle.unfilled.covered) return Credit.Covered;
  }
  // It would take what its neighbours need, and they would acquire in its place, cycle after cycle.
  if (cycle.retiring.areLeftOut) return Credit.Short;
  if (!cycle.sharing.takesOver(rankedRow)) return Credit.Short;
  if (!creditOthers(cycle, rankedRow, pattern, early)) return Credit.Waits;
  return cycle.unfilled.covered ? Credit.Covered : Credit.Short;
}

/**
 * Claims, of the row's own machines and orphans, those that reduce what is unfilled, until the sum is covered; with
 * `unitFirst`, starts with the first that holds the largest pod. Returns false if it found a contended machine.
 */
function creditMine(
  cycle: Cycle,
  rankedRow: number,
  pattern: Pattern,
  early: boolean,
  unitFirst: boolean,
): boolean {
  const { unfilled } = cycle;
  const { classOf } = cycle.fleet.machines;
  const fold = cycle.rankedRows.kind[rankedRow] === RowKind.Fold;
  const walk = cycle.ownAndOrphans.begin(rankedRow);
  let seeksUnit = unitFirst;
  let leftOut = false;
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    if (!cycle.claims.isFree(slot) || cycle.retiring.leavesOut(slot)) continue;
    const classNumber = classOf[slot]!;
    const serves = pattern.servesAs(classNumber);
    if (serves === Serves.Not) continue;
    const fits = serves === Serves.InFull;
    if (!fits && (seeksUnit || fold)) {
      leftOut = true;
      continue;
    }
    if (!unfilled.adds(classNumber, fits)) continue;
    if (early && cycle.credits.contended.has(classNumber, slot)) return false;
    cycle.credits.credit(rankedRow, slot, fits);
    if (unfilled.sumCovered) return true;
    if (seeksUnit && leftOut) break;
    seeksUnit = false;
  }
  // Usually no machine before the first that holds the largest pod was left out, and one walk is enough.
  return !seeksUnit || !leftOut || creditMine(cycle, rankedRow, pattern, early, false);
}

/** Credits Idle machines in flight, then Creating ones. */
function creditInFlight(cycle: Cycle, rankedRow: number): void {
  const { unfilled } = cycle;
  const { machines } = cycle.fleet;
  for (const slot of [...idleInFlight(cycle, rankedRow), ...creatingInFlight(cycle, rankedRow, true)]) {
    if (unfilled.covered) return;
    if (!unfilled.adds(machines.classOf[slot]!, true)) continue;
    cycle.pass.credit(rankedRow, slot, true);
  }
}

/** Credits bound machines of other live rows, for what machines draining for this row will not cover. */
function creditOthers(cycle: Cycle, rankedRow: number, pattern: Pattern, early: boolean): boolean {
  const drains =
    cycle.rankedRows.hasInFlight[rankedRow] === 1 ? drainingFor(cycle, rankedRow, true) : NO_DRAINS;
  if (
    cycle.beyond(rankedRow, drains).unitMissing &&
    !walkOthers(cycle, rankedRow, pattern, drains, early, true)
  )
    return false;
  return walkOthers(cycle, rankedRow, pattern, drains, early, false);
}

function walkOthers(
  cycle: Cycle,
  rankedRow: number,
  pattern: Pattern,
  drains: readonly number[],
  early: boolean,
  firstUnit: boolean,
): boolean {
  let rest = cycle.beyond(rankedRow, drains);
  const { machines } = cycle.fleet;
  const key = cycle.rankedRows.key[rankedRow]!;
  const cluster = cycle.rankedRows.cluster[rankedRow]!;
  const walk = early ? cycle.credits.walkUnclaimed(cluster) : cycle.credits.walkUnclaimedAtClose(cluster);
  for (let slot = walk.next(); slot !== NONE && (firstUnit || !rest.sumCovered); slot = walk.next()) {
    if (!cycle.claims.isFree(slot)) continue;
    const classNumber = machines.classOf[slot]!;
    // Below the largest pod it would not serve this row, and its own row would buy again in every cycle.
    if (!pattern.fits(classNumber) || !cycle.isAnothers(slot, key)) continue;
    if (!rest.adds(classNumber, true)) continue;
    if (early && cycle.credits.contended.has(classNumber, slot)) return false;
    cycle.credits.credit(rankedRow, slot, true);
    if (cycle.sharing.isActive) cycle.credits.noteRestamp(cluster);
    if (firstUnit) return true;
    rest = cycle.beyond(rankedRow, drains);
  }
  return true;
}

const NO_DRAINS: readonly number[] = [];

/**
 * A gang whose own machines complete it in one domain stays there whatever machines are free: no other domain can have more
 * creditable machines, nor as many of its own. Any other gang waits.
 */
function creditGang(cycle: Cycle, rankedRow: number): Credit {
  const { bound, unfilled } = cycle;
  const { domains, machines } = cycle.fleet;
  const pattern = cycle.patternOf(rankedRow);
  const byKey = domains.by(cycle.profileOf(rankedRow).sameKey!);
  cycle.beginUnfilled(rankedRow);
  if (unfilled.covered || cycle.rankedRows.hasInFlight[rankedRow] === 1) return Credit.Waits;
  let domain = -1;
  for (let i = bound.ownStart[rankedRow]!; i < bound.ownEnd[rankedRow]!; i++) {
    const slot = bound.slots[i]!;
    const classNumber = machines.classOf[slot]!;
    if (!cycle.claims.isFree(slot) || !pattern.fits(classNumber)) continue;
    if (cycle.credits.contended.has(classNumber, slot)) return Credit.Waits;
    // With machines in two domains, the gang has to choose.
    if (domain !== -1 && byKey.of(classNumber) !== domain) return Credit.Waits;
    domain = byKey.of(classNumber);
    if (unfilled.covered || !unfilled.adds(classNumber, true)) continue;
    cycle.credits.credit(rankedRow, slot, true);
    if (machines.stampKey[slot] !== cycle.rankedRows.key[rankedRow])
      cycle.credits.noteRestamp(cycle.rankedRows.cluster[rankedRow]!);
  }
  return unfilled.covered ? Credit.Covered : Credit.Waits;
}

function contestMembers(cycle: Cycle, fold: number): void {
  const { firstMember, nextMember } = cycle.rankedRows;
  for (let row = firstMember[fold]!; row !== NONE; row = nextMember[row]!) {
    cycle.credits.contended.add(cycle.fleet.demand.pattern[row]!, false);
  }
}

/** An infeasible gang might claim its own machines and orphans. */
function contestMine(cycle: Cycle, rankedRow: number): void {
  const { machines } = cycle.fleet;
  const pattern = cycle.patternOf(rankedRow);
  const walk = cycle.ownAndOrphans.begin(rankedRow);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    if (cycle.claims.isFree(slot) && pattern.fits(machines.classOf[slot]!))
      cycle.credits.contended.addMachine(slot);
  }
}
