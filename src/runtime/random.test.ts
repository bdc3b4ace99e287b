import { describe, expect, it } from 'vitest';
import { Random, scramble32 } from './random.ts';

const draw = (random: Random, count: number) => Array.from({ length: count }, () => random.next32());

describe('Random', () => {
  it('given the same name, then the numbers are the same on every machine', () => {
    expect(draw(new Random(1, 2, 3), 4)).toEqual(draw(new Random(1, 2, 3), 4));
    expect(draw(new Random(1), 3)).toEqual([1424789087, 4264732227, 3958799987]);
  });

  it('given another name, then the numbers are different', () => {
    const first = [[1], [2], [1, 0], [0, 1], [1, 1]].map((name) => new Random(...name).next32());
    expect(new Set(first).size).toBe(first.length);
  });

  it('given a range, then it draws every number from it and no other', () => {
    const random = new Random(7);
    const seen = new Set(Array.from({ length: 1000 }, () => random.between(3, 6)));
    expect(seen).toEqual(new Set([3, 4, 5, 6]));
  });

  it('given weights, then numbers are drawn in proportion to them', () => {
    const random = new Random(7);
    const counts = [0, 0, 0];
    for (let i = 0; i < 10_000; i++) counts[random.weighted([1, 0, 3])]!++;
    expect(counts[1]).toBe(0);
    expect(counts[2]! / 10_000).toBeCloseTo(0.75, 1);
  });

  it.each([
    [3, 1000],
    [900, 1000],
    [1000, 1000],
  ])('given %i numbers to draw below %i, then they are distinct', (count, limit) => {
    const drawn = new Random(7).distinct(count, limit);
    expect(new Set(drawn).size).toBe(count);
    expect(drawn.every((n) => Number.isInteger(n) && n >= 0 && n < limit)).toBe(true);
  });
});

describe('scramble32', () => {
  it('given distinct numbers, then their images are distinct', () => {
    const images = new Set(Array.from({ length: 100_000 }, (_, i) => scramble32(i)));
    expect(images.size).toBe(100_000);
  });
});
