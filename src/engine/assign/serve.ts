// One row's turn in the pass over the free machines: it is credited if it waited for the pass, and acquires what it lacks.

import { Credit, type Cycle } from '../cycle.ts';
import { addUnmet, blockerOf, noteTaken } from '../unmet.ts';
import { acquire } from './acquire.ts';
import { creditRow } from './credit.ts';
import { serveGang } from './gang.ts';
import { TurnKind } from './ranked-rows.ts';
import { acquireEvenly } from './spread.ts';

/** Serves a row in its turn, and right behind it the members that its fold cannot host. */
export function serveInTurn(cycle: Cycle, turn: number): void {
  serve(cycle, turn);
  if (cycle.turns.kind[turn] === TurnKind.Fold && cycle.unfilled.gangsLeft > 0) serveUnhosted(cycle, turn);
}

/** Serves one row and counts its path. */
export function serve(cycle: Cycle, turn: number): void {
  const startMs = cycle.stats.rowMs();
  serveRow(cycle, turn);
  cycle.stats.served(cycle.laterEnd[turn]! > cycle.laterStart[turn]!, startMs);
}

/** Loads what a turn lacks beyond its credits into `unfilled`. */
export function beginShort(cycle: Cycle, turn: number): void {
  const { claims, creditEnd, creditStart, unfilled } = cycle;
  const { classOf } = cycle.fleet.machines;
  const pattern = cycle.patternOf(turn);
  cycle.beginUnfilled(turn);
  for (let i = creditStart[turn]!; i < creditEnd[turn]!; i++) {
    const classNumber = classOf[claims[i]!]!;
    unfilled.take(classNumber, pattern.fits(classNumber));
  }
}

function serveRow(cycle: Cycle, turn: number): void {
  const { turns, unfilled } = cycle;
  cycle.pass.enter(turn, cycle.claimCount);
  if (cycle.isExplained(turn)) cycle.explainedBlockers.set(turn, blockerOf(cycle, turn));
  if (turns.kind[turn] === TurnKind.Gang) {
    serveGang(cycle, turn);
    noteTaken(cycle, turn);
    return;
  }
  if (cycle.outcome[turn] === Credit.Short) beginShort(cycle, turn);
  else {
    cycle.openCredits(turn);
    creditRow(cycle, turn, false);
  }
  cycle.openLater(turn);
  if (!unfilled.covered) {
    if (turns.kind[turn] === TurnKind.Spread) acquireEvenly(cycle, turn);
    else {
      if (cycle.canBind(turn)) acquire(cycle, turn);
      if (!unfilled.covered && turns.kind[turn] === TurnKind.Plain) addUnmet(cycle, turn, null);
    }
  }
  noteTaken(cycle, turn);
}

/** Serves members without a host as gangs, right behind their fold. */
function serveUnhosted(cycle: Cycle, fold: number): void {
  const { fleet, turns } = cycle;
  const members = turns.membersOf(fleet, fold);
  const hosted = members.length - cycle.unfilled.gangsLeft;
  cycle.hosted.set(fold, hosted);
  for (const [i, row] of members.slice(hosted).entries()) {
    serve(cycle, cycle.addUnhosted(row, fold, (i + 1) / (members.length + 1)));
  }
}
