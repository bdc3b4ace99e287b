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
import { Credit, type Cycle } from '../cycle.ts';
import { comingCreating, comingIdle, drainingFor } from './in-flight.ts';
import { NONE, TurnKind } from './ranked-rows.ts';
import { creditSpread } from './spread.ts';

/**
 * Makes the turns of a cluster, unless they are kept, indexes its machines and credits it; or puts it off, if that depends
 * on more than the cluster. Writes nothing that belongs to another cluster, so that threads can serve clusters in parallel.
 */
export function serveCluster(cycle: Cycle, cluster: number): void {
  const hasTurns = cycle.dirtyClusters.keeps[cluster] === 1 || cycle.makeTurns(cluster);
  if (hasTurns && cycle.bound.index(cluster, false)) creditAll(cycle, cluster);
  else cycle.putOff[cluster] = 1;
}

/** Credits a cluster that was put off; the turns of all clusters are made. */
export function creditCluster(cycle: Cycle, cluster: number): void {
  cycle.bound.index(cluster, true);
  creditAll(cycle, cluster);
}

/** Serves every turn of a cluster as far as no free machine is needed, and records the outcome of each. */
function creditAll(cycle: Cycle, cluster: number): void {
  const { turns } = cycle;
  const creditOf = cycle.walk.countOf(cluster) === 0 ? creditNothing : creditTurn;
  const hasSetAside = cycle.fleet.demand.setAsideIn[cluster]! > 0;
  cycle.openCluster(cluster);
  if (hasSetAside) creditSetAside(cycle, cluster);
  for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++) {
    // It never needs free machines; set-aside.ts records it as unmet when all rows are served.
    if (hasSetAside && turns.kind[turn] === TurnKind.SetAside) cycle.settle(turn, Credit.Covered);
    else cycle.settle(turn, creditOf(cycle, turn));
  }
  cycle.closeCluster(cluster);
}

/** Rows that are set aside claim the machines that are bound for them, in rank order. */
function creditSetAside(cycle: Cycle, cluster: number): void {
  const { bound, turns } = cycle;
  for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++) {
    if (turns.kind[turn] !== TurnKind.SetAside) continue;
    cycle.openCredits(turn);
    cycle.beginUnfilled(turn);
    for (let i = bound.ownStart[turn]!; i < bound.ownEnd[turn]!; i++) {
      const slot = bound.slots[i]!;
      // It may also belong to another row that is set aside, by stamp or by target.
      if (cycle.isFree(slot)) cycle.credit(turn, slot, false);
    }
  }
}

/** The result of `creditTurn` for a cluster without bound machines, computed without a search. */
function creditNothing(cycle: Cycle, turn: number): Credit {
  const { coming, kind, row } = cycle.turns;
  cycle.openCredits(turn);
  if (kind[turn] === TurnKind.Gang || cycle.isExplained(turn)) return Credit.Waits;
  if (cycle.fleet.demand.empty[row[turn]!] === 1) return Credit.Covered;
  return coming[turn] === 1 ? Credit.Waits : Credit.Short;
}

function creditTurn(cycle: Cycle, turn: number): Credit {
  const kind = cycle.turns.kind[turn];
  cycle.openCredits(turn);
  let credit: Credit = Credit.Waits;
  if (!cycle.isExplained(turn)) {
    credit = kind === TurnKind.Gang ? creditGang(cycle, turn) : creditRow(cycle, turn, true);
  }
  if (credit === Credit.Waits) {
    cycle.dropCredits(turn);
    if (cycle.turns.infeasible[turn] === 1) contestMine(cycle, turn);
    else cycle.contended.add(cycle.turns.pattern[turn]!, kind === TurnKind.Plain || kind === TurnKind.Spread);
  }
  if (credit !== Credit.Covered && kind === TurnKind.Fold) {
    // Members without a host will be served as gangs right behind the fold, each with its own largest pod.
    contestMembers(cycle, turn);
  }
  return credit;
}

/** Credits a row that is not a gang. With `early`, the pass has not begun: returns Waits at anything that depends on it. */
export function creditRow(cycle: Cycle, turn: number, early: boolean): Credit {
  cycle.beginUnfilled(turn);
  if (cycle.unfilled.covered) return Credit.Covered;
  const spread = cycle.turns.kind[turn] === TurnKind.Spread;
  // A single machine cannot be uneven.
  if (spread && (cycle.turns.coming[turn] === 1 || cycle.mine.begin(turn).left > 1))
    return creditSpread(cycle, turn, early);
  const pattern = cycle.patternOf(turn);
  if (!creditMine(cycle, turn, pattern, early, cycle.unfilled.unitMissing)) return Credit.Waits;
  if (cycle.unfilled.covered) return Credit.Covered;
  if (spread) return creditSpread(cycle, turn, early);
  if (cycle.turns.coming[turn] === 1) {
    if (early) return Credit.Waits;
    creditComing(cycle, turn);
    if (cycle.unfilled.covered) return Credit.Covered;
  }
  if (!creditOthers(cycle, turn, pattern, early)) return Credit.Waits;
  return cycle.unfilled.covered ? Credit.Covered : Credit.Short;
}

/**
 * Claims, of the row's own machines and orphans, those that reduce what is unfilled, until the sum is covered; with
 * `unitFirst`, starts with the first that holds the largest pod. Returns false if it found a contended machine.
 */
function creditMine(
  cycle: Cycle,
  turn: number,
  pattern: Pattern,
  early: boolean,
  unitFirst: boolean,
): boolean {
  const { unfilled } = cycle;
  const { classOf } = cycle.fleet.machines;
  const fold = cycle.turns.kind[turn] === TurnKind.Fold;
  const walk = cycle.mine.begin(turn);
  let seeksUnit = unitFirst;
  let leftOut = false;
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    if (cycle.claimedBy[slot] !== 0) continue;
    const classNumber = classOf[slot]!;
    const serves = pattern.servesAs(classNumber);
    if (serves === Serves.Not) continue;
    const fits = serves === Serves.InFull;
    if (!fits && (seeksUnit || fold)) {
      leftOut = true;
      continue;
    }
    if (!unfilled.adds(classNumber, fits)) continue;
    if (early && cycle.contended.has(classNumber, slot)) return false;
    cycle.credit(turn, slot, fits);
    if (unfilled.sumCovered) return true;
    if (seeksUnit && leftOut) break;
    seeksUnit = false;
  }
  // Usually no machine before the first that holds the largest pod was left out, and one walk is enough.
  return !seeksUnit || !leftOut || creditMine(cycle, turn, pattern, early, false);
}

/** Credits Idle machines in flight, then Creating ones. */
function creditComing(cycle: Cycle, turn: number): void {
  const { unfilled } = cycle;
  const { machines } = cycle.fleet;
  for (const slot of [...comingIdle(cycle, turn), ...comingCreating(cycle, turn, true)]) {
    if (unfilled.covered) return;
    if (!unfilled.adds(machines.classOf[slot]!, true)) continue;
    cycle.credit(turn, slot, true);
    cycle.takeOut(slot);
  }
}

/** Credits bound machines of other live rows, for what machines draining for this row will not cover. */
function creditOthers(cycle: Cycle, turn: number, pattern: Pattern, early: boolean): boolean {
  const drains = cycle.turns.coming[turn] === 1 ? drainingFor(cycle, turn, true) : NO_DRAINS;
  if (cycle.beyond(turn, drains).unitMissing && !walkOthers(cycle, turn, pattern, drains, early, true))
    return false;
  return walkOthers(cycle, turn, pattern, drains, early, false);
}

function walkOthers(
  cycle: Cycle,
  turn: number,
  pattern: Pattern,
  drains: readonly number[],
  early: boolean,
  firstUnit: boolean,
): boolean {
  let rest = cycle.beyond(turn, drains);
  const { machines } = cycle.fleet;
  const key = cycle.turns.key[turn]!;
  const fold = cycle.turns.kind[turn] === TurnKind.Fold;
  const cluster = cycle.turns.cluster[turn]!;
  const walk = early ? cycle.walkFree(cluster) : cycle.walkLeft(cluster);
  for (let slot = walk.next(); slot !== NONE && (firstUnit || !rest.sumCovered); slot = walk.next()) {
    if (cycle.claimedBy[slot] !== 0) continue;
    const classNumber = machines.classOf[slot]!;
    const serves = pattern.servesAs(classNumber);
    if (serves === Serves.Not || !cycle.isAnothers(slot, key)) continue;
    const fits = serves === Serves.InFull;
    if (!fits && (firstUnit || fold)) continue;
    if (!rest.adds(classNumber, fits)) continue;
    if (early && cycle.contended.has(classNumber, slot)) return false;
    cycle.credit(turn, slot, fits);
    if (firstUnit) return true;
    rest = cycle.beyond(turn, drains);
  }
  return true;
}

const NO_DRAINS: readonly number[] = [];

/**
 * A gang whose own machines complete it in one domain stays there whatever machines are free: no other domain can have more
 * creditable machines, nor as many of its own. Any other gang waits.
 */
function creditGang(cycle: Cycle, turn: number): Credit {
  const { bound, unfilled } = cycle;
  const { domains, machines } = cycle.fleet;
  const pattern = cycle.patternOf(turn);
  const byKey = domains.by(cycle.profileOf(turn).sameKey!);
  cycle.beginUnfilled(turn);
  if (unfilled.covered || cycle.turns.coming[turn] === 1) return Credit.Waits;
  let domain = -1;
  for (let i = bound.ownStart[turn]!; i < bound.ownEnd[turn]!; i++) {
    const slot = bound.slots[i]!;
    const classNumber = machines.classOf[slot]!;
    if (cycle.claimedBy[slot] !== 0 || !pattern.fits(classNumber)) continue;
    if (cycle.contended.has(classNumber, slot)) return Credit.Waits;
    // With machines in two domains, the gang has to choose.
    if (domain !== -1 && byKey.of(classNumber) !== domain) return Credit.Waits;
    domain = byKey.of(classNumber);
    if (unfilled.covered || !unfilled.adds(classNumber, true)) continue;
    cycle.credit(turn, slot, true);
    if (machines.stampKey[slot] !== cycle.turns.key[turn]) cycle.restamps[cycle.turns.cluster[turn]!] = 1;
  }
  return unfilled.covered ? Credit.Covered : Credit.Waits;
}

function contestMembers(cycle: Cycle, fold: number): void {
  const { firstMember, nextMember } = cycle.turns;
  for (let row = firstMember[fold]!; row !== NONE; row = nextMember[row]!) {
    cycle.contended.add(cycle.fleet.demand.pattern[row]!, false);
  }
}

/** An infeasible gang might claim its own machines and orphans. */
function contestMine(cycle: Cycle, turn: number): void {
  const { machines } = cycle.fleet;
  const pattern = cycle.patternOf(turn);
  const walk = cycle.mine.begin(turn);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    if (cycle.claimedBy[slot] === 0 && pattern.fits(machines.classOf[slot]!))
      cycle.contended.addMachine(slot);
  }
}
