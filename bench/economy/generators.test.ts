import { describe, expect, it } from 'vitest';
import { profileNames } from '../profiles/load.ts';
import { fits, largest } from './amounts.ts';
import { generateCatalogue, withoutSmallShapes } from './catalogue.ts';
import { generateDemand, podsIn } from './demand.ts';
import { apportion } from './draws.ts';
import { loadParameters } from './parameters.ts';
import { needsOf } from './rows.ts';
import { generateScenario } from './scenario.ts';

const parameters = loadParameters();
const SEEDS = [1, 2, 3, 4, 5];

describe('the economy profile', () => {
  it('given the ladder, then it is not one of its rungs', () => {
    expect(profileNames()).not.toContain('economy');
  });

  it.each(SEEDS)('given seed %i, then 35 clusters have 12,900 pods in 10 to 60 rows each', (seed) => {
    const demand = generateDemand(parameters, seed);
    const rows = demand.map(({ groups }) => groups.length);
    expect(demand).toHaveLength(35);
    expect(demand.reduce((sum, cluster) => sum + podsIn(cluster), 0)).toBe(12_900);
    expect([rows[0], rows.at(-1)]).toEqual([10, 60]);
    expect(rows).toEqual(rows.toSorted((a, b) => a - b));
    for (const { groups } of demand) {
      expect(new Set(groups.map(({ profile }) => profile.fingerprint)).size).toBe(groups.length);
      expect(groups.every(({ pods }) => pods.length > 0)).toBe(true);
    }
  });

  it.each(SEEDS)(
    'given seed %i, then there are 234 different offerings, 126 of them of 16 cores and more',
    (seed) => {
      const catalogue = generateCatalogue(parameters, seed);
      const names = catalogue.map((each) => `${each.instanceType} ${each.zone} ${each.capacityType}`);
      expect(new Set(names).size).toBe(catalogue.length);
      expect(catalogue.filter(({ owned }) => owned === null)).toHaveLength(234);
      const large = withoutSmallShapes(catalogue, 16);
      expect(large.filter(({ owned }) => owned === null)).toHaveLength(126);
      expect(Math.min(...large.map(({ cores }) => cores))).toBe(16);
      expect(large.map(({ index }) => index)).toEqual(large.map((_, i) => i));
    },
  );

  it.each(SEEDS)(
    'given seed %i, then a shape that can be bought holds the largest pod of every row',
    (seed) => {
      const { catalogue, demand, eligibility } = generateScenario(parameters, seed, 'large');
      const misfits = demand.flatMap(({ groups }) =>
        groups.filter(({ pods, profile }) => {
          const eligible = eligibility.of(profile);
          const unit = pods.reduce(largest);
          return !catalogue.some(
            ({ index, offers, owned }) => owned === null && eligible[index] === 1 && fits(unit, offers),
          );
        }),
      );
      expect(misfits).toEqual([]);
    },
  );

  it.each([
    ['demand', generateDemand],
    ['catalogue', generateCatalogue],
  ])('given equal seeds, then the %s is equal; given others, it differs', (_, generate) => {
    const texts = [7, 7, 8].map((seed) => JSON.stringify(generate(parameters, seed)));
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).not.toBe(texts[2]);
  });

  it('given the pods of a profile, then its row has their sum, and per resource their largest', () => {
    const [cluster] = generateDemand(parameters, 1);
    const group = cluster!.groups.find(({ pods }) => pods.length > 2)!;
    const row = needsOf(cluster!).find(({ profile }) => profile === group.profile)!;
    const cpu = group.pods.map(([milli]) => milli);
    const memory = group.pods.map(([, mib]) => mib * 2 ** 20);
    expect(row.aggregate.get('cpu')).toBe(cpu.reduce((a, b) => a + b));
    expect(row.aggregate.get('memory')).toBe(memory.reduce((a, b) => a + b));
    expect(row.minUnit.get('cpu')).toBe(Math.max(...cpu));
    expect(row.minUnit.get('memory')).toBe(Math.max(...memory));
  });
});

describe('apportion', () => {
  it('given weights, then whole parts of at least 1 add up to the total', () => {
    expect(apportion(10, [1, 1, 2])).toEqual([3, 3, 4]);
    expect(apportion(3, [100, 1, 1])).toEqual([1, 1, 1]);
    expect(() => apportion(2, [1, 1, 1])).toThrow('cannot be divided');
  });
});
