// How many lanes pay. Rows that can use the same classes of machines depend on each other; patterns that share a class,
// directly or through others, form a component. Lanes on one component solve most rows in vain. And a row is worth a
// lane only if solving it costs much more than taking it over at the barrier, which is so for gangs alone.

import type { Cycle } from './cycle.ts';
import { NONE, TurnKind } from './turns.ts';

/** Fewer gangs than this are solved before other threads are awake. */
const SMALLEST_WORK = 256;
/** Above so large a share of the work in one component, or so many conflicts for a commit, lanes are in each other's way. */
const LARGEST_SHARE = 0.6;
export const MOST_CONFLICTS = 0.15;

/** Lanes for rows in rank order, at most `ceiling`. */
export function lanesThatPay(cycle: Cycle, order: Uint32Array, ceiling: number): number {
  if (ceiling === 1 || order.length < SMALLEST_WORK) return 1;
  const work = new Map<number, number>();
  let total = 0;
  for (const turn of order) {
    if (cycle.turns.kind[turn] !== TurnKind.Gang) continue;
    const pattern = cycle.turns.pattern[turn]!;
    work.set(pattern, (work.get(pattern) ?? 0) + 1);
    total++;
  }
  if (total < SMALLEST_WORK) return 1;
  // A component is no smaller than its largest pattern, which is known without looking at any class.
  if (Math.max(...work.values()) / total > LARGEST_SHARE) return 1;
  const share = largestComponent(cycle, order, work) / total;
  return share > LARGEST_SHARE ? 1 : Math.min(ceiling, Math.floor(1 / share));
}

/** The work of the component that has most of it. Rows without work join components all the same. */
function largestComponent(cycle: Cycle, order: Uint32Array, work: ReadonlyMap<number, number>): number {
  const { patterns, classes } = cycle.fleet;
  const parents = new Map<number, number>();
  const rootOf = (pattern: number): number => {
    let root = pattern;
    while (parents.get(root) !== root) root = parents.get(root)!;
    parents.set(pattern, root);
    return root;
  };
  const firstOf = new Int32Array(classes.size).fill(NONE);
  for (const turn of order) {
    const pattern = cycle.turns.pattern[turn]!;
    if (parents.has(pattern)) continue;
    parents.set(pattern, pattern);
    for (const c of patterns.patternOf(pattern).fittingClasses()) {
      if (firstOf[c] === NONE) firstOf[c] = pattern;
      else parents.set(rootOf(pattern), rootOf(firstOf[c]!));
    }
  }
  const sums = new Map<number, number>();
  for (const [pattern, rows] of work) {
    const root = rootOf(pattern);
    sums.set(root, (sums.get(root) ?? 0) + rows);
  }
  return Math.max(...sums.values());
}
