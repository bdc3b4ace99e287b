// Random streams of the fake cloud and its transport, derived from one seed. Each stream is named by its purpose and
// subject, so that the draws of one machine do not depend on how many draws were made for another.

import { Random, scramble32 } from '../../runtime/random.ts';

/** Append only: the index is part of the stream's seed, so reordering changes every run of an existing seed. */
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

/** Exponentially distributed with mean 1. */
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
