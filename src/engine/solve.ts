// Phase 1: every row served, with the result of serving them one by one in rank order. First each cluster is credited
// by itself; then the rows that need the shared pools are served in rank order over all clusters.

import type { DecisionOptions } from '../model/index.ts';
import { acquire } from './acquire.ts';
import { creditRow } from './credit.ts';
import type { Crew } from './crew.ts';
import type { Cycle, Pending } from './cycle.ts';
import { serveGang } from './gang.ts';
import { acquireEvenly } from './spread.ts';
import { TurnKind } from './turns.ts';
import { addUnmet, blockerOf, noteTaken } from './unmet.ts';
import type { Shortage } from './want.ts';

/** Parts of a cycle, in the order they end. */
export type Phase = 'normalise' | 'credit' | 'acquire' | 'preempt' | 'reclaim' | 'plan';

/** Told when a part of a cycle has ended. The engine reads no clock; who wants to know how long things take does. */
export type Probe = (ended: Phase) => void;

/** Serves a whole cycle; with `everything`, clusters that have not changed too. */
export function solve(
  cycle: Cycle,
  crew: Crew,
  nowMs: number,
  options: DecisionOptions,
  everything: boolean,
  probe: Probe,
): void {
  const dirty = cycle.begin(nowMs, options, everything);
  probe('normalise');
  crew.credit(dirty);
  for (const cluster of dirty) cycle.gather(cluster);
  probe('credit');
  const { fleet, turns } = cycle;
  let rows = 0;
  for (const cluster of dirty) rows += turns.end[cluster]! - turns.start[cluster]!;
  cycle.stats.credited(dirty.length, rows);
  const pending: Pending[] = [];
  for (const cluster of fleet.clusters.sorted()) {
    for (const row of cycle.pendingOf[cluster] ?? []) pending.push(row);
  }
  pending.sort((a, b) => turns.compare(fleet, a.turn, b.turn));
  cycle.openPass();
  for (const { turn, shortage, gangs } of pending) {
    serve(cycle, turn, shortage, gangs);
    if (turns.kind[turn] === TurnKind.Fold && cycle.want.gangsLeft > 0) serveUnhosted(cycle, turn);
  }
  probe('acquire');
}

/** Serves one row and counts which way it went. */
function serve(cycle: Cycle, turn: number, shortage: Shortage | null, gangs: number): void {
  const startMs = cycle.stats.rowMs();
  serveRow(cycle, turn, shortage, gangs);
  cycle.stats.served(cycle.laterEnd[turn]! > cycle.laterStart[turn]!, startMs);
}

function serveRow(cycle: Cycle, turn: number, shortage: Shortage | null, gangs: number): void {
  const { turns, want } = cycle;
  cycle.pass.push(turn);
  if (cycle.isExplained(turn)) cycle.explainedBlockers.set(turn, blockerOf(cycle, turn));
  if (turns.kind[turn] === TurnKind.Gang) {
    serveGang(cycle, turn);
    noteTaken(cycle, turn);
    return;
  }
  if (shortage === null) {
    cycle.openCredits(turn);
    creditRow(cycle, turn, false);
  } else if (turns.kind[turn] === TurnKind.Fold) {
    want.beginFold(turns.row[turn]!, gangs);
  } else {
    want.restore(turns.row[turn]!, shortage);
  }
  cycle.openLater(turn);
  if (!want.covered) {
    if (turns.kind[turn] === TurnKind.Spread) acquireEvenly(cycle, turn);
    else {
      if (cycle.canBind(turns.cluster[turn]!)) acquire(cycle, turn);
      if (!want.covered && turns.kind[turn] === TurnKind.Plain) addUnmet(cycle, turn, null);
    }
  }
  noteTaken(cycle, turn);
}

/** Members that no machine of the fold hosts are served as the gangs they are, right behind it. */
function serveUnhosted(cycle: Cycle, fold: number): void {
  const { fleet, turns } = cycle;
  const members = turns.membersOf(fleet, fold);
  const hosted = members.length - cycle.want.gangsLeft;
  cycle.hosted.set(fold, hosted);
  for (const [i, row] of members.slice(hosted).entries()) {
    serve(cycle, cycle.addUnhosted(row, fold, (i + 1) / (members.length + 1)), null, 0);
  }
}
