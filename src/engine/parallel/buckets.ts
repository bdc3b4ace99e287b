// Buckets: what rows read, as numbers. There is one for each pattern, with all free machines that fit it, and one for each
// cluster, with its bound machines. A free machine is in the bucket of each pattern that it fits.

import { Credit } from '../assign/credits.ts';
import type { Cycle } from '../cycle.ts';

export class Buckets {
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

  /** The buckets that a ranked row reads: rows that are not credited yet also read their cluster's machines. */
  readBy({ credits, rankedRows }: Cycle, rankedRow: number): number[] {
    const pattern = rankedRows.pattern[rankedRow]!;
    return credits.outcome[rankedRow] === Credit.Waits
      ? [pattern, this.#patternCount + rankedRows.cluster[rankedRow]!]
      : [pattern];
  }

  /** All buckets that contain a machine. */
  of(slot: number): readonly number[] {
    const { machines, patterns } = this.#cycle.fleet;
    if (machines.cluster[slot] !== 0) return [this.#patternCount + machines.cluster[slot]!];
    const classNumber = machines.classOf[slot]!;
    let buckets = this.#ofClass.get(classNumber);
    if (buckets === undefined) {
      buckets = this.#patterns.filter((pattern) => patterns.patternOf(pattern).fits(classNumber));
      this.#ofClass.set(classNumber, buckets);
    }
    return buckets;
  }
}
