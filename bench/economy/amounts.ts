// Amounts of the three resources that `bench economy` generates: plain tuples for the packer, the scheduler model and the
// lower bound, which compare millions of them; the engine gets them as resource vectors.

import type { ResourceVector } from '../../src/model/index.ts';

/** Thousandths of a core, MiB of memory, whole GPUs. */
export type Amounts = readonly [cpu: number, memory: number, gpus: number];

export const DIMENSIONS = ['cpu', 'memory', 'nvidia.com/gpu'] as const;

export const NOTHING: Amounts = [0, 0, 0];

const BYTES_PER_MIB = 2 ** 20;

export function amountsOf(cores: number, gib: number, gpus: number): Amounts {
  return [Math.round(cores * 1000), Math.round(gib * 1024), gpus];
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

export function minus(a: Amounts, b: Amounts): Amounts {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

/** Per dimension maximum. */
export function largest(a: Amounts, b: Amounts): Amounts {
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.max(a[2], b[2])];
}

export function fits(want: Amounts, room: Amounts): boolean {
  return want[0] <= room[0] && want[1] <= room[1] && want[2] <= room[2];
}

export function sumOf(list: readonly Amounts[]): Amounts {
  return list.reduce(plus, NOTHING);
}

export function vectorOf([cpu, memory, gpus]: Amounts): ResourceVector {
  const vector = new Map<string, number>();
  if (cpu > 0) vector.set(DIMENSIONS[0], cpu);
  if (memory > 0) vector.set(DIMENSIONS[1], memory * BYTES_PER_MIB);
  if (gpus > 0) vector.set(DIMENSIONS[2], gpus);
  return vector;
}
