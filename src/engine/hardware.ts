// Kinds of hardware that are counted separately: with and without accelerators. Spare cores of GPU hosts are of no use
// to rows that need general machines, and vice versa, so a sum over both describes neither. Used by served-tally.ts and
// by the shard's figures (telemetry/machine-tally.ts, planning/queries/status.ts).

import type { FleetView } from '../fleet/index.ts';
import { isAccelerator } from '../model/index.ts';

export const HARDWARE = ['general', 'accelerated'] as const;

const GENERAL = HARDWARE.indexOf('general');
const ACCELERATED = HARDWARE.indexOf('accelerated');

/** Dimensions of a fleet that are accelerators. */
export function acceleratorsOf({ dimensions }: FleetView): readonly number[] {
  return dimensions.names.flatMap((name, d) => (isAccelerator(name) ? [d] : []));
}

/** Index in HARDWARE of a vector in the columns: the allocatable resources of a class, or the aggregate of a row. */
export function hardwareOf(
  accelerators: readonly number[],
  vectors: ArrayLike<number>,
  from: number,
): number {
  for (const d of accelerators) if (vectors[from + d]! > 0) return ACCELERATED;
  return GENERAL;
}
