// The supply of `bench economy`: offerings (a shape in a zone, on demand or spot) of which any number can be bought within a
// quota, and owned machines, which exist from the beginning and are paid whether they are used or not.

import { CapacityType } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { type Amounts, amountsOf } from './amounts.ts';
import { uniform } from './draws.ts';
import type { Parameters } from './parameters.ts';

export const ARCH_KEY = 'kubernetes.io/arch';
export const CAPACITY_KEY = 'karpenter.sh/capacity-type';
export const GPU_KEY = 'nvidia.com/gpu.product';
export const GPU_PRODUCT = 'A10G';

/** The stream of random numbers that catalogues are drawn from. */
const STREAM = 101;

export interface Offering {
  /** Its place in the catalogue; machine ids begin with it. */
  readonly index: number;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Cores of the shape, before anything is reserved. */
  readonly cores: number;
  /** What is left for pods. */
  readonly offers: Amounts;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly labels: ReadonlyMap<string, string>;
  /** Machines of an owned offering; null for one that is bought. */
  readonly owned: number | null;
}

export type Catalogue = readonly Offering[];

interface Shape {
  readonly name: string;
  readonly arch: string;
  readonly cpu: number;
  readonly memory: number;
  readonly gpus: number;
  readonly price: number;
}

export function generateCatalogue({ catalogue }: Parameters, seed: number): Catalogue {
  const random = new Random(seed, STREAM);
  const { families, gpuShapes, owned, reserved, sizes, spot, zones } = catalogue;
  const shapes: readonly Shape[] = [
    ...families.flatMap(({ name, arch, memoryPerCpu, pricePerCpu }) =>
      sizes.map((cpu) => ({
        name: `${name}-${cpu}`,
        arch,
        cpu,
        memory: cpu * memoryPerCpu,
        gpus: 0,
        price: cpu * pricePerCpu,
      })),
    ),
    ...gpuShapes,
  ];
  const bought = shapes.flatMap((shape) =>
    zones.flatMap((zone) => {
      const common = factsOf(shape, zone, reserved);
      const onDemand = { ...common, capacityType: CapacityType.OnDemand, pricePerHour: shape.price };
      const spotPrice = Math.round(shape.price * uniform(random, ...spot.price) * 1e4) / 1e4;
      const interruption = Math.round(uniform(random, ...spot.interruption) * 1e3) / 1e3;
      return [
        { ...onDemand, interruptionProbability: 0, owned: null },
        {
          ...common,
          capacityType: CapacityType.Spot,
          pricePerHour: spotPrice,
          interruptionProbability: interruption,
          owned: null,
        },
      ];
    }),
  );
  const ownedMachines = owned.flatMap((shape) => {
    const capacityType = shape.capacity === 'reserved' ? CapacityType.Reserved : CapacityType.BareMetal;
    return apportionedByZone(shape.count, zones).map(({ zone, count }) => ({
      ...factsOf(shape, zone, reserved),
      capacityType,
      pricePerHour: shape.price,
      interruptionProbability: 0,
      owned: count,
    }));
  });
  return [...bought, ...ownedMachines].map((offering, index) => withLabels({ ...offering, index }));
}

/** The catalogue without shapes below `cores`; owned machines stay. */
export function withoutSmallShapes(catalogue: Catalogue, cores: number): Catalogue {
  return catalogue
    .filter((offering) => offering.owned !== null || offering.cores >= cores)
    .map((offering, index) => ({ ...offering, index }));
}

/** Dollars an hour of all owned machines. */
export function ownedPrice(catalogue: Catalogue): number {
  return catalogue.reduce((sum, { owned, pricePerHour }) => sum + (owned ?? 0) * pricePerHour, 0);
}

function factsOf(shape: Shape, zone: string, reserved: Parameters['catalogue']['reserved']) {
  const { cpu, cpuShare, memory, memoryShare } = reserved;
  return {
    instanceType: shape.name,
    zone,
    arch: shape.arch,
    cores: shape.cpu,
    offers: amountsOf(
      shape.cpu * (1 - cpuShare) - cpu,
      shape.memory * (1 - memoryShare) - memory,
      shape.gpus,
    ),
  };
}

function apportionedByZone(
  count: number,
  zones: readonly string[],
): { readonly zone: string; readonly count: number }[] {
  return zones
    .map((zone, i) => ({
      zone,
      count: Math.floor(count / zones.length) + (i < count % zones.length ? 1 : 0),
    }))
    .filter((each) => each.count > 0);
}

function withLabels({ arch, ...offering }: Omit<Offering, 'labels'> & { readonly arch: string }): Offering {
  const labels = new Map([
    [ARCH_KEY, arch],
    [CAPACITY_KEY, offering.capacityType === CapacityType.Spot ? 'spot' : 'on-demand'],
  ]);
  if (offering.offers[2] > 0) labels.set(GPU_KEY, GPU_PRODUCT);
  return { ...offering, labels };
}
