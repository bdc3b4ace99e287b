import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_SCORE_WEIGHTS,
  drainGraceSeconds,
  effectiveCost,
  RECLAIM_GRACE_SECONDS,
  type Victim,
  victimScore,
} from './cost.ts';
import { BUCKET_PINNED, dollarsOfBucket } from './penalty.ts';

const PINNED = dollarsOfBucket(BUCKET_PINNED);
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

describe('effectiveCost', () => {
  // Case 3 of the specification.
  it('given a probability of interruption, then its expected cost is added to the price; given none, then the cost is the price', () => {
    expect(effectiveCost(1.8, 0.1, 5)).toBeCloseTo(2.3, 12);
    expect(effectiveCost(6, 0, 100)).toBe(6);
  });

  // Case 4 of the specification.
  it('given spot 1.80@0.10 and on-demand 6.00@0, then spot is cheaper below a penalty of 42 and dearer above', () => {
    const spot = (penalty: number): number => effectiveCost(1.8, 0.1, penalty);
    const onDemand = (penalty: number): number => effectiveCost(6, 0, penalty);
    expect(spot(5)).toBeLessThan(onDemand(5));
    expect(spot(50)).toBeCloseTo(6.8, 12);
    expect(onDemand(50)).toBe(6);
    expect(spot(42)).toBeCloseTo(onDemand(42), 12);
    expect(spot(41.99)).toBeLessThan(onDemand(41.99));
    expect(spot(42.01)).toBeGreaterThan(onDemand(42.01));
  });

  // Case 5 of the specification.
  it('given a negative penalty, then it counts as zero', () => {
    expect(effectiveCost(2, 0.5, -10)).toBe(2);
    expect(effectiveCost(2, 0.5, Number.NEGATIVE_INFINITY)).toBe(2);
  });

  // 7.6.12, case 6 of the specification.
  it('given a pinned workload, then a machine that is never interrupted costs its price', () => {
    expect(effectiveCost(3, 0, PINNED)).toBe(3);
    expect(effectiveCost(0, 0, PINNED)).toBe(0);
  });

  // Case 6 of the specification.
  it('given a pinned workload, then a machine that can be interrupted costs infinity and sorts last', () => {
    const offers = [
      { id: 'spot-b', cost: effectiveCost(0.1, 0.01, PINNED), price: 0.1 },
      { id: 'spot-a', cost: effectiveCost(0.1, 0.9, PINNED), price: 0.1 },
      { id: 'spot-free', cost: effectiveCost(0, Number.MIN_VALUE, PINNED), price: 0 },
      { id: 'owned', cost: effectiveCost(9, 0, PINNED), price: 9 },
    ];
    // Infinity − Infinity is not a number, so orders over costs compare instead of subtract.
    offers.sort(
      (a, b) =>
        (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : 0) || a.price - b.price || (a.id < b.id ? -1 : 1),
    );
    expect(offers.map((offer) => offer.id)).toEqual(['owned', 'spot-free', 'spot-a', 'spot-b']);
  });

  // Case 7 of the specification.
  it('given tiers 1.0@0.05 and 0.3@0.30, then the second is cheaper at $0, the first at $8, with break-even at $2.8', () => {
    const first = (penalty: number): number => effectiveCost(1, 0.05, penalty);
    const second = (penalty: number): number => effectiveCost(0.3, 0.3, penalty);
    expect(second(0)).toBeLessThan(first(0));
    expect(first(8)).toBeCloseTo(1.4, 12);
    expect(second(8)).toBeCloseTo(2.7, 12);
    expect(first(2.8)).toBeCloseTo(second(2.8), 12);
    expect(second(2.79)).toBeLessThan(first(2.79));
    expect(second(2.81)).toBeGreaterThan(first(2.81));
  });

  it('given any price, probability and penalty, then it is never NaN, never below the price, and monotonic in both others', () => {
    const price = fc.double({ min: 0, max: 1e6, noNaN: true });
    const probability = fc.double({ min: 0, max: 1, noNaN: true });
    const penalty = fc.integer({ min: 0, max: BUCKET_PINNED }).map(dollarsOfBucket);
    fc.assert(
      fc.property(price, probability, probability, penalty, penalty, (dollars, p, q, x, y) => {
        const cost = effectiveCost(dollars, Math.min(p, q), Math.min(x, y));
        expect(cost).toBeGreaterThanOrEqual(dollars);
        expect(effectiveCost(dollars, Math.max(p, q), Math.max(x, y))).toBeGreaterThanOrEqual(cost);
      }),
    );
  });
});

describe('drainGraceSeconds', () => {
  it.each([
    [0, 10],
    [99_999, 10],
    [100_000, 30],
    [100_001, 30],
    [499_999, 30],
    [500_000, 120],
    [500_001, 120],
    [899_999, 120],
    [900_000, 600],
    [900_001, 600],
    [1_000_000, 600],
  ])('given preemptor 1,000,000 and victim %d, then the grace is %d s', (victim, seconds) => {
    expect(drainGraceSeconds(1_000_000, victim)).toBe(seconds);
  });

  // 7.6.13, case 9 of the specification.
  it('given a priority gap beyond 32 bits, then the grace is the shortest', () => {
    expect(drainGraceSeconds(2_000_000_000, -1_000_000_000)).toBe(10);
    expect(drainGraceSeconds(2 ** 31 - 1, -(2 ** 31))).toBe(10);
    expect(drainGraceSeconds(-(2 ** 31), 2 ** 31 - 1)).toBe(600);
  });

  // P10 of the specification.
  it('given any two priorities, then the grace depends on their gap alone and never grows with it', () => {
    const gap = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 1_000_001 }));
    fc.assert(
      fc.property(gap, gap, int32, (a, b, victim) => {
        const [small, large] = a <= b ? [a, b] : [b, a];
        expect(drainGraceSeconds(large, 0)).toBeLessThanOrEqual(drainGraceSeconds(small, 0));
        expect(drainGraceSeconds(victim + a, victim)).toBe(drainGraceSeconds(a, 0));
      }),
    );
  });

  it('given a voluntary reclaim, then the grace is ten minutes', () => {
    expect(RECLAIM_GRACE_SECONDS).toBe(600);
  });
});

describe('victimScore', () => {
  const score = (preemptor: number, victim: Victim): number =>
    victimScore(preemptor, victim, DEFAULT_SCORE_WEIGHTS);
  const victim: Victim = { priority: 100, drainSeconds: 30, interruptionDollars: 8, reclamationDollars: 8 };

  // Case 10 of the specification.
  it('given a lower priority, a shorter drain or a lower penalty, then the score is higher', () => {
    const base = score(1000, victim);
    expect(score(1000, { ...victim, priority: 99 })).toBeGreaterThan(base);
    expect(score(1000, { ...victim, drainSeconds: 29 })).toBeGreaterThan(base);
    expect(score(1000, { ...victim, interruptionDollars: 4 })).toBeGreaterThan(base);
    expect(score(1000, { ...victim, reclamationDollars: 4 })).toBeGreaterThan(base);
  });

  // Case 10 of the specification.
  it('given zero penalties and a zero drain, then the score is finite', () => {
    const free: Victim = { priority: 0, drainSeconds: 0, interruptionDollars: 0, reclamationDollars: 0 };
    expect(score(1_000_000, free)).toBeCloseTo(1_000_020.1, 9);
  });

  // Case 11 of the specification.
  it('given a victim with zero penalties, then it outscores a penalized one of up to twenty points less priority', () => {
    const cheap: Victim = { priority: 115, drainSeconds: 30, interruptionDollars: 0, reclamationDollars: 0 };
    const dear: Victim = {
      priority: 100,
      drainSeconds: 30,
      interruptionDollars: 1000,
      reclamationDollars: 1000,
    };
    expect(score(1000, cheap)).toBeCloseTo(905.003333, 5);
    expect(score(1000, dear)).toBeCloseTo(900.003533, 5);
    expect(score(1000, { ...cheap, priority: 121 })).toBeLessThan(score(1000, dear));
  });

  it('given pinned penalties, then they add nothing to the score', () => {
    const pinned: Victim = { ...victim, interruptionDollars: PINNED, reclamationDollars: PINNED };
    expect(score(1000, pinned)).toBe(900 + 0.1 / 30);
  });

  it('given a victim of higher priority than the preemptor, then the gap counts as zero; given int32 extremes, then it does not overflow', () => {
    expect(score(0, { ...victim, priority: 500 })).toBe(score(0, { ...victim, priority: 0 }));
    expect(score(2 ** 31 - 1, { ...victim, priority: -(2 ** 31) })).toBeGreaterThan(2 ** 32 - 2);
  });

  it('given weights, then each term is multiplied by its own', () => {
    const none = { priority: 0, drainSpeed: 0, interruption: 0, reclamation: 0 };
    const uneven: Victim = { priority: 7, drainSeconds: 4, interruptionDollars: 2, reclamationDollars: 0.5 };
    expect(victimScore(10, uneven, { ...none, priority: 2 })).toBe(6);
    expect(victimScore(10, uneven, { ...none, drainSpeed: 2 })).toBe(0.5);
    expect(victimScore(10, uneven, { ...none, interruption: 2 })).toBe(1);
    expect(victimScore(10, uneven, { ...none, reclamation: 2 })).toBe(4);
    expect(victimScore(10, uneven, none)).toBe(0);
  });

  it('has default weights of 1, 0.1, 0.1 and 0.1, and a default drain of 30 s', () => {
    expect(DEFAULT_SCORE_WEIGHTS).toEqual({
      priority: 1,
      drainSpeed: 0.1,
      interruption: 0.1,
      reclamation: 0.1,
    });
    expect(DEFAULT_DRAIN_SECONDS).toBe(30);
  });

  it('given any valid victim, then the score is finite and at least the priority gap', () => {
    const dollars = fc.integer({ min: 0, max: BUCKET_PINNED }).map(dollarsOfBucket);
    const seconds = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(int32, int32, seconds, dollars, dollars, (preemptor, priority, drainSeconds, i, r) => {
        const found = score(preemptor, {
          priority,
          drainSeconds,
          interruptionDollars: i,
          reclamationDollars: r,
        });
        expect(Number.isFinite(found)).toBe(true);
        expect(found).toBeGreaterThanOrEqual(Math.max(0, preemptor - priority));
      }),
    );
  });
});
