// The catalogue of the fake cloud: offerings, their zones, and the machines derived from them. Used by cloud.ts.
// Machine number i does not depend on the number of machines, so that a cloud can be restarted with more. `bigfleet
// provider fake --offerings` and the demo replace the default catalogue.

import { CapacityType, type ResourceVector } from '../../model/index.ts';

/** One offering of the fake cloud in all its zones. */
export interface CatalogueEntry {
  /** Unique; part of machine ids and of the names of pools. */
  readonly name: string;
  readonly instanceType: string;
  readonly capacityType: CapacityType;
  /** USD per hour; for spot the base of the drifting price. */
  readonly pricePerHour: number;
  /** Per hour; above 0 for spot. */
  readonly interruptionProbability: number;
  readonly resources: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly zones: readonly string[];
  /** Racks per zone over which the machines are distributed round-robin. */
  readonly racksPerZone: number;
  /** Prefix of rack names, for several clouds that share a zone. Default ''. */
  readonly rackPrefix?: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Machines per zone in each round of seeding, relative to other offerings. */
  readonly weight: number;
  /** The hosts exist from the start: machines start Idle, and a lost host is repaired rather than given back. */
  readonly isOwned: boolean;
}

/** One offering in one zone; prices, stock and quotas are per pool. */
export interface CloudPool {
  /** `OFFERING/ZONE`. */
  readonly name: string;
  readonly entry: CatalogueEntry;
  readonly zone: string;
}

/** One machine of a pool. */
export interface Item {
  readonly id: string;
  readonly pool: CloudPool;
  readonly labels: ReadonlyMap<string, string>;
}

const RACK_LABEL = 'topology.bigfleet/rack';
const GIB = 2 ** 30;

export function poolsOf(catalogue: readonly CatalogueEntry[]): readonly CloudPool[] {
  return catalogue.flatMap((entry) =>
    entry.zones.map((zone) => ({ name: `${entry.name}/${zone}`, entry, zone })),
  );
}

/** The first `count` machines of a cloud. */
export function itemsOf(pools: readonly CloudPool[], count: number, provider: string): readonly Item[] {
  const round = roundOf(pools);
  const seeded = new Map<CloudPool, number>();
  const labels = new Map<string, ReadonlyMap<string, string>>();
  return Array.from({ length: round.length === 0 ? 0 : count }, (_, i) => {
    const pool = round[i % round.length]!;
    const number = seeded.get(pool) ?? 0;
    seeded.set(pool, number + 1);
    const rack = `${pool.entry.rackPrefix ?? ''}${pool.zone}-rack-${number % pool.entry.racksPerZone}`;
    const key = `${pool.name} ${rack}`;
    // Thousands of machines share one map.
    const shared = labels.get(key) ?? new Map([...pool.entry.labels, [RACK_LABEL, rack]]);
    labels.set(key, shared);
    return { id: `${provider}-${pool.entry.name}-${pool.zone}-${number}`, pool, labels: shared };
  });
}

/** Each pool `weight` times, interleaved, so that a small cloud has machines of every pool. */
function roundOf(pools: readonly CloudPool[]): readonly CloudPool[] {
  const heaviest = Math.max(0, ...pools.map(({ entry }) => entry.weight));
  return Array.from({ length: heaviest }, (_, i) => pools.filter(({ entry }) => entry.weight > i)).flat();
}

const ZONES = ['zone-a', 'zone-b', 'zone-c'];

function entry(
  name: string,
  instanceType: string,
  [cpu, gib, gpus]: readonly [cpu: number, gib: number, gpus?: number],
  rest: Pick<CatalogueEntry, 'capacityType' | 'pricePerHour' | 'weight'> & Partial<CatalogueEntry>,
): CatalogueEntry {
  const gpu: readonly [string, number][] = gpus === undefined ? [] : [['nvidia.com/gpu', gpus]];
  return {
    name,
    instanceType,
    interruptionProbability: 0,
    resources: new Map([['cpu', cpu * 1000], ['memory', gib * GIB], ...gpu]),
    // Resources minus the reservations of kubelet and system.
    allocatable: new Map([['cpu', cpu * 1000 - 120], ['memory', Math.floor(gib * GIB * 0.92)], ...gpu]),
    zones: ZONES,
    racksPerZone: 8,
    labels: new Map([['bigfleet.example/family', instanceType.split('.')[0]!]]),
    isOwned: false,
    ...rest,
  };
}

const { BareMetal, Reserved, OnDemand, Spot } = CapacityType;

/** Small, large, memory and GPU shapes; owned, reserved, on-demand and spot capacity. */
export const DEFAULT_CATALOGUE: readonly CatalogueEntry[] = [
  entry('general', 'm7.xlarge', [4, 16], { capacityType: OnDemand, pricePerHour: 0.2016, weight: 4 }),
  entry('general-spot', 'm7.xlarge', [4, 16], {
    capacityType: Spot,
    pricePerHour: 0.0721,
    interruptionProbability: 0.03,
    weight: 4,
  }),
  entry('compute', 'c7.4xlarge', [16, 32], { capacityType: OnDemand, pricePerHour: 0.714, weight: 2 }),
  entry('compute-spot', 'c7.4xlarge', [16, 32], {
    capacityType: Spot,
    pricePerHour: 0.2512,
    interruptionProbability: 0.08,
    weight: 2,
  }),
  entry('memory', 'r7.2xlarge', [8, 64], { capacityType: OnDemand, pricePerHour: 0.5292, weight: 2 }),
  entry('reserved', 'm7.xlarge', [4, 16], { capacityType: Reserved, pricePerHour: 0.127, weight: 1 }),
  entry('gpu', 'g6.48xlarge', [192, 768, 8], {
    capacityType: OnDemand,
    pricePerHour: 13.35,
    zones: ZONES.slice(0, 2),
    racksPerZone: 2,
    weight: 1,
  }),
  entry('metal', 'bm1.64', [64, 256], {
    capacityType: BareMetal,
    pricePerHour: 0,
    racksPerZone: 4,
    weight: 1,
    isOwned: true,
  }),
];
