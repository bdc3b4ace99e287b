// Small scenarios for tests of `bench economy`: a few offerings and pods, written in cores and GiB.

import { type Amounts, amountsOf } from '../../bench/economy/amounts.ts';
import type { Catalogue, Offering } from '../../bench/economy/catalogue.ts';
import type { ClusterDemand, Demand, PodGroup } from '../../bench/economy/demand.ts';
import { loadParameters, type Parameters } from '../../bench/economy/parameters.ts';
import { type Scenario, scenarioOf } from '../../bench/economy/scenario.ts';
import { CapacityType, makeProfile, Operator, ZONE_KEY } from '../../src/model/index.ts';

/** An offering before it has a place in a catalogue. */
export type OfferingParts = Omit<Offering, 'index'>;

export function offering(
  cores: number,
  gib: number,
  pricePerHour: number,
  parts: Partial<OfferingParts> = {},
): OfferingParts {
  return {
    instanceType: `x-${cores}-${gib}`,
    zone: 'a',
    capacityType: CapacityType.OnDemand,
    cores,
    offers: amountsOf(cores, gib, 0),
    pricePerHour,
    interruptionProbability: 0,
    labels: new Map(),
    owned: null,
    ...parts,
  };
}

export function catalogueOf(...offerings: readonly OfferingParts[]): Catalogue {
  return offerings.map((each, index) => ({ ...each, index }));
}

/** Pods of one profile; with a zone, they run only there. */
export function podGroup(pods: readonly Amounts[], zone = '', priority = 0): PodGroup {
  const requirements = zone === '' ? [] : [{ key: ZONE_KEY, operator: Operator.In, values: [zone] }];
  return { profile: makeProfile({ requirements, priority }), pods };
}

/** `count` pods of one size. */
export function pods(count: number, cores: number, gib = 0): Amounts[] {
  return Array.from({ length: count }, () => amountsOf(cores, gib, 0));
}

export function clusterOf(name: string, ...groups: readonly PodGroup[]): ClusterDemand {
  return { name, groups };
}

export function scenarioWith(catalogue: Catalogue, demand: Demand): Scenario {
  return scenarioOf(loadParameters(), 1, demand, catalogue);
}

/** The parameters of the profile with fewer and smaller clusters: everything generated, quick to solve. */
export function fewClusters(): Parameters {
  const parameters = loadParameters();
  const clusters = { ...parameters.clusters, count: 4, profiles: [10, 16] as [number, number] };
  const owned = parameters.catalogue.owned.map((each) => ({ ...each, count: 1 }));
  const catalogue = { ...parameters.catalogue, owned };
  return { ...parameters, pods: 300, clusters, catalogue, noise: { ...parameters.noise, cycles: [5, 20] } };
}
