// Serves one row in the pass over the free machines: credits it if it waited for the pass, and acquires what it lacks.
// Most of this reads and writes machines of the row's cluster only, so it is done in two steps, and lanes take turns in
// the second one. Called by lanes.ts and lane.ts.

import type { Cycle } from '../cycle.ts';
import { addUnmet } from '../unmet.ts';
import { acquire, wouldBuy } from './acquire.ts';
import { creditRow } from './credit.ts';
import { Credit } from './credits.ts';
import { serveGang } from './gang.ts';
import { RowKind } from './ranked-rows.ts';
import { acquireEvenly } from './spread.ts';

/** Lanes were ended before all rows were served: all rows must be served again, in one lane. */
export class LanesAbandoned extends Error {
  override readonly name = 'LanesAbandoned';
}

/** Serves a row and, right behind it, the members that its fold cannot host. `position`: its place in rank order. */
export function serve(cycle: Cycle, rankedRow: number, position: number): void {
  const startMs = cycle.stats.rowMs();
  if (serveInCluster(cycle, rankedRow, position)) cycle.stats.served(false, startMs);
  else serveFromFree(cycle, rankedRow, position, startMs);
}

/** Loads what a ranked row lacks beyond its credits into `unfilled`. */
function beginShort(cycle: Cycle, rankedRow: number): void {
  const { unfilled } = cycle;
  const { creditEnd, creditStart, slots } = cycle.claims;
  const { classOf } = cycle.fleet.machines;
  const pattern = cycle.patternOf(rankedRow);
  cycle.beginUnfilled(rankedRow);
  cycle.sharing.borrow(rankedRow);
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
  const { blockers, rankedRows, sharing } = cycle;
  sharing.beginTurn(rankedRow);
  cycle.purchases.beginTurn(rankedRow);
  cycle.pass.enter(rankedRow, position);
  if (cycle.isExplained(rankedRow)) cycle.result.setBlocker(rankedRow, blockers.of(rankedRow));
  // Gangs choose among free machines too, and better-ranked rows may have taken machines that are on their way to the row.
  if (rankedRows.kind[rankedRow] === RowKind.Gang || rankedRows.hasInFlight[rankedRow] === 1) return false;
  credit(cycle, rankedRow);
  if (!cycle.unfilled.covered) return false;
  endTurn(cycle, rankedRow);
  return true;
}

/** The second step, for a row that the first one did not serve: free machines, and machines on their way to the row. */
export function serveFromFree(
  cycle: Cycle,
  rankedRow: number,
  position: number,
  startMs: number,
  canAddRows = true,
): void {
  const { rankedRows, unfilled } = cycle;
  if (rankedRows.kind[rankedRow] === RowKind.Gang) {
    serveGang(cycle, rankedRow);
    cycle.blockers.noteTaken(rankedRow);
  } else {
    if (rankedRows.hasInFlight[rankedRow] === 1) credit(cycle, rankedRow);
    if (!unfilled.covered) acquireRest(cycle, rankedRow);
    endTurn(cycle, rankedRow);
  }
  const { laterEnd, laterStart } = cycle.claims;
  cycle.stats.served(laterEnd[rankedRow]! > laterStart[rankedRow]!, startMs);
  if (rankedRows.kind[rankedRow] !== RowKind.Fold || unfilled.gangsLeft === 0) return;
  if (!canAddRows) throw new LanesAbandoned('A fold cannot host all its members.');
  serveUnhosted(cycle, rankedRow, position);
}

function credit(cycle: Cycle, rankedRow: number): void {
  const { claims } = cycle;
  if (cycle.credits.outcome[rankedRow] === Credit.Short) beginShort(cycle, rankedRow);
  else {
    claims.openCredits(rankedRow);
    creditRow(cycle, rankedRow, false);
  }
  claims.openLater(rankedRow);
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

function endTurn(cycle: Cycle, rankedRow: number): void {
  cycle.sharing.lend(rankedRow);
  cycle.sharing.forecastDrains(rankedRow);
  cycle.blockers.noteTaken(rankedRow);
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
