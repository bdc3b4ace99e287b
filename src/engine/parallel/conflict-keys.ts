// Conflict keys of lanes: for each ranked row the numbers of what its result depends on, and for each machine the numbers
// it belongs to. The broker keeps a sequence number for each, and a proposal is a conflict if one of its numbers has
// changed since the lane read it. There is one number per pattern, for the free machines that fit it, and one per cluster,
// for its bound machines. Used by lane.ts and lanes.ts.

import { Credit } from '../assign/credits.ts';
import type { Cycle } from '../cycle.ts';

export class ConflictKeys {
  readonly #cycle: Cycle;
  /** Patterns of the rows of this pass. */
  readonly #patterns: readonly number[];
  readonly #patternCount: number;
  readonly #ofClass = new Map<number, readonly number[]>();

  constructor(cycle: Cycle, order: Uint32Array, patternCount: number) {
    this.#cycle = cycle;
    this.#patternCount = patternCount;
    const patterns = new Set<number>();
    for (const rankedRow of order) patterns.add(cycle.rankedRows.pattern[rankedRow]!);
    this.#patterns = [...patterns];
  }

  /** What a ranked row depends on: rows that are not credited yet also read their cluster's machines. */
  keysReadBy({ credits, rankedRows }: Cycle, rankedRow: number): number[] {
    const pattern = rankedRows.pattern[rankedRow]!;
    return credits.outcome[rankedRow] === Credit.Waits
      ? [pattern, this.#patternCount + rankedRows.cluster[rankedRow]!]
      : [pattern];
  }

  /** A bound machine belongs to its cluster, a free one to every pattern of this pass that it fits. */
  keysOf(slot: number): readonly number[] {
    const { machines, patterns } = this.#cycle.fleet;
    if (machines.cluster[slot] !== 0) return [this.#patternCount + machines.cluster[slot]!];
    const classNumber = machines.classOf[slot]!;
    let keys = this.#ofClass.get(classNumber);
    if (keys === undefined) {
      keys = this.#patterns.filter((pattern) => patterns.patternOf(pattern).fits(classNumber));
      this.#ofClass.set(classNumber, keys);
    }
    return keys;
  }
}
