import { describe, expect, it } from 'vitest';
import { aNeed, anInput, resources } from '../../../testing/support/fleets.ts';
import { type Fleet, fleetOf } from '../../fleet/index.ts';
import { Unfilled } from '../assign/unfilled.ts';
import { ADDS_NOTHING, CoverageWant, coverageScore } from './coverage-want.ts';

describe('coverageScore', () => {
  it.each([
    ['the price of one machine that covers all', 0.25, 1, 250_000],
    ['a fraction of a machine more', 0.1, 2.5, 250_000],
    ['a half, which is rounded up', 0.000_000_5, 1, 1],
    ['linear prices, whose last bits differ', 0.3, 64 / 6, coverageScore(0.1, 64 / 2)],
    ['a machine that costs nothing', 0, 32, 0],
    ['a machine that a pinned row cannot use', Number.POSITIVE_INFINITY, 1, Number.POSITIVE_INFINITY],
    ['a machine that can never cover all', 1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    ['one that costs nothing and never covers', 0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('given %s, then it is in whole micro-dollars', (_, cost, factor, score) => {
    expect(coverageScore(cost, factor)).toBe(score);
  });

  it('given equal prices per cpu, then unrounded products would not tie', () => {
    expect(0.3 * (64 / 6)).not.toBe(0.1 * (64 / 2));
  });
});

describe('CoverageWant', () => {
  /** The factor of a machine for a row; `taken`: the sum is covered, and only the largest piece is missing. */
  function factorOf(
    aggregate: Readonly<Record<string, number>>,
    offer: Readonly<Record<string, number>>,
    given: { minUnit?: Readonly<Record<string, number>>; taken?: boolean } = {},
  ): number {
    const minUnit = resources(given.minUnit ?? {});
    const fleet: Fleet = fleetOf(anInput([], [aNeed({ aggregate: resources(aggregate), minUnit })]));
    const unfilled = new Unfilled(fleet);
    unfilled.beginRow(0, minUnit.size > 0);
    const amounts = ['cpu', 'memory'].map((name) => [fleet.dimensions.dimensionOf(name), offer[name] ?? 0]);
    const vector = new Float64Array(16);
    for (const [d, amount] of amounts) vector[d!] = amount!;
    if (given.taken === true) unfilled.borrow(new Float64Array(16).fill(1000));
    const want = new CoverageWant();
    want.read(unfilled);
    return want.factorOf(vector, 0);
  }

  it.each([
    ['wanted ÷ offered', { cpu: 64 }, { cpu: 32 }, 2],
    ['a fraction', { cpu: 10 }, { cpu: 4 }, 2.5],
    ['the largest of the wanted dimensions', { cpu: 8, memory: 12 }, { cpu: 4, memory: 3 }, 4],
    ['1 for a machine that is larger than what is left', { cpu: 1 }, { cpu: 32 }, 1],
    ['+∞ where a wanted dimension is missing', { cpu: 8, memory: 1 }, { cpu: 8 }, Number.POSITIVE_INFINITY],
    ['nothing for a machine that adds nothing', { cpu: 8 }, { memory: 8 }, ADDS_NOTHING],
  ])('given a row and a machine, then the factor is %s', (_, aggregate, offer, factor) => {
    expect(factorOf(aggregate, offer)).toBe(factor);
  });

  it('given a row whose largest piece is missing, then a machine without a wanted dimension adds all the same', () => {
    expect(factorOf({ memory: 8 }, { cpu: 8 }, { minUnit: { cpu: 4 } })).toBe(Number.POSITIVE_INFINITY);
  });

  it('given a row without any amount left, then no machine adds', () => {
    expect(factorOf({ cpu: 8 }, { cpu: 8 }, { taken: true })).toBe(ADDS_NOTHING);
  });
});
