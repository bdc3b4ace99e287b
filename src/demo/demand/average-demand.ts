// The average demand of the demo's clusters for a given supply, planned once at the start (demo.ts): the workloads of
// the `realistic-dev` catalogue, in amounts that the supply can serve. General compute is plentiful, accelerators are
// scarce, and the cheap spot hosts do not suffice for all workloads that would prefer them.

import type { CatalogueEntry } from '../../provider/index.ts';
import { Random } from '../../runtime/random.ts';
import type { Archetype, PodSize } from '../catalogues/catalogue.ts';
import { REALISTIC_DEV } from '../catalogues/realistic-dev.ts';
import type { Supply } from '../clouds/offerings.ts';
import { RowObjects } from '../workload/row-objects.ts';
import { type Row, RowMaker } from '../workload/rows.ts';
import type { ScaleProfile } from '../workload/scale-profile.ts';

/** A row of a cluster; living-demand.ts computes its number of pods at a given time. */
export interface PlannedRow {
  readonly cluster: string;
  /** With its average number of pods. */
  readonly row: Row;
  /** Selects its random streams. */
  readonly number: number;
  /** `service`: grows and shrinks; `job`: comes and goes as a whole; `store`: always there. */
  readonly habit: 'service' | 'job' | 'store';
}

export interface DemandPlan {
  readonly clusters: readonly string[];
  readonly rows: readonly PlannedRow[];
  readonly rowObjects: RowObjects;
  /** A gang of the largest accelerators in one rack, larger than most that run; each of its pods fills a machine. */
  readonly gpuGang: Row;
}

/** Demand of an archetype, as a fraction of the machines it can use. */
const WANTED: Readonly<Record<string, number>> = {
  'tiny-stateless': 0.36,
  'cpu-service': 0.52,
  'cpu-batch': 0.68,
  'memory-cache': 0.36,
  'stateful-db': 0.42,
  'gpu-inference': 0.9,
  'gpu-training-small': 0.5,
  'gpu-training-medium': 0.5,
  'critical-realtime': 0.08,
};

const HABITS: Readonly<Record<string, PlannedRow['habit']>> = {
  'memory-cache': 'store',
  'stateful-db': 'store',
  'gpu-training-small': 'job',
  'gpu-training-medium': 'job',
};

const NAMES = [
  'web',
  'search',
  'payments',
  'data',
  'ml',
  'edge',
  'maps',
  'ads',
  'video',
  'mail',
  'risk',
  'labs',
];
const STREAM = { weights: 0xd01, rows: 0xd02 } as const;
/** Range of a cluster's relative size. */
const CLUSTER_WEIGHT = [3, 6] as const;
const ALL_ZONES = 0b111;
/** Fraction of workloads that can run in every zone and on every type that holds them; the rest are drawn. */
const EVERYWHERE = 0.8;
const LARGEST_GANG = 4;

export function clusterNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => {
    const round = Math.floor(i / NAMES.length);
    return `${NAMES[i % NAMES.length]}${round === 0 ? '' : `-${round + 1}`}`;
  });
}

export function planDemand(supply: Supply, clusterCount: number, seed: number): DemandPlan {
  const maker = new RowMaker(profileFor(clusterCount), seed);
  const planner = new Planner(supply, maker, seed, clusterNames(clusterCount));
  return { ...planner.plan(), rowObjects: new RowObjects(maker) };
}

class Planner {
  readonly #offerings: readonly CatalogueEntry[];
  readonly #maker: RowMaker;
  readonly #clusters: readonly string[];
  readonly #weights: readonly number[];
  readonly #random: Random;
  readonly #rows: PlannedRow[] = [];
  /** The first cluster to get a gang. */
  readonly #firstHome: number;

  constructor({ metal, cloud }: Supply, maker: RowMaker, seed: number, clusters: readonly string[]) {
    this.#offerings = [...metal.offerings, ...cloud.offerings];
    this.#maker = maker;
    this.#clusters = clusters;
    const sizes = new Random(seed, STREAM.weights);
    this.#weights = clusters.map(() => sizes.between(...CLUSTER_WEIGHT));
    this.#random = new Random(seed, STREAM.rows);
    this.#firstHome = this.#random.below(clusters.length);
  }

  plan(): Omit<DemandPlan, 'rowObjects'> {
    const { archetypes } = REALISTIC_DEV;
    for (const [i, of] of archetypes.entries()) {
      if (of.gang === null) this.#planPlain(i, of);
      else this.#planGangs(i, of, of.gang);
    }
    const training = archetypes.findIndex(({ name }) => name === 'gpu-training-small');
    const pods = Math.min(LARGEST_GANG, this.#machinesInRack(archetypes[training]!));
    return {
      clusters: this.#clusters,
      rows: this.#rows,
      gpuGang: { ...this.#draw(training, 'rush'), zones: ALL_ZONES, pods },
    };
  }

  /** Every cluster gets its part, in one or two rows. In small fleets, small parts go to some clusters only. */
  #planPlain(archetype: number, of: Archetype): void {
    const pod = meanPod(of);
    const total = Math.floor(this.#podsHeld(of, pod) * WANTED[of.name]!);
    const weights = this.#weights.reduce((sum, weight) => sum + weight, 0);
    let owed = 0;
    for (const [i, cluster] of this.#clusters.entries()) {
      owed += (total * this.#weights[i]!) / weights;
      const pods = Math.floor(owed);
      owed -= pods;
      if (pods === 0) continue;
      const first = this.#draw(archetype, '0');
      const second = this.#draw(archetype, '1');
      const isOne = pods < 4 || keyOf(first) === keyOf(second);
      const part = isOne ? pods : Math.ceil(pods * 0.6);
      this.#add(cluster, of, { ...first, pods: part });
      if (!isOne) this.#add(cluster, of, { ...second, pods: pods - part });
    }
  }

  /** As many gangs as the supply has room for, one cluster after the other. */
  #planGangs(
    archetype: number,
    of: Archetype,
    { domain, pods: [least, most] }: NonNullable<Archetype['gang']>,
  ): void {
    const held = this.#podsHeld(of, meanPod(of));
    const inDomain = domain === 'rack' ? this.#podsInRack(of) : Math.floor(held / of.zones.length);
    let left = Math.floor(held * WANTED[of.name]!);
    // Half of the clusters train models; all of them store data.
    const homes = HABITS[of.name] === 'job' ? Math.ceil(this.#clusters.length / 2) : this.#clusters.length;
    for (let number = 0; ; number++) {
      const pods = Math.min(this.#random.between(least, most), inDomain, left);
      if (pods < least) break;
      left -= pods;
      const row = { ...this.#draw(archetype, `${number}`), zones: ALL_ZONES, pods };
      const home = (this.#firstHome + (number % homes)) % this.#clusters.length;
      this.#add(this.#clusters[home]!, of, row);
    }
  }

  #add(cluster: string, { name }: Archetype, row: Row): void {
    this.#rows.push({ cluster, row, number: this.#rows.length, habit: HABITS[name] ?? 'service' });
  }

  /** A workload that some machine of its types can hold. */
  #draw(archetype: number, name: string): Row {
    const row = this.#maker.drawRow(this.#random, archetype, name);
    const of = this.#maker.archetypeOf(row);
    const pod = of.sizes[row.size]!;
    const fitting = of.instanceTypes.reduce((mask, type, i) => {
      return this.#offerings.some((entry) => entry.instanceType === type && podsOn(entry, pod) > 0)
        ? mask | (1 << i)
        : mask;
    }, 0);
    row.types = this.#random.chance(EVERYWHERE) ? fitting : row.types & fitting || fitting;
    if (row.spread || this.#random.chance(EVERYWHERE)) row.zones = ALL_ZONES;
    return row;
  }

  #podsHeld(of: Archetype, pod: PodSize): number {
    return this.#usable(of).reduce(
      (sum, entry) => sum + podsOn(entry, pod) * entry.weight * entry.zones.length,
      0,
    );
  }

  /** Pods that the racks of one cloud hold at least. */
  #podsInRack(of: Archetype): number {
    const pod = meanPod(of);
    return Math.max(
      ...this.#usable(of).map((entry) => podsOn(entry, pod) * Math.floor(entry.weight / entry.racksPerZone)),
    );
  }

  #machinesInRack(of: Archetype): number {
    return Math.max(
      1,
      ...this.#usable(of).map(({ weight, racksPerZone }) => Math.floor(weight / racksPerZone)),
    );
  }

  #usable({ instanceTypes }: Archetype): readonly CatalogueEntry[] {
    return this.#offerings.filter(({ instanceType }) => instanceTypes.includes(instanceType));
  }
}

/** Pods of a size that one machine holds. */
function podsOn({ allocatable }: CatalogueEntry, { cpuMilli, memoryMi, gpus }: PodSize): number {
  const by = (name: string, each: number) =>
    each === 0 ? Number.POSITIVE_INFINITY : Math.floor((allocatable.get(name) ?? 0) / each);
  return Math.min(by('cpu', cpuMilli), by('memory', memoryMi * 2 ** 20), by('nvidia.com/gpu', gpus));
}

function meanPod({ sizes }: Archetype): PodSize {
  const weights = sizes.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (of: (size: PodSize) => number) =>
    sizes.reduce((sum, size) => sum + of(size) * size.weight, 0) / weights;
  return {
    weight: weights,
    cpuMilli: mean(({ cpuMilli }) => cpuMilli),
    memoryMi: mean(({ memoryMi }) => memoryMi),
    gpus: mean(({ gpus }) => gpus),
  };
}

/** Rows of a cluster with equal keys are one row on the wire. */
function keyOf({ types, zones, priority, spread }: Row): string {
  return `${types}/${zones}/${priority}/${spread}`;
}

function profileFor(clusters: number): ScaleProfile {
  const none = { clusters: 0, rows: 0, machines: 0 };
  return {
    name: 'demo',
    about: 'a living workload',
    catalogue: REALISTIC_DEV,
    clusters,
    needs: 0,
    configured: 0,
    idle: 0,
    speculative: 0,
    density: 100,
    groups: true,
    regions: 0,
    roaming: 0,
    racksPerZone: 1,
    machinesPerRack: 0,
    jitter: 0,
    churn: none,
    burst: none,
    thresholds: [],
  };
}
