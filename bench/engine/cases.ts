// The cases of `bench engine`, run by main.ts: inputs of the micro-benchmarks of the Go reference implementation,
// rebuilt (their input of one phase is our input of a whole cycle), and the first rung of the ladder. Every case states
// its counts, which main.ts checks before it times anything.

import type { Fleet } from '../../src/fleet/index.ts';
import {
  CapacityType,
  type LedgerMachine,
  MachineState,
  type Need,
  NO_RESOURCES,
  type ResourceVector,
} from '../../src/model/index.ts';
import { type Beginning, Workload } from '../../testing/workload/workload.ts';
import type { ExpectedActions } from '../../testing/workload/workload-planted.ts';
import { loadProfile } from '../profiles/load.ts';
import * as sixArchetypes from './cases-six-archetypes.ts';
import { clusterName, fleetFrom, machine, need, ROTATION, resources, stamped, times } from './fixture.ts';

export interface Counts {
  readonly machines: number;
  readonly needs: number;
  readonly clusters: number;
}

export interface Input {
  readonly fleet: Fleet;
  /** Expected actions of one cycle, where they are known. */
  readonly expected: ExpectedActions | null;
}

export interface Case {
  readonly name: string;
  /** The benchmark it rebuilds, and the published figure. */
  readonly about: string;
  readonly counts: Counts;
  /** Clusters that have reported; null: all. */
  readonly readyClusters: ReadonlySet<string> | null;
  readonly build: (seed: number) => Input;
}

const ZONES = ['a', 'b', 'c'];

/** ShardCycle_Steady: Idle bare metal of five types in three zones, 50 clusters with 1,000 rows of one machine each. */
function shardCycle(idle: number, published: string): Case {
  return plain(
    `shard-cycle-${idle / 1000}k`,
    `ShardCycle_Steady; ${published}`,
    { machines: idle, needs: 50_000, clusters: 50 },
    () => ({
      machines: times(idle, (i) => machine(i, { ...ROTATION[i % 5]!, zone: ZONES[i % 3]! })),
      needs: times(50_000, (n) => {
        const cluster = Math.floor(n / 1000);
        const i = n % 1000;
        const { type, offers } = ROTATION[(cluster + i) % 5]!;
        return need(clusterName(cluster), {
          types: [type],
          priority: 1000 + (i % 10) * 1000,
          pod: offers,
          pods: 1,
          group: `n${i}`,
        });
      }),
    }),
  );
}

/** Machines of one type, gangs of one machine: how fast a domain is chosen when all rows want the same. */
function sameRack(
  name: string,
  about: string,
  idle: number,
  clusters: number,
  type: string,
  offers: ResourceVector,
): Case {
  return plain(name, about, { machines: idle, needs: clusters, clusters }, () => ({
    machines: times(idle, (i) => machine(i, { type, offers, rack: `rack-${i % 8}` })),
    needs: times(clusters, (i) =>
      need(clusterName(i), {
        types: [type],
        priority: 1000,
        pod: offers,
        pods: 1,
        sameRack: true,
        group: `g${i}`,
      }),
    ),
  }));
}

/**
 * The Go reference passes the deficits to its second phase. Here they come from clusters without machines, and those
 * that have the machines have not reported, so that machines are theirs only by stamp: a whole cycle has the same result.
 */
const inversions: Case = {
  ...plain(
    'phase2-inversions',
    'Phase2_ScaleInversions: 100 rows of top priority, five machines short each; nothing published',
    { machines: 100_000, needs: 100, clusters: 20 },
    () => ({
      machines: times(100_000, (i) =>
        machine(i, {
          ...ROTATION[i % 5]!,
          zone: ZONES[i % 3]!,
          state: MachineState.Configured,
          cluster: clusterName(i % 10),
          stamp: stamped(100, 1),
        }),
      ),
      needs: times(100, (i) => {
        const { type, offers } = ROTATION[i % 5]!;
        return need(clusterName(10 + (i % 10)), {
          types: [type],
          priority: 1_000_000,
          pod: offers,
          pods: 5,
          group: `n${i}`,
          penalties: [1, Number.POSITIVE_INFINITY],
        });
      }),
    }),
  ),
  readyClusters: new Set(times(10, (i) => clusterName(10 + i))),
};

/** Per cluster 2,000 machines of each of the five types; a row wants a third of them all, rounded down. */
const THIRD = 0.333 * 2000;
const highDemand = plain(
  'phase3-high-demand',
  'Phase3_HighDemand: nearly everything bound is wanted; 416 ms in the cloud',
  { machines: 500_000, needs: 150, clusters: 50 },
  () => ({
    machines: times(500_000, (i) =>
      machine(i, {
        ...ROTATION[i % 5]!,
        zone: ZONES[i % 3]!,
        state: MachineState.Configured,
        cluster: clusterName(Math.floor(i / 10_000)),
        capacityType: CapacityType.OnDemand,
        price: 1,
        stamp: stamped(100, 1),
      }),
    ),
    needs: times(150, (n) =>
      need(clusterName(Math.floor(n / 3)), {
        types: ROTATION.map(({ type }) => type),
        priority: 1_000_000,
        pod: resources((2 + 16 + 32 + 4) * THIRD, (8 + 32 + 128 + 32) * THIRD, 8 * THIRD),
        pods: 1,
        largestPod: NO_RESOURCES,
        group: `n${n % 3}`,
      }),
    ),
  }),
);

const m29 = plain(
  'phase3-m29',
  'Phase3_M29Shape: 9,000 bound of 10,000 wanted; 255 ms in the cloud',
  { machines: 450_000, needs: 50, clusters: 50 },
  () => ({
    machines: times(450_000, (i) =>
      machine(i, {
        ...ROTATION[0]!,
        zone: ZONES[i % 3]!,
        state: MachineState.Configured,
        cluster: clusterName(Math.floor(i / 9000)),
      }),
    ),
    needs: times(50, (cluster) =>
      need(clusterName(cluster), {
        types: ['a3-highgpu-8g'],
        priority: 1000,
        pod: resources(0, 0, 8),
        pods: 10_000,
      }),
    ),
  }),
);

const acquirable = plain(
  'acquirable-totals',
  'AcquirableTotals_Uber5KShape: one gang compares 30 racks of quota slots; nothing published',
  { machines: 12_000, needs: 1, clusters: 1 },
  () => ({
    machines: times(12_000, (i) =>
      machine(i, {
        type: 'r6i.2xlarge',
        offers: resources(8, 64),
        rack: `rack-${i % 30}`,
        state: MachineState.Speculative,
        price: 1,
      }),
    ),
    needs: [
      need(clusterName(0), {
        types: ['r6i.2xlarge'],
        priority: 1000,
        pod: resources(8, 64),
        pods: 4,
        sameRack: true,
        group: 'g',
      }),
    ],
  }),
);

/** The first rung of the ladder, as testing/workload/workload.ts generates it. */
function uber5k(beginning: Beginning): Case {
  return {
    name: `uber-5k-${beginning}`,
    about: 'realistic catalogue; the reference took 128 to 256 ms with everything bound',
    counts: { machines: 22_500, needs: 7759, clusters: 20 },
    readyClusters: null,
    build: (seed) => {
      const workload = new Workload(loadProfile('uber-5k'), seed, beginning);
      return { fleet: workload.newFleet(), expected: workload.expected };
    },
  };
}

export const CASES: readonly Case[] = [
  uber5k('full'),
  uber5k('quiet'),
  uber5k('cold'),
  shardCycle(1000, 'nothing published'),
  shardCycle(10_000, 'nothing published'),
  shardCycle(50_000, '245 ms on 18 cores, early engine'),
  shardCycle(100_000, '412 ms on 18 cores, early engine'),
  shardCycle(500_000, '2.15 s on 18 cores, early engine'),
  sixArchetypes.realistic50k(false),
  sixArchetypes.realistic50k(true),
  sameRack(
    'take-co-located-50k',
    'TakeCoLocated_Repeated_50K; about 50 s, then 50 ms',
    10_000,
    50_000,
    'c6i.4xlarge',
    resources(4),
  ),
  sixArchetypes.lateRun(),
  sixArchetypes.unaggregated(),
  sixArchetypes.coLocated(),
  sameRack(
    'uber50k-bucket-sized',
    'Phase1_Uber50K_BucketSizedBuckets; 9.41 ms per call',
    100_000,
    20_000,
    'r6i.2xlarge',
    resources(4, 32),
  ),
  inversions,
  highDemand,
  m29,
  acquirable,
];

function plain(
  name: string,
  about: string,
  counts: Counts,
  make: () => { readonly machines: readonly LedgerMachine[]; readonly needs: readonly Need[] },
): Case {
  const build = (): Input => {
    const { machines, needs } = make();
    return { fleet: fleetFrom(machines, needs), expected: null };
  };
  return { name, about, counts, readyClusters: null, build };
}
