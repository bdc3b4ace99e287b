import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClockCounts } from './clock-counts.ts';

describe('clocks of machines', () => {
  it('given no clock that runs, then the earliest is +∞', () => {
    const clocks = new ClockCounts();
    expect(clocks.earliestMs).toBe(Number.POSITIVE_INFINITY);
    clocks.change(Number.NaN, 90_000);
    clocks.change(90_000, Number.NaN);
    expect(clocks.earliestMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('given any changes, then the bound is at most a minute below the earliest clock', () => {
    const time = fc.oneof(fc.constant(Number.NaN), fc.nat(1_000_000));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(4), time), { minLength: 1, maxLength: 40 }), (changes) => {
        const clocks = new ClockCounts();
        const current = new Array<number>(5).fill(Number.NaN);
        for (const [machine, ms] of changes) {
          clocks.change(current[machine]!, ms);
          current[machine] = ms;
        }
        const earliest = Math.min(...current.filter((ms) => !Number.isNaN(ms)));
        if (earliest === Number.POSITIVE_INFINITY) expect(clocks.earliestMs).toBe(earliest);
        else {
          expect(clocks.earliestMs).toBeLessThanOrEqual(earliest);
          expect(clocks.earliestMs).toBeGreaterThan(earliest - 60_000);
        }
      }),
    );
  });
});
