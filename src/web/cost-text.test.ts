import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costByState, costPartText, ownedText } from './cost-text.ts';
import { inUnits, perHour } from './figures.ts';

const PARTS = ['serving', 'onHold', 'joining', 'idle', 'draining', 'deleting', 'failed'];

/** A cost from micro-dollars by part. */
function costOf(micros: readonly number[]) {
  const byPart = Object.fromEntries(PARTS.map((part, i) => [part, (micros[i] ?? 0) / 1e6]));
  return { perHour: micros.reduce((sum, part) => sum + part, 0) / 1e6, byPart };
}

/** The figure shown, in cents. */
function shown(text: string): number {
  return Math.round(Number(text.replace(/[$,]|\/h$/g, '')) * 100);
}

describe('texts on cost', () => {
  it('given any cost, then the parts as shown add up to the total as shown', () => {
    const amount = fc.oneof(fc.constant(0), fc.nat(100_000), fc.nat(2_000_000_000));
    fc.assert(
      fc.property(fc.array(amount, { minLength: 7, maxLength: 7 }), (micros) => {
        const cost = costOf(micros);
        const parts = [...costByState(cost).values()].map(shown);
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(shown(perHour(cost.perHour)));
        const [serving = 0, onHold = 0, ...others] = micros;
        expect(parts).toHaveLength([serving + onHold, ...others].filter((part) => part > 0).length);
      }),
      // A total of half a cent, where `toFixed` and `Math.round` differ.
      { examples: [[[0, 0, 1_165_132_103, 1_832_951_009, 6_177, 133_425_711, 0]]] },
    );
  });

  it('given parts that would all be rounded up, then those that lose least are rounded down', () => {
    expect(inUnits(0.03, [0.016, 0.008, 0.006], 0.01)).toEqual([2, 1, 0]);
    expect(inUnits(0.021, [0.007, 0.007, 0.007], 0.01)).toEqual([1, 1, 0]);
    expect(inUnits(0, [], 0.01)).toEqual([]);
  });

  it('given some parts, then only those are named, in the order of a machine’s life', () => {
    const cost = costOf([98_100_000, 0, 0, 12_400_000, 1_000_000]);
    expect(costPartText(cost)).toBe('serving $98.10, idle $12.40, leaving $1.00');
    expect(costPartText(cost, 'part')).toBe('serving $98.10, idle $12.40, draining $1.00');
    expect(costPartText(costOf([]))).toBe('');
  });

  it('given machines on hold, then they are a part of their own, and belong to the state of machines that serve', () => {
    const cost = costOf([5_000_000, 1_250_000]);
    expect(costPartText(cost)).toBe('serving $5.00, on hold $1.25');
    expect(costPartText(cost, 'part')).toBe('serving $5.00, onHold $1.25');
    expect([...costByState(cost)]).toEqual([['CONFIGURED', '$6.25']]);
  });

  it('given no price for owned machines, then the text is empty', () => {
    expect(ownedText(null)).toBe('');
    expect(ownedText(costOf([432_100_000]))).toBe('$432.10/h owned, amortised');
  });
});
