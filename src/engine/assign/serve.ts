// Serves one row in the pass over the free machines: credits it if it waited for the pass, and acquires what it lacks.
// Called by lanes.ts and lane.ts.

import type { Cycle } from '../cycle.ts';
import { addUnmet } from '../unmet.ts';
import { acquire } from './acquire.ts';
import { creditRow } from './credit.ts';
import { Credit } from './credits.ts';
import { serveGang } from './gang.ts';
import { RowKind } from './ranked-rows.ts';
import { acquireEvenly } from './spread.ts';

/** Serves a row and, right behind it, the members that its fold cannot host. */
export function serveWithUnhosted(cycle: Cycle, rankedRow: number): void {
  serve(cycle, rankedRow);
  if (cycle.rankedRows.kind[rankedRow] === RowKind.Fold && cycle.unfilled.gangsLeft > 0)
    serveUnhosted(cycle, rankedRow);
}

/** Serves one row and counts its path. */
export function serve(cycle: Cycle, rankedRow: number): void {
  const startMs = cycle.stats.rowMs();
  serveRow(cycle, rankedRow);
  const { laterEnd, laterStart } = cycle.claims;
  cycle.stats.served(laterEnd[rankedRow]! > laterStart[rankedRow]!, startMs);
}

/** Loads what a ranked row lacks beyond its credits into `unfilled`. */
export function beginShort(cycle: Cycle, rankedRow: number): void {
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

function serveRow(cycle: Cycle, rankedRow: number): void {
  const { blockers, claims, rankedRows, sharing, unfilled } = cycle;
  sharing.beginTurn(rankedRow);
  cycle.pass.enter(rankedRow, claims.count);
  if (cycle.isExplained(rankedRow)) cycle.result.setBlocker(rankedRow, blockers.of(rankedRow));
  if (rankedRows.kind[rankedRow] === RowKind.Gang) {
    serveGang(cycle, rankedRow);
    blockers.noteTaken(rankedRow);
    return;
  }
  if (cycle.credits.outcome[rankedRow] === Credit.Short) beginShort(cycle, rankedRow);
  else {
    claims.openCredits(rankedRow);
    creditRow(cycle, rankedRow, false);
  }
  claims.openLater(rankedRow);
  if (!unfilled.covered) {
    if (rankedRows.kind[rankedRow] === RowKind.Spread) acquireEvenly(cycle, rankedRow);
    else {
      if (cycle.canBind(rankedRow)) acquire(cycle, rankedRow);
      if (!unfilled.covered && rankedRows.kind[rankedRow] === RowKind.Plain) addUnmet(cycle, rankedRow, null);
    }
  }
  sharing.lend(rankedRow);
  sharing.forecastDrains(rankedRow);
  blockers.noteTaken(rankedRow);
}

/** Serves members without a host as gangs, right behind their fold. */
function serveUnhosted(cycle: Cycle, fold: number): void {
  const { fleet, rankedRows } = cycle;
  const members = rankedRows.membersOf(fleet, fold);
  const hosted = members.length - cycle.unfilled.gangsLeft;
  cycle.result.setHosted(fold, hosted);
  for (const [i, row] of members.slice(hosted).entries()) {
    serve(cycle, cycle.addUnhosted(row, fold, (i + 1) / (members.length + 1)));
  }
}
