import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, longestBackoffMs } from './backoff.ts';
import { Random } from './random.ts';

const limits = { baseMs: 200, maxMs: 5000 };

describe('backoff', () => {
  it('given consecutive failures, then its upper bound doubles up to the maximum and stays there', () => {
    expect([1, 2, 3, 4, 5, 6, 1000].map((failures) => longestBackoffMs(limits, failures))).toEqual([
      200, 400, 800, 1600, 3200, 5000, 5000,
    ]);
  });

  it('given any limits, then delays are whole milliseconds in the upper half of the bound', () => {
    const limitsOf = fc.record({
      baseMs: fc.integer({ min: 1, max: 1e6 }),
      maxMs: fc.integer({ min: 1, max: 1e8 }),
    });
    fc.assert(
      fc.property(limitsOf, fc.integer({ min: 1, max: 100 }), fc.integer(), (drawn, failures, seed) => {
        const longest = longestBackoffMs(drawn, failures);
        const delay = backoffMs(new Random(seed), drawn, failures);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(longest / 2);
        expect(delay).toBeLessThanOrEqual(longest);
      }),
    );
  });

  it('given callers with different random streams, then their delays spread over the upper half', () => {
    const delays = Array.from({ length: 1000 }, (_, seed) => backoffMs(new Random(seed), limits, 1));
    expect(Math.min(...delays)).toBe(100);
    expect(Math.max(...delays)).toBe(200);
    expect(new Set(delays).size).toBeGreaterThan(95);
  });

  it('given a seed, then it draws exactly one number, so that simulations repeat', () => {
    const [used, reference] = [new Random(7), new Random(7)];
    backoffMs(used, limits, 3);
    reference.next32();
    expect(used.next32()).toBe(reference.next32());
  });
});
