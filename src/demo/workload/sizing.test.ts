import { describe, expect, it } from 'vitest';
import { Random } from '../../runtime/random.ts';
import { catalogueOf } from '../catalogues/index.ts';
import { REALISTIC } from '../catalogues/realistic.ts';
import {
  drawReplicas,
  effectiveMachines,
  machineShares,
  podShares,
  splitExactly,
  splitMachines,
} from './sizing.ts';

const { archetypes } = REALISTIC;
const DENSITY = 100;
const named = (values: readonly number[]) =>
  Object.fromEntries(archetypes.map(({ name }, i) => [name, values[i]!]));

describe('the catalogue "realistic"', () => {
  it('given the archetypes, then their shares of machines, in per cent, are those it was calibrated to', () => {
    const shares = named(machineShares(archetypes, DENSITY).map((share) => share * 100));
    const targets: readonly [string, number, number][] = [
      ['tiny-stateless', 66.4, 1],
      ['cpu-service', 11.4, 0.5],
      ['cpu-batch', 5.7, 0.5],
      ['critical-realtime', 0.95, 0.3],
      ['memory-cache', 1.5, 0.3],
      ['stateful-db', 1.5, 0.3],
      ['gpu-inference', 5.2, 0.5],
      ['gpu-training-small', 3.1, 0.5],
      ['gpu-training-medium', 4.2, 0.5],
      ['gpu-training-large', 0, 0],
    ];
    for (const [name, target, tolerance] of targets) {
      expect(Math.abs(shares[name]! - target), name).toBeLessThanOrEqual(tolerance);
    }
  });

  it('given the archetypes, then three quarters of the pods are small', () => {
    expect(named(podShares(archetypes))['tiny-stateless']).toBeCloseTo(0.75453, 5);
  });

  // Published sums of the reference's fleets, in the order of the catalogue.
  it.each([
    [250, [166, 29, 14, 15, 15, 13, 24, 48, 0, 2]],
    [1000, [664, 114, 57, 15, 15, 52, 31, 48, 0, 10]],
    [15_000, [9965, 1708, 854, 232, 232, 775, 464, 627, 0, 143]],
    [150_000, [99_652, 17_081, 8544, 2321, 2320, 7750, 4641, 6265, 0, 1426]],
  ])('given %i machines, then they are split as in the reference implementation', (machines, split) => {
    expect(splitMachines(archetypes, DENSITY, machines)).toEqual(split);
  });

  it.each([
    [500_000, 5784],
    [2_500_000, 28_500],
    [5_000_000, 56_892],
    [50_000_000, 567_973],
  ])('given %i pods, then it needs %i machines', (pods, machines) => {
    expect(effectiveMachines(archetypes, DENSITY, pods)).toBe(machines);
  });
});

describe('sizes', () => {
  it('given the 5,000 pods of the development catalogue, then they need 610 machines', () => {
    expect(effectiveMachines(catalogueOf('realistic-dev')!.archetypes, DENSITY, 5000)).toBe(610);
  });

  it.each([325, 1000, 15_000])(
    'given %i machines, when split exactly, then the parts add up to them',
    (machines) => {
      const split = splitExactly(archetypes, DENSITY, machines);
      expect(split.reduce((sum, count) => sum + count, 0)).toBe(machines);
    },
  );

  it('given random draws, then a service has 21.375 replicas on average, and a gang a size within its range', () => {
    const random = new Random(1);
    const of = (name: string) => archetypes.find((archetype) => archetype.name === name)!;
    const replicas = Array.from({ length: 50_000 }, () => drawReplicas(random, of('tiny-stateless')));
    expect(replicas.reduce((a, b) => a + b, 0) / replicas.length).toBeCloseTo(21.375, 0);
    const gangs = new Set(Array.from({ length: 500 }, () => drawReplicas(random, of('memory-cache'))));
    expect(gangs).toEqual(new Set([3, 4, 5]));
  });
});
