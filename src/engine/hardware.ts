// Kinds of hardware that are counted apart: with and without accelerators. Spare cores of GPU hosts are of no use to what
// needs general machines, and the other way round, so that one sum over both says nothing about either.

import type { Fleet } from '../fleet/index.ts';
import { isAccelerator } from '../model/index.ts';

export const HARDWARE = ['general', 'accelerated'] as const;
export type Hardware = (typeof HARDWARE)[number];

/** Place in HARDWARE of a vector in the columns: of what a class of machines offers, or of what a row wants. */
export function hardwareOf({ dimensions }: Fleet, vectors: ArrayLike<number>, from: number): number {
  for (let d = 0; d < dimensions.count; d++)
    if (vectors[from + d]! > 0 && isAccelerator(dimensions.nameOf(d))) return ACCELERATED;
  return GENERAL;
}

const GENERAL = HARDWARE.indexOf('general');
const ACCELERATED = HARDWARE.indexOf('accelerated');
