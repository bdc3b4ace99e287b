// Serves one row in the pass over the free machines: credits it if it waited for the pass, and acquires what it lacks.

import { Credit, type Cycle } from '../cycle.ts';
import { addUnmet, blockerOf, noteTaken } from '../unmet.ts';
import { acquire } from './acquire.ts';
import { creditRow } from './credit.ts';
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
  cycle.stats.served(cycle.laterEnd[rankedRow]! > cycle.laterStart[rankedRow]!, startMs);
}

/** Loads what a ranked row lacks beyond its credits into `unfilled`. */
export function beginShort(cycle: Cycle, rankedRow: number): void {
  const { claims, creditEnd, creditStart, unfilled } = cycle;
  const { classOf } = cycle.fleet.machines;
  const pattern = cycle.patternOf(rankedRow);
  cycle.beginUnfilled(rankedRow);
  for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
    const classNumber = classOf[claims[i]!]!;
    unfilled.take(classNumber, pattern.fits(classNumber));
  }
}

function serveRow(cycle: Cycle, rankedRow: number): void {
  const { rankedRows, unfilled } = cycle;
  cycle.pass.enter(rankedRow, cycle.claimCount);
  if (cycle.isExplained(rankedRow)) cycle.explainedBlockers.set(rankedRow, blockerOf(cycle, rankedRow));
  if (rankedRows.kind[rankedRow] === RowKind.Gang) {
    serveGang(cycle, rankedRow);
    noteTaken(cycle, rankedRow);
    return;
  }
  if (cycle.outcome[rankedRow] === Credit.Short) beginShort(cycle, rankedRow);
  else {
    cycle.openCredits(rankedRow);
    creditRow(cycle, rankedRow, false);
  }
  cycle.openLater(rankedRow);
  if (!unfilled.covered) {
    if (rankedRows.kind[rankedRow] === RowKind.Spread) acquireEvenly(cycle, rankedRow);
    else {
      if (cycle.canBind(rankedRow)) acquire(cycle, rankedRow);
      if (!unfilled.covered && rankedRows.kind[rankedRow] === RowKind.Plain) addUnmet(cycle, rankedRow, null);
    }
  }
  noteTaken(cycle, rankedRow);
}

/** Serves members without a host as gangs, right behind their fold. */
function serveUnhosted(cycle: Cycle, fold: number): void {
  const { fleet, rankedRows } = cycle;
  const members = rankedRows.membersOf(fleet, fold);
  const hosted = members.length - cycle.unfilled.gangsLeft;
  cycle.hosted.set(fold, hosted);
  for (const [i, row] of members.slice(hosted).entries()) {
    serve(cycle, cycle.addUnhosted(row, fold, (i + 1) / (members.length + 1)));
  }
}
