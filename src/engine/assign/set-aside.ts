// Rows that are set aside: their size is unknown, so they keep the machines that serve them and are not part of the pass
// over the free machines. They are unmet in every cycle. This file records that, also for clusters that were not served
// again.

import type { Cycle } from '../cycle.ts';
import type { Unmet } from '../unmet.ts';
import { NONE, TurnKind } from './ranked-rows.ts';

/** Merges rows that are set aside into the unmet rows of a cycle, both in rank order. */
export function addSetAside(cycle: Cycle): void {
  const turns = setAsideTurns(cycle);
  if (turns.length === 0) return;
  const { unmet } = cycle;
  const merged: Unmet[] = [];
  let next = 0;
  for (const turn of turns) {
    while (next < unmet.length && cycle.turns.compare(cycle.fleet, unmet[next]!.turn, turn) < 0)
      merged.push(unmet[next++]!);
    merged.push(unmetOf(cycle, turn));
  }
  for (; next < unmet.length; next++) merged.push(unmet[next]!);
  cycle.unmet = merged;
}

function setAsideTurns({ fleet, turns }: Cycle): number[] {
  const { setAsideIn } = fleet.demand;
  const found: number[] = [];
  for (let cluster = 1; cluster < setAsideIn.length; cluster++) {
    if (setAsideIn[cluster] === 0) continue;
    for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++)
      if (turns.kind[turn] === TurnKind.SetAside) found.push(turn);
  }
  return found.sort((a, b) => turns.compare(fleet, a, b));
}

function unmetOf({ fleet }: Cycle, turn: number): Unmet {
  const nothing = new Float64Array(fleet.dimensions.count);
  const shortage = { left: nothing, unitMissing: false };
  return { turn, shortage, deficit: nothing, spread: null, blocker: NONE };
}
