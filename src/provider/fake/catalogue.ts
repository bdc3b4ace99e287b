// What the fake cloud sells: offerings, the zones they are sold in, and the machines that follow from them. Machine
// number i is the same for every number of machines, so that a cloud can be started again with more.

import { CapacityType, type ResourceVector } from '../../model/index.ts';

export interface CatalogueEntry {
  /** Unique; part of machine ids and of the names of pools. */
  readonly name: string;
  readonly instanceType: string;
  readonly capacityType: CapacityType;
  /** USD per hour, around which spot prices move. */
  readonly pricePerHour: number;
  /** Per hour; above 0 for spot. */
  readonly interruptionProbability: number;
  readonly resources: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly zones: readonly string[];
  /** Machines of a zone stand in so many racks. */
  readonly racksPerZone: number;
  /** What names of racks begin with, where several clouds share a zone. Default: nothing. */
  readonly rackPrefix?: string;
  readonly labels: ReadonlyMap<string, string>;
  /** How many machines of each zone there are per round of seeding, against other offerings. */
  readonly weight: number;
  /** The hosts exist and are ours: machines start Idle, and come back repaired. */
  readonly isOwned: boolean;
}

/** One offering in one zone: what has a price, a stock and a quota. */
export interface CloudPool {
  /** `OFFERING/ZONE`. */
  readonly name: string;
  readonly entry: CatalogueEntry;
  readonly zone: string;
}

/** A machine on sale. */
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

/** Each pool as often as it weighs, well mixed: a small cloud has a bit of everything. */
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
    // What kubelet and system leave of it.
    allocatable: new Map([['cpu', cpu * 1000 - 120], ['memory', Math.floor(gib * GIB * 0.92)], ...gpu]),
    zones: ZONES,
    racksPerZone: 8,
    labels: new Map([['bigfleet.example/family', instanceType.split('.')[0]!]]),
    isOwned: false,
    ...rest,
  };
}

const { BareMetal, Reserved, OnDemand, Spot } = CapacityType;

/** A bit of everything: small, large, memory, GPUs; owned, reserved, on demand, spot. */
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
