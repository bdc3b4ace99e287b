// Prices, interruption rates and stock of the fake cloud (cloud.ts) as pure functions of seed, pool, settings and time.
// The market has no state, so a restarted provider computes the same values.

import { CapacityType } from '../../model/index.ts';
import type { CloudPool } from './catalogue.ts';
import { type Draws, type Purpose, uniform } from './draws.ts';
import type { FakeSettings } from './settings.ts';

/** Steps averaged for one value, so that it drifts rather than jumps. */
const SMOOTHED_STEPS = 3;

export interface Quote {
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
}

export class Market {
  readonly #draws: Draws;

  constructor(draws: Draws) {
    this.#draws = draws;
  }

  quote(
    { name, entry }: CloudPool,
    { priceSwing, rateSwing, stepMs }: FakeSettings['market'],
    atMs: number,
  ): Quote {
    const { capacityType, pricePerHour, interruptionProbability } = entry;
    if (capacityType !== CapacityType.Spot) return { pricePerHour, interruptionProbability };
    const price = pricePerHour * (1 + priceSwing * this.#drift('price', name, stepMs, atMs));
    const rate = interruptionProbability * (1 + rateSwing * this.#drift('rate', name, stepMs, atMs));
    return { pricePerHour: rounded(price), interruptionProbability: Math.min(1, rounded(rate)) };
  }

  isOutOfStock({ name }: CloudPool, { outChance, outMs }: FakeSettings['stock'], atMs: number): boolean {
    return this.#draws.stream('stock', name, this.#stepOf('stock', name, outMs, atMs)).chance(outChance);
  }

  /** From −1 to 1. */
  #drift(purpose: Purpose, pool: string, stepMs: number, atMs: number): number {
    const step = this.#stepOf(purpose, pool, stepMs, atMs);
    let sum = 0;
    for (let i = 0; i < SMOOTHED_STEPS; i++) {
      sum += 2 * uniform(this.#draws.stream(purpose, pool, step - i)) - 1;
    }
    return sum / SMOOTHED_STEPS;
  }

  /** Offset per pool and purpose, so that pools do not all move at the same moment. */
  #stepOf(purpose: Purpose, pool: string, stepMs: number, atMs: number): number {
    const offsetMs = this.#draws.stream(purpose, pool).below(stepMs);
    return Math.floor((atMs + offsetMs) / stepMs);
  }
}

/** Rounds to six significant digits. */
function rounded(amount: number): number {
  return Number(amount.toPrecision(6));
}
