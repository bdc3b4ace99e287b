// Rows that are set aside: their size is unknown, so they keep the machines that serve them and are not part of the
// pass over the free machines. They are unmet in every cycle. This file records that, also for clusters that were not
// served again. Called by solve.ts.

import type { Cycle } from '../cycle.ts';
import type { Unmet } from '../unmet.ts';
import { NONE, RowKind } from './ranked-rows.ts';

/** Merges rows that are set aside into the unmet rows of a cycle, both in rank order. */
export function addSetAside(cycle: Cycle): void {
  const rankedRows = setAsideRows(cycle);
  if (rankedRows.length === 0) return;
  const { unmet } = cycle.result;
  const merged: Unmet[] = [];
  let next = 0;
  for (const rankedRow of rankedRows) {
    while (next < unmet.length && cycle.rankedRows.compare(unmet[next]!.rankedRow, rankedRow) < 0)
      merged.push(unmet[next++]!);
    merged.push(unmetOf(cycle, rankedRow));
  }
  for (; next < unmet.length; next++) merged.push(unmet[next]!);
  cycle.result.replaceUnmet(merged);
}

function setAsideRows({ fleet, rankedRows }: Cycle): number[] {
  const { setAsideIn } = fleet.demand;
  const found: number[] = [];
  for (let cluster = 1; cluster < setAsideIn.length; cluster++) {
    if (setAsideIn[cluster] === 0) continue;
    for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++)
      if (rankedRows.kind[rankedRow] === RowKind.SetAside) found.push(rankedRow);
  }
  return found.sort((a, b) => rankedRows.compare(a, b));
}

function unmetOf({ fleet }: Cycle, rankedRow: number): Unmet {
  const nothing = new Float64Array(fleet.dimensions.count);
  const shortage = { left: nothing, unitMissing: false };
  const nothingShared = { shares: [], spread: null, blocker: NONE, isStopped: false };
  return { rankedRow, shortage, deficit: nothing, ...nothingShared };
}
