import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstOf } from './first-of.ts';

const byRank = (a: { rank: number }, b: { rank: number }): number => a.rank - b.rank;

describe('firstOf', () => {
  it('given any values, then it returns what a stable sort and a cut return', () => {
    const ranks = fc.array(fc.nat({ max: 9 }), { maxLength: 60 });
    const limits = fc.oneof(fc.nat({ max: 12 }), fc.constant(Number.POSITIVE_INFINITY));
    fc.assert(
      fc.property(ranks, limits, (all, limit) => {
        const values = all.map((rank, place) => ({ rank, place }));
        expect(firstOf(values, limit, byRank)).toEqual({
          first: values.toSorted(byRank).slice(0, limit),
          count: values.length,
        });
      }),
    );
  });

  it('given a small limit, then it needs little more than one comparison per value', () => {
    let compared = 0;
    const compare = (a: number, b: number): number => {
      compared++;
      return a - b;
    };
    const values = Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003);

    expect(firstOf(values, 3, compare).first).toEqual(values.toSorted((a, b) => a - b).slice(0, 3));
    expect(compared).toBeLessThan(1.01 * values.length);
  });
});
