// The cloud behind provider-process.ts: machines with the fields and sizes of real ones, from one seed, and calls that
// end at once, so that only the kit and the reader are measured.

import type { Backend, Offering } from '../../src/provider/index.ts';
import { Random } from '../../src/runtime/random.ts';

const GIB = 2 ** 30;
const FAMILIES = ['m6i', 'm7g', 'c6i', 'c7g', 'r6i', 'r7g'];
const SIZES = [
  { name: 'large', cpu: 2, memory: 8 },
  { name: 'xlarge', cpu: 4, memory: 16 },
  { name: '2xlarge', cpu: 8, memory: 32 },
  { name: '4xlarge', cpu: 16, memory: 64 },
];
const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];
/** Resources of each machine that the system reserves. */
const RESERVED = { cpu: 80, memory: 1.5 * GIB };

/** Every other machine has a host, the rest are quota slots. `surcharge` is added to its price. */
function offering(random: Random, index: number, surcharge: number): Offering {
  const family = random.pick(FAMILIES);
  const { name, cpu, memory } = random.pick(SIZES);
  const id = `i-${(index * 2654435761).toString(16).padStart(17, '0').slice(-17)}`;
  const zone = random.pick(ZONES);
  const shape = (less: { readonly cpu: number; readonly memory: number }) =>
    new Map([
      ['cpu', cpu * 1000 - less.cpu],
      ['memory', memory * GIB - less.memory],
      ['ephemeral-storage', 100 * GIB],
    ]);
  return {
    id,
    instanceType: `${family}.${name}`,
    zone,
    capacityType: 3,
    pricePerHour: 0.05 * cpu + surcharge,
    interruptionProbability: 0,
    resources: shape({ cpu: 0, memory: 0 }),
    allocatable: shape(RESERVED),
    labels: new Map([
      ['kubernetes.io/arch', family.includes('g') ? 'arm64' : 'amd64'],
      ['example.com/rack', `${zone}-r${random.below(400)}`],
      ['example.com/pool', `pool-${random.below(20)}`],
    ]),
    host: index % 2 === 0 ? null : { provider: 'bench', ref: `host-${id}` },
  };
}

/** Generates every machine again on each `describe`, so that the cloud itself stores no machines. */
export class BenchCloud implements Backend {
  readonly #machines: number;
  readonly #seed: number;
  /** Number of price changes so far; each adds a tenth of a cent. */
  #repricings = 0;
  #repricedShare = 0;

  constructor(machines: number, seed: number) {
    this.#machines = machines;
    this.#seed = seed;
  }

  /** Changes the price of this share of the machines at the next description. */
  reprice(share: number): void {
    this.#repricings++;
    this.#repricedShare = share;
  }

  describe(): Promise<readonly Offering[]> {
    const random = new Random(this.#seed);
    const every = this.#repricedShare === 0 ? Number.POSITIVE_INFINITY : Math.round(1 / this.#repricedShare);
    return Promise.resolve(
      Array.from({ length: this.#machines }, (_, i) =>
        offering(random, i, i % every === 0 ? this.#repricings / 1000 : 0),
      ),
    );
  }

  create({ id }: { readonly id: string }) {
    return Promise.resolve({ provider: 'bench', ref: `host-${id}` });
  }

  configure(): Promise<void> {
    return Promise.resolve();
  }

  drain(): Promise<void> {
    return Promise.resolve();
  }

  delete(): Promise<void> {
    return Promise.resolve();
  }
}

/** Ids of the first machines that are quota slots. */
export function quotaSlotsOf(seed: number, count: number): string[] {
  const random = new Random(seed);
  return Array.from({ length: count * 2 }, (_, i) => offering(random, i, 0))
    .filter(({ host }) => host === null)
    .map(({ id }) => id);
}
