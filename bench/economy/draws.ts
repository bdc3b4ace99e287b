// Draws from the distributions of the generators, and the division of a total by weights.

import type { Random } from '../../src/runtime/random.ts';
import type { LogNormal } from './parameters.ts';

/** A number from `least` up to but not including `most`. */
export function uniform(random: Random, least: number, most: number): number {
  return least + (most - least) * (random.next32() / 2 ** 32);
}

/** Standard normal, by the method of Box and Muller. */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.next32() / 2 ** 32));
  return radius * Math.cos(2 * Math.PI * (random.next32() / 2 ** 32));
}

/** `median × e^(sigma × normal)`, cut off at both ends. */
export function logNormal(random: Random, { median, sigma, least, most }: LogNormal): number {
  return Math.min(most, Math.max(least, median * Math.exp(sigma * normal(random))));
}

/** Whole numbers in proportion to the weights, each at least 1, that add up to `total`, by largest remainder. */
export function apportion(total: number, weights: readonly number[]): number[] {
  const rest = total - weights.length;
  if (rest < 0) throw new Error(`${total} cannot be divided among ${weights.length} parts of at least 1`);
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (rest * weight) / sum);
  const parts = exact.map(Math.floor);
  const byRemainder = exact
    .map((value, i) => ({ i, remainder: value - parts[i]! }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  const missing = rest - parts.reduce((a, b) => a + b, 0);
  for (const { i } of byRemainder.slice(0, missing)) parts[i]!++;
  return parts.map((part) => part + 1);
}
