// Serves one row in the pass over the free machines: credits it if it waited for the pass, and acquires what it lacks.
// Most of this reads and writes machines of the row's cluster only, so it is done in two steps, and lanes take turns in
// the second one; with sharing the first step is done ahead (turns-ahead.ts). Called by lanes.ts and lane.ts.

import type { Cycle } from '../cycle.ts';
import { addUnmet } from '../unmet.ts';
import { acquire, wouldBuy } from './acquire.ts';
import { creditRow, creditUnfilled } from './credit.ts';
import { Credit } from './credits.ts';
import { serveGang } from './gang.ts';
import { NONE, RowKind } from './ranked-rows.ts';
import { acquireEvenly } from './spread.ts';
import { Ahead } from './turns-ahead.ts';
import type { Shortage } from './unfilled.ts';

/** Lanes were ended before all rows were served: all rows must be served again, in one lane. */
export class LanesAbandoned extends Error {
  override readonly name = 'LanesAbandoned';
}

/** Serves a row and, right behind it, the members that its fold cannot host. `position`: its place in rank order. */
export function serve(cycle: Cycle, rankedRow: number, position: number): void {
  const startMs = cycle.stats.rowMs();
  if (serveInCluster(cycle, rankedRow, position)) cycle.stats.served(false, startMs);
  else {
    serveFromFree(cycle, rankedRow);
    endTurn(cycle, rankedRow, position, startMs);
  }
}

/** Loads what a ranked row lacks beyond its credits into `unfilled`; `resumes`: it has borrowed already. */
function beginShort(cycle: Cycle, rankedRow: number, resumes: boolean): void {
  const { unfilled } = cycle;
  const { creditEnd, creditStart, slots } = cycle.claims;
  const { classOf } = cycle.fleet.machines;
  const pattern = cycle.patternOf(rankedRow);
  cycle.beginUnfilled(rankedRow);
  if (resumes) cycle.sharing.resumeTurn(rankedRow);
  else if (cycle.sharing.isActive) cycle.sharing.borrow(rankedRow);
  cycle.retiring.leaveOutFor(null);
  for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
    const classNumber = classOf[slots[i]!]!;
    unfilled.take(classNumber, pattern.fits(classNumber));
  }
}

/**
 * The first step of serving a row: what its cluster has. Returns whether the row needs nothing else. Reads and writes nothing
 * that rows of other clusters read.
 */
export function serveInCluster(cycle: Cycle, rankedRow: number, position: number): boolean {
  const { blockers, purchases, rankedRows, sharing, turnsAhead } = cycle;
  if (purchases.areLimited) purchases.beginTurn(rankedRow);
  cycle.pass.enter(rankedRow, position);
  if (turnsAhead.isOn) {
    const ahead = turnsAhead.begin(rankedRow);
    if (ahead === Ahead.Served) return true;
    if (ahead === Ahead.Begun) {
      beginShort(cycle, rankedRow, true);
      cycle.claims.openLater(rankedRow);
      return false;
    }
  }
  if (sharing.isActive) sharing.beginTurn(rankedRow);
  if (cycle.isExplained(rankedRow)) cycle.result.setBlocker(rankedRow, blockers.of(rankedRow));
  // Gangs choose among free machines too, and better-ranked rows may have taken machines that are on their way to the row.
  if (rankedRows.kind[rankedRow] === RowKind.Gang || rankedRows.hasInFlight[rankedRow] === 1) return false;
  credit(cycle, rankedRow);
  cycle.claims.openLater(rankedRow);
  if (!cycle.unfilled.covered) return false;
  cycle.retiring.takeBack();
  endInCluster(cycle, rankedRow);
  return true;
}

/** Does the first step of the next rows of a cluster, up to the first one that needs more. */
export function serveAhead(cycle: Cycle, cluster: number): void {
  while (beginNext(cycle, cluster) === Ahead.Served);
}

/**
 * Does the first step of the next row of a cluster, if that can be done before its turn. If the row needs more, `unfilled` is
 * what it lacks. Reads and writes nothing that rows of other clusters read.
 */
export function beginNext(cycle: Cycle, cluster: number): Ahead {
  const { claims, sharing, stats, turnsAhead, unfilled } = cycle;
  const row = turnsAhead.nextIn(cluster);
  if (row === NONE) return Ahead.Nothing;
  const from = claims.count;
  const startMs = stats.rowMs();
  sharing.beginTurn(row);
  credit(cycle, row);
  turnsAhead.note(row, unfilled.covered);
  if (!unfilled.covered) {
    sharing.suspendTurn(row);
    return Ahead.Begun;
  }
  endInCluster(cycle, row);
  if (claims.count > from) stats.committed('incremental', startMs);
  return Ahead.Served;
}

/**
 * Acquires for a plain or spread row whose first step another lane has done, and who will end its turn; `unfilled` is what it
 * lacks.
 */
export function acquireRequested(cycle: Cycle, rankedRow: number, position: number): void {
  const { claims, stats } = cycle;
  cycle.pass.enter(rankedRow, position);
  cycle.sharing.beginElsewhere();
  claims.openLater(rankedRow);
  acquireRest(cycle, rankedRow);
  cycle.blockers.noteAcquired(rankedRow);
  const took = claims.laterEnd[rankedRow]! > claims.laterStart[rankedRow]!;
  stats.served(took, 0);
  if (took) stats.committed('incremental', 0);
}

/** The second step, for a row that the first one did not serve: free machines, and machines on their way to the row. */
export function serveFromFree(cycle: Cycle, rankedRow: number): void {
  const { rankedRows, unfilled } = cycle;
  if (rankedRows.kind[rankedRow] === RowKind.Gang) {
    serveGang(cycle, rankedRow);
  } else {
    if (rankedRows.hasInFlight[rankedRow] === 1) {
      credit(cycle, rankedRow);
      cycle.claims.openLater(rankedRow);
    }
    const wanted = cycle.retiring.takeBack();
    if (!unfilled.covered && wanted !== null) replaceRetiring(cycle, rankedRow, wanted);
    if (!unfilled.covered) acquireRest(cycle, rankedRow);
  }
  cycle.blockers.noteTaken(rankedRow);
}

/**
 * Ends the turn of a row after the second step. For a plain or spread row this reads and writes nothing that rows of other
 * clusters read; a fold serves the members that it cannot host.
 */
export function endTurn(
  cycle: Cycle,
  rankedRow: number,
  position: number,
  startMs: number,
  canAddRows = true,
): void {
  const { rankedRows, unfilled } = cycle;
  const kind = rankedRows.kind[rankedRow];
  if (kind !== RowKind.Gang) endInCluster(cycle, rankedRow);
  const { laterEnd, laterStart } = cycle.claims;
  cycle.stats.served(laterEnd[rankedRow]! > laterStart[rankedRow]!, startMs);
  if (kind !== RowKind.Fold || unfilled.gangsLeft === 0) return;
  if (!canAddRows) throw new LanesAbandoned('A fold cannot host all its members.');
  serveUnhosted(cycle, rankedRow, position);
}

function credit(cycle: Cycle, rankedRow: number): void {
  const { claims } = cycle;
  if (cycle.credits.outcome[rankedRow] === Credit.Short) beginShort(cycle, rankedRow, false);
  else {
    claims.openCredits(rankedRow);
    creditRow(cycle, rankedRow, false);
  }
}

/** Acquires what a row lacks beyond its credits. */
function acquireRest(cycle: Cycle, rankedRow: number): void {
  const kind = cycle.rankedRows.kind[rankedRow];
  if (kind === RowKind.Spread) {
    acquireEvenly(cycle, rankedRow);
    return;
  }
  const canBind = cycle.canBind(rankedRow);
  if (canBind) acquire(cycle, rankedRow);
  if (!cycle.unfilled.covered && kind === RowKind.Plain)
    addUnmet(cycle, rankedRow, null, canBind && wouldBuy(cycle, rankedRow));
}

function endInCluster({ sharing }: Cycle, rankedRow: number): void {
  if (!sharing.isActive) return;
  sharing.lend(rankedRow);
  sharing.forecastDrains(rankedRow);
}

/**
 * Acquires what a row lacks that was credited without machines to be replaced. If that does not cover it, it returns
 * everything, also what it paid, and is credited with those machines as well.
 */
function replaceRetiring(cycle: Cycle, rankedRow: number, wanted: Shortage): void {
  const { claims, freeMachines, pass, purchases, rankedRows, unfilled } = cycle;
  const paid = purchases.save(rankedRow);
  freeMachines.tentatively(() => acquire(cycle, rankedRow));
  if (unfilled.covered) return;
  pass.undo(rankedRow);
  purchases.restore(rankedRow, paid);
  unfilled.restore(rankedRows.row[rankedRow]!, wanted);
  creditUnfilled(cycle, rankedRow, false);
  claims.openLater(rankedRow);
}

/** Serves members without a host as gangs, right behind their fold. */
function serveUnhosted(cycle: Cycle, fold: number, position: number): void {
  const { fleet, rankedRows } = cycle;
  const members = rankedRows.membersOf(fleet, fold);
  const hosted = members.length - cycle.unfilled.gangsLeft;
  cycle.result.setHosted(fold, hosted);
  for (const [i, row] of members.slice(hosted).entries()) {
    const behind = (i + 1) / (members.length + 1);
    serve(cycle, cycle.addUnhosted(row, fold, behind), position + behind);
  }
}
