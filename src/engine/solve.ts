// Phase 1: every row served, with the result of serving them one by one in rank order. First each cluster is credited
// by itself; then the rows that need the shared pools are served in rank order over all clusters.

import type { DecisionOptions } from '../model/index.ts';
import { acquire } from './acquire.ts';
import { creditRow } from './credit.ts';
import type { Crew } from './crew.ts';
import { Credit, type Cycle } from './cycle.ts';
import { serveGang } from './gang.ts';
import { sortedBy } from './radix.ts';
import { acquireEvenly } from './spread.ts';
import { TurnKind } from './turns.ts';
import { addUnmet, blockerOf, noteTaken } from './unmet.ts';

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
  const pending = pendingOf(cycle);
  cycle.openPass();
  for (const turn of pending) {
    serve(cycle, turn);
    if (cycle.turns.kind[turn] === TurnKind.Fold && cycle.want.gangsLeft > 0) serveUnhosted(cycle, turn);
  }
  probe('acquire');
}

/** Turns that need the pools, in rank order. */
function pendingOf(cycle: Cycle): Uint32Array {
  const { firstSeenMs, precedence } = cycle.turns;
  // Cluster by cluster, and each cluster's in rank order: that settles all ties.
  const lists = cycle.fleet.clusters.sorted().map((cluster) => cycle.pendingOf[cluster] ?? []);
  const pending = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const list of lists) {
    pending.set(list, end);
    end += list.length;
  }
  const byFirstSeen = sortedBy(pending, (turn) => firstSeenMs[turn]!);
  return sortedBy(byFirstSeen, (turn) => -precedence[turn]!);
}

function serve(cycle: Cycle, turn: number): void {
  const { turns, want } = cycle;
  cycle.pass.push(turn);
  if (cycle.isExplained(turn)) cycle.explainedBlockers.set(turn, blockerOf(cycle, turn));
  if (turns.kind[turn] === TurnKind.Gang) {
    serveGang(cycle, turn);
    noteTaken(cycle, turn);
    return;
  }
  if (cycle.outcome[turn] === Credit.Short) cycle.beginShort(turn);
  else {
    cycle.openCredits(turn);
    creditRow(cycle, turn, false);
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
    serve(cycle, cycle.addUnhosted(row, fold, (i + 1) / (members.length + 1)));
  }
}
