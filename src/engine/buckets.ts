// Buckets: what rows look at, as numbers. Every pattern is one, over all machines of the pools that fit it, and every
// cluster, over its bound machines. A machine of the pools is in the bucket of each pattern it fits.

import { Credit, type Cycle } from './cycle.ts';

export class Buckets {
  readonly #cycle: Cycle;
  /** Patterns that rows of this pass have. */
  readonly #patterns: readonly number[];
  readonly #patternCount: number;
  readonly #ofClass = new Map<number, readonly number[]>();

  constructor(cycle: Cycle, order: Uint32Array, patternCount: number) {
    this.#cycle = cycle;
    this.#patternCount = patternCount;
    const patterns = new Set<number>();
    for (const turn of order) patterns.add(cycle.turns.pattern[turn]!);
    this.#patterns = [...patterns];
  }

  /** What a turn looks at: rows that are not credited yet look at their cluster's machines too. */
  readBy({ outcome, turns }: Cycle, turn: number): number[] {
    const pattern = turns.pattern[turn]!;
    return outcome[turn] === Credit.Waits ? [pattern, this.#patternCount + turns.cluster[turn]!] : [pattern];
  }

  /** All buckets a machine is in. */
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
