import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BUCKET_HALF_DOLLAR,
  BUCKET_LARGEST,
  BUCKET_ONE_DOLLAR,
  BUCKET_PINNED,
  BUCKET_UNSPECIFIED,
  BUCKET_ZERO,
  bucketOfDollars,
  dollarsOfBucket,
  isPenaltyBucket,
} from './penalty.ts';

/** The wire's name of a bucket by its dollars, PENALTY_BUCKET_<dollars>. */
function wire(dollars: number): number {
  return 3 + Math.round(Math.log2(dollars));
}

describe('penalty buckets', () => {
  it.each([
    [0, BUCKET_ZERO],
    [0.25, BUCKET_HALF_DOLLAR],
    [0.5, BUCKET_HALF_DOLLAR],
    [0.51, BUCKET_ONE_DOLLAR],
    [1, BUCKET_ONE_DOLLAR],
    [1.01, wire(2)],
    [8000, wire(8192)],
    [1_048_576, wire(1_048_576)],
    [20_000_000, BUCKET_PINNED],
    [-3, BUCKET_ZERO],
    [8_388_608, BUCKET_LARGEST],
    [8_388_608.01, BUCKET_PINNED],
    [-0, BUCKET_ZERO],
    [Number.MIN_VALUE, BUCKET_HALF_DOLLAR],
    [0.5 + Number.EPSILON, BUCKET_ONE_DOLLAR],
    [Number.POSITIVE_INFINITY, BUCKET_PINNED],
    [Number.NEGATIVE_INFINITY, BUCKET_ZERO],
  ])('given $%d, then it is in bucket %d', (dollars, bucket) => {
    expect(bucketOfDollars(dollars)).toBe(bucket);
  });

  it.each([
    [BUCKET_UNSPECIFIED, 0],
    [BUCKET_ZERO, 0],
    [BUCKET_HALF_DOLLAR, 0.5],
    [3, 1],
    [4, 2],
    [6, 8],
    [16, 8192],
    [23, 1_048_576],
    [26, 8_388_608],
    [27, Number.POSITIVE_INFINITY],
  ])('given bucket %d, then its upper bound is $%d', (bucket, dollars) => {
    expect(dollarsOfBucket(bucket)).toBe(dollars);
  });

  it('has the numbers of the wire', () => {
    expect([BUCKET_UNSPECIFIED, BUCKET_ZERO, BUCKET_HALF_DOLLAR, BUCKET_ONE_DOLLAR]).toEqual([0, 1, 2, 3]);
    expect([BUCKET_LARGEST, BUCKET_PINNED]).toEqual([26, 27]);
    const bounds = Array.from({ length: 24 }, (_, i) => dollarsOfBucket(3 + i));
    expect(bounds).toEqual(Array.from({ length: 24 }, (_, i) => 2 ** i));
  });

  it('given the next double above a power of two, then it is in the next bucket', () => {
    for (let bucket = BUCKET_ONE_DOLLAR; bucket <= BUCKET_LARGEST; bucket++) {
      const bound = dollarsOfBucket(bucket);
      expect(bucketOfDollars(bound * (1 + Number.EPSILON))).toBe(bucket + 1);
      expect(bucketOfDollars(bound * (1 - Number.EPSILON / 2))).toBe(bucket);
    }
  });

  it('given NaN, then it is refused', () => {
    expect(() => bucketOfDollars(Number.NaN)).toThrow('BF_PENALTY_NOT_A_NUMBER');
  });

  it('accepts the 28 ordinals and nothing else', () => {
    for (let n = 0; n <= 27; n++) expect(isPenaltyBucket(n)).toBe(true);
    for (const n of [-1, 28, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expect(isPenaltyBucket(n)).toBe(false);
  });
});

describe('penalty buckets for any amount', () => {
  const dollars = fc.oneof(
    fc.double({ noNaN: true }),
    fc.double({ min: 0, max: 2 ** 23, noNaN: true }),
    fc.tuple(fc.integer({ min: -3, max: 25 }), fc.constantFrom(-1, 0, 1)).map(([k, step]) => {
      return 2 ** k * (1 + step * Number.EPSILON);
    }),
  );

  // P14 of the specification.
  it('given rising dollars, then the bucket never falls', () => {
    fc.assert(
      fc.property(dollars, dollars, (a, b) => {
        const [low, high] = a <= b ? [a, b] : [b, a];
        expect(bucketOfDollars(low)).toBeLessThanOrEqual(bucketOfDollars(high));
      }),
      { numRuns: 500 },
    );
  });

  // P14 of the specification.
  it('given dollars, then the upper bound of their bucket is at least that, and less than twice that above $0.50', () => {
    fc.assert(
      fc.property(dollars, (x) => {
        const bucket = bucketOfDollars(x);
        const bound = dollarsOfBucket(bucket);
        if (x > 0) expect(bound).toBeGreaterThanOrEqual(x);
        if (x > 0.5 && bucket !== BUCKET_PINNED) expect(bound).toBeLessThan(2 * x);
      }),
      { numRuns: 500 },
    );
  });

  // P14 of the specification.
  it('given the upper bound of a bucket, then it is in that bucket, except for unspecified', () => {
    for (let bucket = BUCKET_ZERO; bucket <= BUCKET_PINNED; bucket++) {
      expect(bucketOfDollars(dollarsOfBucket(bucket))).toBe(bucket);
    }
    expect(bucketOfDollars(dollarsOfBucket(BUCKET_UNSPECIFIED))).toBe(BUCKET_ZERO);
  });
});
