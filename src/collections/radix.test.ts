import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortedBy } from './radix.ts';

const key = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1_700_000_000_000.5),
);

describe('sorting by a key', () => {
  it('given any keys, then the order is that of a stable comparison sort', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 600, size: 'max' }), (keys) => {
        const items = Uint32Array.from(keys.keys()).reverse();

        const sorted = sortedBy(items, (item) => keys[item]!);

        const compared = [...items].sort((a, b) =>
          keys[a] === keys[b] ? 0 : Math.sign(keys[a]! - keys[b]!) || 0,
        );
        expect([...sorted]).toEqual(compared);
      }),
    );
  });

  it('given equal first keys, then the second key decides', () => {
    const items = Uint32Array.from({ length: 600 }, (_, i) => i);

    const many = sortedBy(
      items,
      (item) => -(item % 3),
      (item) => item % 7,
    );
    const few = sortedBy(
      items.subarray(0, 42),
      (item) => -(item % 3),
      (item) => item % 7,
    );

    const compared = [...items].sort((a, b) => (b % 3) - (a % 3) || (a % 7) - (b % 7));
    expect([...many]).toEqual(compared);
    expect([...few]).toEqual(compared.filter((item) => item < 42));
  });

  it.each([
    ['few', fc.constantFrom(-0, 0, 7, Number.NEGATIVE_INFINITY)],
    ['many', fc.integer({ min: -200, max: 200 })],
  ])('given a first key with %s values, then the order is that of a comparison by both', (_, first) => {
    fc.assert(
      fc.property(fc.array(fc.tuple(first, key), { minLength: 250, maxLength: 900 }), (keys) => {
        const items = Uint32Array.from(keys.keys()).reverse();

        const sorted = sortedBy(
          items,
          (item) => keys[item]![0],
          (item) => keys[item]![1],
        );

        const order = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
        const compared = [...items].sort(
          (a, b) => order(keys[a]![0], keys[b]![0]) || order(keys[a]![1], keys[b]![1]),
        );
        expect([...sorted]).toEqual(compared);
      }),
    );
  });

  it('given few items, then the order is that of many', () => {
    const keys = [2, Number.POSITIVE_INFINITY, -0, 0, -5, Number.POSITIVE_INFINITY];
    const many = Array.from({ length: 600 }, (_, i) => keys[i % keys.length]!);

    const few = sortedBy(Uint32Array.from(keys.keys()), (item) => keys[item]!);
    const all = sortedBy(Uint32Array.from(many.keys()), (item) => many[item]!);

    expect([...few]).toEqual([4, 2, 3, 0, 1, 5]);
    expect([...all].filter((item) => item < keys.length)).toEqual([...few]);
  });
});
