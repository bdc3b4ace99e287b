import { describe, expect, it } from 'vitest';
import { indexAt } from './plot.ts';

describe('the legend of a plot', () => {
  it('given a gap, then each point after it has its own value, and one in the gap that of the point before', () => {
    const timesMs = [0, 10_000, 90_000, 100_000];
    const drawn = [0, 1, 2, 3, 4];
    expect(drawn.map((at) => indexAt(at, timesMs, 30_000))).toEqual([0, 1, 1, 2, 3]);
  });

  it('given no pointer, or a point that has gone, then it has the last value', () => {
    expect([null, 7].map((at) => indexAt(at, [0, 10_000], 30_000))).toEqual([1, 1]);
  });
});
