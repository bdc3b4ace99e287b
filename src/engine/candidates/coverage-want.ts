// The keys of coverage order: what it costs to cover what a row still wants with machines of one class only. Used by
// coverage-list.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { MAX_DIMENSIONS } from '../../fleet/index.ts';
import type { Unfilled } from '../assign/unfilled.ts';

/** The factor of a machine that reduces nothing. */
export const ADDS_NOTHING = -1;

const MICRO_DOLLARS = 1e6;

/**
 * Micro-dollars per hour of `factor` machines: round(10⁶ × cost × factor), +∞ if either is. Rounded, since prices that are
 * linear in the amounts tie by construction, and the last bits of doubles would break such ties at random.
 */
export function coverageScore(cost: number, factor: number): number {
  if (cost === Number.POSITIVE_INFINITY || factor === Number.POSITIVE_INFINITY)
    return Number.POSITIVE_INFINITY;
  return Math.round(MICRO_DOLLARS * cost * factor);
}

/** A limit in dollars, for `exceeds`: what is above it has a score above this one, whatever is rounded. */
export function limitAbove(score: number): number {
  return ((score + 1) / MICRO_DOLLARS) * (1 + 1e-9);
}

/** What a row wants at one step: the dimensions with an amount left, without the others. */
export class CoverageWant {
  readonly #dimensions = new Uint8Array(MAX_DIMENSIONS);
  readonly #amounts = new Float64Array(MAX_DIMENSIONS);
  #count = 0;
  #unitMissing = false;

  read(unfilled: Unfilled): void {
    this.#unitMissing = unfilled.unitMissing;
    this.#count = unfilled.copyLeft(this.#dimensions, this.#amounts);
  }

  /**
   * Whether the score of a machine with the amounts at `from` is certainly above `limit`, without a division. `limit` is in
   * dollars, and above the score in question by more than any rounding.
   */
  exceeds(limit: number, cost: number, offered: Float64Array, from: number): boolean {
    if (cost > limit) return true;
    for (let i = 0; i < this.#count; i++) {
      if (cost * this.#amounts[i]! > limit * offered[from + this.#dimensions[i]!]!) return true;
    }
    return false;
  }

  /**
   * Machines with the amounts at `from` that would cover the want, fractions included: max(1, max of wanted ÷ offered), +∞ if
   * nothing is offered of a wanted dimension, 1 if only the largest piece is missing. ADDS_NOTHING if such a machine offers
   * nothing that is wanted and the largest piece is not missing.
   */
  factorOf(offered: ReadonlyColumn<Float64Array>, from: number): number {
    let factor = 1;
    let adds = this.#unitMissing;
    for (let i = 0; i < this.#count; i++) {
      const amount = offered[from + this.#dimensions[i]!]!;
      if (amount > 0) adds = true;
      const times = this.#amounts[i]! / amount;
      if (times > factor) factor = times;
    }
    return adds ? factor : ADDS_NOTHING;
  }
}
