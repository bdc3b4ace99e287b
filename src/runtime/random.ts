// Pseudo-random numbers from a seed, identical on every machine: sfc32, which uses integer arithmetic only. A stream is
// named by numbers (seed, purpose, cluster, …), so that each cluster can be generated independently of the others. Used
// by backoff, the fake cloud, workloads and simulated worlds.

const WARM_UP_ROUNDS = 12;

/** Random numbers from a seed, the same on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** The stream named by these numbers; equal names give equal streams. */
  constructor(...name: readonly number[]) {
    let hash = 0x9e3779b9 | 0;
    for (const part of name) hash = scramble32((hash ^ part) | 0);
    this.#a = hash;
    this.#b = scramble32(hash ^ 0x7f4a7c15);
    this.#c = scramble32(this.#b ^ name.length);
    for (let i = 0; i < WARM_UP_ROUNDS; i++) this.next32();
  }

  /** A whole number from 0 to 2^32 − 1. */
  next32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A whole number from 0 up to but not including `limit`, at most 2^32. */
  below(limit: number): number {
    return Math.floor((this.next32() / 2 ** 32) * limit);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.next32() < probability * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The index of one of the weights, with a probability proportional to the weight. Weights are whole numbers. */
  weighted(weights: readonly number[]): number {
    let left = this.below(weights.reduce((sum, weight) => sum + weight, 0));
    for (let i = 0; i < weights.length; i++) {
      left -= weights[i]!;
      if (left < 0) return i;
    }
    return weights.length - 1;
  }

  /** `count` distinct whole numbers below `limit`, in random order; all `limit` numbers if `count` is larger. */
  distinct(count: number, limit: number): number[] {
    const chosen = new Set<number>();
    if (count * 2 >= limit) {
      const all = Array.from({ length: limit }, (_, i) => i);
      for (let i = limit - 1; i > 0; i--) {
        const j = this.below(i + 1);
        [all[i], all[j]] = [all[j]!, all[i]!];
      }
      return all.slice(0, count);
    }
    while (chosen.size < count) chosen.add(this.below(limit));
    return [...chosen];
  }
}

/** A bijection on 32-bit integers that spreads every input bit over the output. */
export function scramble32(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}
