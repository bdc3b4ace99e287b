import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../testing/support/fake-provider.ts';
import { CapacityType } from '../../model/index.ts';
import { Random } from '../../runtime/random.ts';
import { DEFAULT_CATALOGUE, itemsOf, poolsOf } from './catalogue.ts';
import { Draws, exponential, logNormal } from './draws.ts';
import { Hazard } from './hazard.ts';
import { Market } from './market.ts';

const pools = poolsOf(DEFAULT_CATALOGUE);
const spot = pools.find(({ entry }) => entry.capacityType === CapacityType.Spot)!;
const swings = { priceSwing: 0.4, rateSwing: 0.6, stepMs: 10 * MINUTE_MS, refreshMs: MINUTE_MS };

describe('the market of the fake cloud', () => {
  it('given any time, then prices and rates are within their swing and equal for equal seeds', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 0, max: 2 ** 42 }),
        fc.constantFrom(...pools),
        (seed, atMs, pool) => {
          const quote = new Market(new Draws(seed)).quote(pool, swings, atMs);
          const { pricePerHour, interruptionProbability, capacityType } = pool.entry;
          expect(new Market(new Draws(seed)).quote(pool, swings, atMs)).toEqual(quote);
          if (capacityType !== CapacityType.Spot) {
            expect(quote).toEqual({ pricePerHour, interruptionProbability });
            return;
          }
          expect(Math.abs(quote.pricePerHour / pricePerHour - 1)).toBeLessThanOrEqual(0.401);
          expect(Math.abs(quote.interruptionProbability / interruptionProbability - 1)).toBeLessThanOrEqual(
            0.601,
          );
          expect(quote.interruptionProbability).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('given a day, then a spot price changes at every step, up and down', () => {
    const market = new Market(new Draws(1));
    const prices = Array.from(
      { length: 145 },
      (_, i) => market.quote(spot, swings, i * 10 * MINUTE_MS).pricePerHour,
    );
    expect(new Set(prices).size).toBeGreaterThan(140);
    expect(Math.max(...prices)).toBeGreaterThan(spot.entry.pricePerHour * 1.15);
    expect(Math.min(...prices)).toBeLessThan(spot.entry.pricePerHour * 0.85);
  });

  it('given a stock-out probability, then pools are out of stock at that rate, for whole periods', () => {
    const market = new Market(new Draws(3));
    const stock = { outChance: 0.2, outMs: HOUR_MS };
    const moments = Array.from({ length: 2000 }, (_, i) => market.isOutOfStock(spot, stock, i * HOUR_MS));
    expect(moments.filter(Boolean).length / 2000).toBeCloseTo(0.2, 1);
    const minutes = Array.from({ length: 600 }, (_, i) => market.isOutOfStock(spot, stock, i * MINUTE_MS));
    const changes = minutes.filter((isOut, i) => i > 0 && isOut !== minutes[i - 1]).length;
    expect(changes).toBeLessThanOrEqual(10);
  });
});

describe('the catalogue of the fake cloud', () => {
  it('given more machines, then the first ones are unchanged', () => {
    fc.assert(
      fc.property(fc.nat({ max: 300 }), fc.nat({ max: 300 }), (few, more) => {
        const all = itemsOf(pools, few + more, 'x');
        expect(itemsOf(pools, few, 'x')).toEqual(all.slice(0, few));
        expect(new Set(all.map(({ id }) => id)).size).toBe(few + more);
      }),
    );
  });

  it('given 32 machines, then every offering has one', () => {
    expect(new Set(itemsOf(pools, 32, 'x').map(({ pool }) => pool.name)).size).toBe(pools.length);
  });
});

describe('random draws of the fake cloud', () => {
  it('given a latency, then half of the draws are below its median and the tail is long', () => {
    const random = new Random(5);
    const draws = Array.from({ length: 4000 }, () => logNormal(random, 100, 0.5)).sort((a, b) => a - b);
    expect(draws[2000]).toBeGreaterThan(95);
    expect(draws[2000]).toBeLessThan(105);
    expect(draws[3960]! / draws[2000]!).toBeGreaterThan(2.5);
    expect(logNormal(random, 100, 0)).toBe(100);
  });

  it('given an hourly rate that changes, then hosts are lost at that rate', () => {
    const random = new Random(9);
    const hazard = new Hazard<number>();
    for (let i = 0; i < 10_000; i++) hazard.add(i, exponential(random));
    const first = Array.from({ length: 60 }, () => hazard.pass(1 / 60, 0.1)).flat();
    expect(first.length / 10_000).toBeCloseTo(0.1, 1);
    expect(first.length).toBeGreaterThan(880);
    expect(first.length).toBeLessThan(1120);
    const second = hazard.pass(1, 0.5);
    expect(second.length / (10_000 - first.length)).toBeCloseTo(0.5, 1);
    expect(hazard.pass(100, 0)).toEqual([]);
    expect(hazard.pass(1, 1).length + first.length + second.length).toBeGreaterThan(9990);
  });

  it('given hosts that were removed elsewhere, when purged, then the others keep their thresholds', () => {
    const [all, some] = [new Hazard<number>(), new Hazard<number>()];
    const random = new Random(4);
    for (let i = 0; i < 200; i++) {
      const threshold = exponential(random);
      all.add(i, threshold);
      some.add(i, threshold);
    }
    all.pass(1, 0.1);
    some.pass(1, 0.1);
    some.keep((host) => host % 2 === 0);
    expect(some.size).toBeLessThan(all.size * 0.6);
    expect(some.pass(1, 0.5)).toEqual(all.pass(1, 0.5).filter((host) => host % 2 === 0));
  });
});
