// Coverage: how much of what a gang wants a domain has, in whole parts per million, so that two builds never choose
// different racks for a rounding error.

const MILLION = 1_000_000;

/** `floor(1e6 × have ÷ want)` exactly, for whole have and want, want above zero. */
export function partsPerMillion(have: number, want: number): number {
  if (have === want) return MILLION;
  if (have === 0) return 0;
  const estimate = (have / want) * MILLION;
  const floor = Math.floor(estimate);
  // The estimate is off by less than one part in 10^15; only near a whole number can that change the floor.
  const fraction = estimate - floor;
  const margin = Math.max(1e-9, estimate * 1e-15);
  if (fraction > margin && fraction < 1 - margin) return floor;
  return Number((BigInt(have) * BigInt(MILLION)) / BigInt(want));
}

/** A sum of whole numbers that stays exact far beyond 2^53, as two doubles. */
export class ExactSums {
  readonly #high: Float64Array;
  readonly #low: Float64Array;

  constructor(length: number) {
    this.#high = new Float64Array(length);
    this.#low = new Float64Array(length);
  }

  /** Adds `count` times `amount`; both whole, amount below 2^53, count below 2^24. */
  add(at: number, amount: number, count: number): void {
    const high = Math.floor(amount / SPLIT);
    this.#high[at]! += high * count;
    this.#low[at]! += (amount - high * SPLIT) * count;
  }

  /** `floor(1e6 × sum ÷ want)`, uncapped. */
  partsPerMillion(at: number, want: number): bigint {
    const sum = BigInt(this.#high[at]!) * BigInt(SPLIT) + BigInt(this.#low[at]!);
    return (sum * BigInt(MILLION)) / BigInt(want);
  }
}

const SPLIT = 2 ** 28;
