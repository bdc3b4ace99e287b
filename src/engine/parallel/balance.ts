// How many lanes pay off. Rows that can use the same classes of machines depend on each other; patterns that share a
// class, directly or through others, form a component. Lanes on one component lose most of their solves to conflicts.
// And a row is worth a lane only if solving it costs much more than adopting it at the barrier, which holds for gangs
// alone. Used by lanes.ts.

import { NONE, RowKind } from '../assign/ranked-rows.ts';
import type { Cycle } from '../cycle.ts';

/** Fewer gangs than this are solved before other threads are awake. */
const SMALLEST_WORK = 256;
/**
 * Several lanes do not pay off above this share of the work in one component, or above this number of conflicts per commit.
 */
const LARGEST_SHARE = 0.6;
export const MOST_CONFLICTS = 0.15;

/** Lanes for `rows` rows that need free machines, at most `ceiling`. */
export function lanesThatPay(cycle: Cycle, rows: number, ceiling: number): number {
  if (ceiling === 1 || rows < SMALLEST_WORK) return 1;
  const work = workOf(cycle);
  let total = 0;
  let largest = 0;
  for (const gangs of work.values()) {
    total += gangs;
    largest = Math.max(largest, gangs);
  }
  if (total < SMALLEST_WORK) return 1;
  // A component is no smaller than its largest pattern, which is known without reading any class.
  if (largest / total > LARGEST_SHARE) return 1;
  const share = largestComponent(cycle, work) / total;
  return share > LARGEST_SHARE ? 1 : Math.min(ceiling, Math.floor(1 / share));
}

/** Patterns of the rows that need free machines, with the number of gangs of each. Reads rows in memory order. */
function workOf({ credits, fleet, rankedRows }: Cycle): ReadonlyMap<number, number> {
  const gangs = new Int32Array(fleet.patterns.size).fill(NONE);
  for (const cluster of fleet.clusters.sorted()) {
    for (let i = rankedRows.start[cluster]!; i < credits.pendingEnd[cluster]!; i++) {
      const rankedRow = credits.pending[i]!;
      const pattern = rankedRows.pattern[rankedRow]!;
      if (gangs[pattern] === NONE) gangs[pattern] = 0;
      if (rankedRows.kind[rankedRow] === RowKind.Gang) gangs[pattern]!++;
    }
  }
  return new Map([...gangs.entries()].filter(([, count]) => count !== NONE));
}

/** The work of the component with the most work. Patterns without work also connect components. */
function largestComponent({ fleet }: Cycle, work: ReadonlyMap<number, number>): number {
  const { patterns, classes } = fleet;
  const parents = new Map<number, number>();
  const rootOf = (pattern: number): number => {
    let root = pattern;
    while (parents.get(root) !== root) root = parents.get(root)!;
    parents.set(pattern, root);
    return root;
  };
  const firstOf = new Int32Array(classes.size).fill(NONE);
  for (const pattern of work.keys()) {
    parents.set(pattern, pattern);
    for (const c of patterns.patternOf(pattern).fittingClasses()) {
      if (firstOf[c] === NONE) firstOf[c] = pattern;
      else parents.set(rootOf(pattern), rootOf(firstOf[c]!));
    }
  }
  const sums = new Map<number, number>();
  for (const [pattern, gangs] of work) {
    const root = rootOf(pattern);
    sums.set(root, (sums.get(root) ?? 0) + gangs);
  }
  return Math.max(...sums.values());
}
