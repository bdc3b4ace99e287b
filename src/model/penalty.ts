// Penalty buckets. A workload says in dollars what an interruption, or the loss of its machine, costs; the
// wire carries that as one of 28 ordinals: powers of two from $1 to $8,388,608, two small ones, and "pinned".

import { BigFleetError } from './errors.ts';

/** 0 unspecified, 1 zero, 2 half a dollar, 3 = $1, 4 = $2 … 26 = $8,388,608, 27 pinned. */
export type PenaltyBucket = number;

/** The bucket of work that states no penalty; it counts as 0 dollars. */
export const BUCKET_UNSPECIFIED = 0;
/** The bucket of work whose interruption costs nothing. */
export const BUCKET_ZERO = 1;
export const BUCKET_HALF_DOLLAR = 2;
export const BUCKET_ONE_DOLLAR = 3;
export const BUCKET_LARGEST = 26;
/** The bucket of work that must not be interrupted at any price. */
export const BUCKET_PINNED = 27;

export function isPenaltyBucket(n: number): boolean {
  return Number.isInteger(n) && n >= BUCKET_UNSPECIFIED && n <= BUCKET_PINNED;
}

/** The smallest bucket whose upper bound is at least `dollars`. */
export function bucketOfDollars(dollars: number): PenaltyBucket {
  if (Number.isNaN(dollars)) {
    throw new BigFleetError('BF_PENALTY_NOT_A_NUMBER', 'The penalty is not a number.');
  }
  if (dollars <= 0) return BUCKET_ZERO;
  if (dollars <= 0.5) return BUCKET_HALF_DOLLAR;
  // A loop, not a logarithm: log2 of 2^k + 1 ulp may round to k.
  let bucket = BUCKET_ONE_DOLLAR;
  for (let bound = 1; bound < dollars; bound *= 2) {
    bucket++;
    if (bucket > BUCKET_LARGEST) return BUCKET_PINNED;
  }
  return bucket;
}

/** The upper bound of a bucket: over-estimating a penalty is the safe side. */
export function dollarsOfBucket(bucket: PenaltyBucket): number {
  if (bucket <= BUCKET_ZERO) return 0;
  if (bucket === BUCKET_HALF_DOLLAR) return 0.5;
  return bucket === BUCKET_PINNED ? Number.POSITIVE_INFINITY : 2 ** (bucket - BUCKET_ONE_DOLLAR);
}
