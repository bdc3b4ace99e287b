import { describe, expect, it } from 'vitest';
import {
  catalogueOf,
  clusterOf,
  fewClusters,
  offering,
  podGroup,
  pods,
  scenarioWith,
} from '../../testing/support/economy.ts';
import { Costs } from './costs.ts';
import { runCold } from './experiments.ts';
import { lowerBoundOf } from './lower-bound.ts';
import { pack } from './packer.ts';
import { POLICIES } from './policies.ts';
import { generateScenario, type Scenario } from './scenario.ts';

async function dollarsOf(scenario: Scenario): Promise<number> {
  return (await lowerBoundOf(scenario)).dollarsPerHour;
}

describe('the lower bound', () => {
  it('given one offering, then it is the fraction of it that the sum takes', async () => {
    const catalogue = catalogueOf(offering(4, 16, 1));
    expect(await dollarsOf(scenarioWith(catalogue, [clusterOf('c', podGroup(pods(3, 2)))]))).toBeCloseTo(1.5);
    expect(await dollarsOf(scenarioWith(catalogue, [clusterOf('c', podGroup(pods(1, 1)))]))).toBeCloseTo(
      0.25,
    );
  });

  it('given cores in one shape and memory in another, then the cheapest mixture counts', async () => {
    // 8 cores and 20 GiB: two of the first have 8 cores and 4 GiB, so that one of the second is added.
    const catalogue = catalogueOf(offering(4, 2, 1), offering(1, 16, 1));
    const demand = [clusterOf('c', podGroup(pods(4, 2, 5)))];
    // y1 × 4 + y2 = 8, y1 × 2 + y2 × 16 = 20: y1 = 108 ÷ 62, y2 = 64 ÷ 62.
    expect(await dollarsOf(scenarioWith(catalogue, demand))).toBeCloseTo(172 / 62);
  });

  it('given a requirement, then cheaper offerings that do not meet it are not used', async () => {
    const catalogue = catalogueOf(offering(4, 16, 1), offering(4, 16, 3, { zone: 'b' }));
    const groups = [podGroup(pods(2, 2), 'b'), podGroup(pods(2, 2))];
    expect(await dollarsOf(scenarioWith(catalogue, [clusterOf('c', ...groups)]))).toBeCloseTo(4);
  });

  it('given owned machines, then all clusters share them, and their price is paid in any case', async () => {
    const catalogue = catalogueOf(offering(4, 16, 1), offering(8, 32, 0.25, { owned: 1 }));
    const demand = ['c', 'd'].map((name) => clusterOf(name, podGroup(pods(3, 2))));
    const scenario = scenarioWith(catalogue, demand);
    const bound = await lowerBoundOf(scenario);
    // 12 cores, 8 of them owned: one machine is bought.
    expect(bound.dollarsPerHour).toBeCloseTo(1.25);
    // With the owned machine charged what it saves, each cluster has the value of its own 6 cores.
    expect(bound.chargeFor(catalogue[1]!)).toBeCloseTo(2);
    expect(demand.map((cluster) => bound.ofCluster(cluster))).toEqual([
      expect.closeTo(1.5),
      expect.closeTo(1.5),
    ]);
    const unused = scenarioWith(catalogue, [clusterOf('c', podGroup(pods(1, 1)))]);
    expect(await dollarsOf(unused)).toBeCloseTo(0.25);
  });

  it('given demand that no offering can serve, then there is no bound', async () => {
    const scenario = scenarioWith(catalogueOf(offering(4, 16, 1)), [
      clusterOf('c', podGroup(pods(1, 1), 'b')),
    ]);
    await expect(lowerBoundOf(scenario)).rejects.toThrow('no optimum: Infeasible');
  });

  it.each([1, 2, 3])(
    'given generated demand of seed %i, then no policy and no packer is below it',
    async (seed) => {
      for (const name of ['all', 'large'] as const) {
        const scenario = generateScenario(fewClusters(), seed, name);
        const costs = new Costs(scenario, await lowerBoundOf(scenario));
        const colds = Object.values(POLICIES).map((policy) => runCold(scenario, costs, policy));
        for (const { multiple, multipleBySize } of [...colds, costs.ofPacked(pack(scenario))]) {
          expect(multiple).toBeGreaterThanOrEqual(1);
          for (const value of Object.values(multipleBySize)) expect(value).toBeGreaterThanOrEqual(1);
        }
        expect(colds.map(({ unmetRows }) => unmetRows)).toEqual(colds.map(() => 0));
      }
    },
  );
});
