// The number of machines per archetype of a fleet. Pods follow from the frequency of workloads and their replicas,
// machines from pods; rounding is by largest remainder. Every gang archetype gets at least one largest gang per zone,
// so that a gang finds a domain even in a small fleet. Used by rows.ts and testing/workload.

import type { Random } from '../../runtime/random.ts';
import { type Archetype, podsPerMachine } from '../catalogues/catalogue.ts';

/** Replicas of a workload that is not a gang: weight in per cent, and the range of a uniform draw. Mean 21.375. */
const REPLICA_RANGES: readonly { readonly weight: number; readonly least: number; readonly most: number }[] =
  [
    { weight: 55, least: 1, most: 5 },
    { weight: 30, least: 6, most: 25 },
    { weight: 12, least: 26, most: 100 },
    { weight: 3, least: 101, most: 400 },
  ];
const REPLICA_WEIGHTS = REPLICA_RANGES.map(({ weight }) => weight);

export function drawReplicas(random: Random, of: Archetype): number {
  if (of.gang !== null) return random.between(...of.gang.pods);
  const { least, most } = REPLICA_RANGES[random.weighted(REPLICA_WEIGHTS)]!;
  return random.between(least, most);
}

function meanReplicas(of: Archetype): number {
  if (of.gang !== null) return (of.gang.pods[0] + of.gang.pods[1]) / 2;
  return REPLICA_RANGES.reduce((sum, { weight, least, most }) => sum + (weight * (least + most)) / 200, 0);
}

/** Share of each archetype among all pods; the sum is 1. */
export function podShares(archetypes: readonly Archetype[]): number[] {
  return normalised(archetypes.map((a) => (a.burstOnly ? 0 : a.weight * meanReplicas(a))));
}

/** Share of each archetype among all machines; the sum is 1. */
export function machineShares(archetypes: readonly Archetype[], density: number): number[] {
  const pods = podShares(archetypes);
  return normalised(archetypes.map((a, i) => pods[i]! / podsPerMachine(a, density)));
}

/** Splits `machines` by largest remainder, then raises gangs to their floor: the sum may exceed `machines`. */
export function splitMachines(archetypes: readonly Archetype[], density: number, machines: number): number[] {
  const split = largestRemainder(machineShares(archetypes, density), machines);
  return split.map((count, i) => Math.max(count, gangFloor(archetypes[i]!)));
}

/** As `splitMachines`, but with the exact sum: the most numerous archetype gives up what the floors add. */
export function splitExactly(archetypes: readonly Archetype[], density: number, machines: number): number[] {
  const split = splitMachines(archetypes, density, machines);
  let excess = split.reduce((sum, count) => sum + count, 0) - machines;
  while (excess > 0) {
    const largest = split.indexOf(Math.max(...split));
    split[largest]!--;
    excess--;
  }
  return split;
}

/** Machines that hold `pods` pods if every archetype rounds up on its own, plus the gang floors. */
export function effectiveMachines(archetypes: readonly Archetype[], density: number, pods: number): number {
  return podShares(archetypes).reduce((sum, share, i) => {
    const of = archetypes[i]!;
    const machines = Math.ceil((pods * share) / podsPerMachine(of, density));
    return sum + machines + gangFloor(of);
  }, 0);
}

function gangFloor(of: Archetype): number {
  return of.gang === null || of.burstOnly ? 0 : of.gang.pods[1] * of.zones.length;
}

function largestRemainder(shares: readonly number[], total: number): number[] {
  const split = shares.map((share) => Math.floor(share * total));
  const rest = total - split.reduce((sum, count) => sum + count, 0);
  const remainder = (i: number): number => shares[i]! * total - split[i]!;
  const order = shares.map((_, i) => i).sort((a, b) => remainder(b) - remainder(a) || a - b);
  const lifted = new Set(order.slice(0, rest));
  return split.map((count, i) => count + (lifted.has(i) ? 1 : 0));
}

function normalised(amounts: readonly number[]): number[] {
  const sum = amounts.reduce((a, b) => a + b, 0);
  return amounts.map((amount) => amount / sum);
}
