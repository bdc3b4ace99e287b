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
import { fits, sumOf } from './amounts.ts';
import { podsIn } from './demand.ts';
import { type PackedCluster, pack } from './packer.ts';
import { generateScenario } from './scenario.ts';

const SIZES = [offering(2, 8, 0.1), offering(8, 32, 0.4), offering(16, 64, 0.8)];

/** By cluster: types of its nodes, and the number of pods on each. */
function nodesOf(clusters: readonly PackedCluster[]): (readonly [string, number])[][] {
  return clusters.map(({ nodes }) => nodes.map((node) => [node.offering.instanceType, node.pods.length]));
}

describe('the packer', () => {
  it('given pods that fit together, then one node of the cheapest shape that holds them is bought', () => {
    const scenario = scenarioWith(catalogueOf(...SIZES), [clusterOf('c', podGroup(pods(3, 2, 4)))]);
    expect(nodesOf(pack(scenario))).toEqual([[['x-8-32', 3]]]);
  });

  it('given more pods than the largest shape holds, then the first node is full and the rest gets a small one', () => {
    const scenario = scenarioWith(catalogueOf(...SIZES), [clusterOf('c', podGroup(pods(17, 1, 1)))]);
    expect(nodesOf(pack(scenario))).toEqual([
      [
        ['x-16-64', 16],
        ['x-2-8', 1],
      ],
    ]);
  });

  it('given pods of different zones, then they do not share a node', () => {
    const catalogue = catalogueOf(...SIZES, offering(8, 32, 0.5, { zone: 'b' }));
    const groups = [podGroup(pods(1, 2, 4), 'a'), podGroup(pods(1, 2, 4), 'b')];
    expect(nodesOf(pack(scenarioWith(catalogue, [clusterOf('c', ...groups)])))).toEqual([
      [
        ['x-2-8', 1],
        ['x-8-32', 1],
      ],
    ]);
  });

  it('given an owned machine, then the largest cluster fills it before anything is bought', () => {
    const catalogue = catalogueOf(...SIZES, offering(4, 16, 0, { owned: 1 }));
    const demand = [clusterOf('small', podGroup(pods(1, 2))), clusterOf('large', podGroup(pods(3, 2)))];
    expect(nodesOf(pack(scenarioWith(catalogue, demand)))).toEqual([
      [['x-2-8', 1]],
      [
        ['x-4-16', 2],
        ['x-2-8', 1],
      ],
    ]);
  });

  it.each([1, 2, 3])(
    'given demand of seed %i, then every pod has room on a machine that it may use',
    (seed) => {
      const scenario = generateScenario(fewClusters(), seed);
      const clusters = pack(scenario);
      for (const [i, { nodes }] of clusters.entries()) {
        for (const { offering: each, pods: packed } of nodes) {
          expect(fits(sumOf(packed.map(({ amounts }) => amounts)), each.offers)).toBe(true);
          expect(packed.every(({ eligible }) => eligible[each.index] === 1)).toBe(true);
        }
        expect(nodes.reduce((sum, node) => sum + node.pods.length, 0)).toBe(podsIn(scenario.demand[i]!));
      }
    },
  );
});
