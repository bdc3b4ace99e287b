// The offerings of the two clouds of the demo environment: owned and reserved hosts in one, on-demand and spot hosts in
// the other. Sized from one number of machines, with the instance types that workloads of the `realistic` catalogues
// require. demo.ts makes the supply, clouds.ts serves it, and demand/average-demand.ts sizes the demand by it.
//
// Spot hosts of general and compute kinds are rarely interrupted, as large clouds publish, so that workloads with low
// penalties are best placed there; accelerators are few.

import { BigFleetError, CapacityType } from '../../model/index.ts';
import type { CatalogueEntry } from '../../provider/index.ts';

export interface CloudSupply {
  /** Names the cloud, its hosts and its machines. */
  readonly name: string;
  readonly offerings: readonly CatalogueEntry[];
  readonly machines: number;
}

export interface Supply {
  /** Bare metal and reserved. */
  readonly metal: CloudSupply;
  /** On demand and spot. */
  readonly cloud: CloudSupply;
  readonly machines: number;
}

export const ZONES: readonly string[] = ['a', 'b', 'c'];
/** Every offering has at least one machine in each zone, 54 in all; with fewer, there would be more than asked for. */
const MIN_MACHINES = 60;
/** Approximate number of machines of a cloud per rack. */
const MACHINES_PER_RACK = 20;

const GIB = 2 ** 30;
/** Fraction of a host's memory left by kubelet and system. */
const MEMORY_LEFT = 0.95;

/** CPUs, GiB, GPUs, USD per hour on demand. */
const SHAPES: Readonly<Record<string, readonly [cpu: number, gib: number, gpus: number, price: number]>> = {
  'm6i.large': [2, 8, 0, 0.096],
  'm6i.xlarge': [4, 16, 0, 0.192],
  'm6i.2xlarge': [8, 32, 0, 0.384],
  'c6i.4xlarge': [16, 32, 0, 0.68],
  'c6i.8xlarge': [32, 64, 0, 1.36],
  'n2-standard-32': [32, 128, 0, 1.55],
  'r6i.xlarge': [4, 32, 0, 0.252],
  'r6i.2xlarge': [8, 64, 0, 0.504],
  'r6i.4xlarge': [16, 128, 0, 1.008],
  'a2-highgpu-1g': [12, 85, 1, 3.67],
  'a3-highgpu-1g': [26, 234, 1, 11.06],
  'a3-highgpu-8g': [208, 1872, 8, 88.25],
};

const { BareMetal, Reserved, OnDemand, Spot } = CapacityType;

/** Price of each capacity type relative to on demand, and its interruption probability per hour. */
const TERMS = {
  [BareMetal]: { price: 0, interruption: 0 },
  [Reserved]: { price: 0.6, interruption: 0 },
  [OnDemand]: { price: 1, interruption: 0 },
  [Spot]: { price: 0.35, interruption: 0.0005 },
} as const;

interface OfferingSpec {
  readonly name: string;
  readonly type: string;
  readonly capacityType: keyof typeof TERMS;
  /** Relative to all machines of both clouds; only the ratio counts. */
  readonly share: number;
}

function offering(
  name: string,
  type: string,
  capacityType: OfferingSpec['capacityType'],
  share: number,
): OfferingSpec {
  return { name, type, capacityType, share };
}

const METAL: readonly OfferingSpec[] = [
  offering('metal-general', 'm6i.2xlarge', BareMetal, 10),
  offering('metal-compute', 'n2-standard-32', BareMetal, 4),
  offering('metal-memory', 'r6i.4xlarge', BareMetal, 8),
  offering('metal-gpu', 'a3-highgpu-8g', BareMetal, 12),
  offering('reserved-general', 'm6i.xlarge', Reserved, 10),
  offering('reserved-memory', 'r6i.2xlarge', Reserved, 6),
  offering('reserved-gpu', 'a2-highgpu-1g', Reserved, 4),
];

const CLOUD: readonly OfferingSpec[] = [
  offering('small', 'm6i.large', OnDemand, 7),
  offering('general', 'm6i.xlarge', OnDemand, 9),
  offering('large', 'm6i.2xlarge', OnDemand, 6),
  offering('compute', 'c6i.4xlarge', OnDemand, 5),
  offering('compute-large', 'c6i.8xlarge', OnDemand, 2),
  offering('memory', 'r6i.xlarge', OnDemand, 4),
  offering('memory-large', 'r6i.2xlarge', OnDemand, 4),
  offering('gpu', 'a3-highgpu-1g', OnDemand, 3),
  offering('small-spot', 'm6i.large', Spot, 5),
  offering('general-spot', 'm6i.xlarge', Spot, 5),
  offering('compute-spot', 'c6i.4xlarge', Spot, 5),
];

/** Fraction of the on-demand price: roughly the cost of a host over four years including space, power and staff. */
const OWNED_SHARE = 0.35;

/** Cost of ownership of the owned hosts, by instance type, in USD per hour; their provider reports a price of 0. */
export const OWNED_PRICES: ReadonlyMap<string, number> = new Map(
  METAL.filter(({ capacityType }) => capacityType === BareMetal).map(({ type }) => [
    type,
    Number((SHAPES[type]![3] * OWNED_SHARE).toFixed(2)),
  ]),
);

const ALL_SHARES = [...METAL, ...CLOUD].reduce((sum, { share }) => sum + share, 0);

/** Both clouds, with about `machines` machines together: each offering has the same number in every zone, at least one. */
export function supplyOf(machines: number): Supply {
  if (!Number.isInteger(machines) || machines < MIN_MACHINES)
    throw new BigFleetError('BF_USAGE', `There must be ${MIN_MACHINES} machines or more, not ${machines}.`);
  const metal = cloudOf('metal', METAL, machines);
  const cloud = cloudOf('cloud', CLOUD, machines);
  return { metal, cloud, machines: metal.machines + cloud.machines };
}

function cloudOf(name: string, offers: readonly OfferingSpec[], total: number): CloudSupply {
  const counts = offers.map(({ share }) =>
    Math.max(1, Math.round((share * total) / ALL_SHARES / ZONES.length)),
  );
  const inZone = counts.reduce((sum, count) => sum + count, 0);
  const racksPerZone = Math.max(1, Math.round(inZone / MACHINES_PER_RACK));
  return {
    name,
    machines: inZone * ZONES.length,
    offerings: offers.map((offered, i) => entryOf(name, offered, counts[i]!, racksPerZone)),
  };
}

function entryOf(
  cloud: string,
  { name, type, capacityType }: OfferingSpec,
  weight: number,
  racksPerZone: number,
): CatalogueEntry {
  const [cpu, gib, gpus, price] = SHAPES[type]!;
  const terms = TERMS[capacityType];
  const others: readonly [string, number][] = gpus === 0 ? [] : [['nvidia.com/gpu', gpus]];
  return {
    name,
    instanceType: type,
    capacityType,
    pricePerHour: Number((price * terms.price).toPrecision(6)),
    interruptionProbability: terms.interruption,
    resources: new Map([['cpu', cpu * 1000], ['memory', gib * GIB], ...others]),
    allocatable: new Map([['cpu', cpu * 1000], ['memory', Math.floor(gib * GIB * MEMORY_LEFT)], ...others]),
    zones: ZONES,
    racksPerZone,
    rackPrefix: `${cloud}-`,
    labels: new Map([['bigfleet.example/family', type.split(/[.-]/)[0]!]]),
    // One round of seeding covers the whole cloud.
    weight,
    isOwned: capacityType === BareMetal,
  };
}
