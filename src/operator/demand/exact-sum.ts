// Sums of amounts per resource that stay exact while pods come and go, also beyond 2^53: a sum that had been rounded once
// would be wrong for good, and a row would keep demand after its last pod.

import { formatQuantity, MAX_UNITS, type ResourceVector } from '../../model/index.ts';

/** A sum is `high` × 2^40 + `low`, with `low` below 2^40: both are exact for up to 2^39 summands. */
const RADIX = 2 ** 40;

interface Sum {
  high: number;
  low: number;
}

export class ExactSums {
  readonly #sums = new Map<string, Sum>();

  add(vector: ResourceVector): void {
    for (const [name, units] of vector) this.#change(name, units, 1);
  }

  subtract(vector: ResourceVector): void {
    for (const [name, units] of vector) this.#change(name, units, -1);
  }

  #change(name: string, units: number, sign: 1 | -1): void {
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = { high: 0, low: 0 };
      this.#sums.set(name, sum);
    }
    const low = units % RADIX;
    sum.low += sign * low;
    sum.high += (sign * (units - low)) / RADIX;
    if (sum.low >= RADIX) {
      sum.low -= RADIX;
      sum.high++;
    } else if (sum.low < 0) {
      sum.low += RADIX;
      sum.high--;
    }
    if (sum.high === 0 && sum.low === 0) this.#sums.delete(name);
  }

  /** Resources with a sum other than 0, in no particular order. */
  names(): IterableIterator<string> {
    return this.#sums.keys();
  }

  get size(): number {
    return this.#sums.size;
  }

  /** The sum in units; beyond the exact range of a number, infinity. */
  unitsOf(name: string): number {
    const sum = this.#sums.get(name);
    if (sum === undefined) return 0;
    const units = sum.high * RADIX + sum.low;
    return units <= MAX_UNITS ? units : Number.POSITIVE_INFINITY;
  }

  /** The sum as a quantity text, exact at any size: the shard decides what it does with one that it cannot count. */
  textOf(name: string): string {
    const units = this.unitsOf(name);
    if (Number.isFinite(units)) return formatQuantity(units, name);
    const { high, low } = this.#sums.get(name)!;
    const exact = (BigInt(high) * BigInt(RADIX) + BigInt(low)).toString();
    return name === 'cpu' ? `${exact}m` : exact;
  }
}
