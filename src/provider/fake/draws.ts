// Chance, from one seed. Each draw has a stream of its own, named by what it is for and whom it concerns, so that the
// fate of one machine does not depend on how often somebody asked about another.

import { Random, scramble32 } from '../../model/index.ts';

/** What a stream is for; append only, or the same seed tells another story. */
const PURPOSES = ['operation', 'price', 'rate', 'stock', 'host', 'interruption', 'death', 'call'] as const;
export type Purpose = (typeof PURPOSES)[number];

export class Draws {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  stream(purpose: Purpose, ...name: readonly (string | number)[]): Random {
    const words = name.map((part) => (typeof part === 'string' ? hash32(part) : part));
    return new Random(this.#seed, PURPOSES.indexOf(purpose), ...words);
  }
}

/** From 0 up to but not including 1. */
export function uniform(random: Random): number {
  return random.next32() / 2 ** 32;
}

/** How long until something with a rate of one per unit happens. */
export function exponential(random: Random): number {
  return -Math.log(1 - uniform(random));
}

/** Log-normal: half of the draws are below `median`, and the larger `spread`, the longer the tail. */
export function logNormal(random: Random, median: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - uniform(random))) * Math.cos(2 * Math.PI * uniform(random));
  return median * Math.exp(spread * normal);
}

/** FNV-1a over UTF-16 units, mixed. */
function hash32(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return scramble32(hash);
}
