// Kinds of hardware that are counted apart: with and without accelerators. Spare cores of GPU hosts are of no use to what
// needs general machines, and the other way round, so that one sum over both says nothing about either.

import type { Fleet } from '../fleet/index.ts';
import { isAccelerator } from '../model/index.ts';

export const HARDWARE = ['general', 'accelerated'] as const;
export type Hardware = (typeof HARDWARE)[number];

const GENERAL = HARDWARE.indexOf('general');
const ACCELERATED = HARDWARE.indexOf('accelerated');

/** Dimensions of a fleet that are accelerators. */
export function acceleratorsOf({ dimensions }: Fleet): readonly number[] {
  return dimensions.names.flatMap((name, d) => (isAccelerator(name) ? [d] : []));
}

/** Place in HARDWARE of a vector in the columns: of what a class of machines offers, or of what a row wants. */
export function hardwareOf(
  accelerators: readonly number[],
  vectors: ArrayLike<number>,
  from: number,
): number {
  for (const d of accelerators) if (vectors[from + d]! > 0) return ACCELERATED;
  return GENERAL;
}
