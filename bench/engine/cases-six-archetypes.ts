// Cases of `bench engine` that cases.ts lists: inputs with the older six-archetype catalogue, and the co-located shape
// of the Go reference implementation's own benchmark gate.

import { catalogueOf } from '../../src/demo/catalogues/index.ts';
import { type LedgerMachine, MachineState, type Need } from '../../src/model/index.ts';
import type { Case } from './cases.ts';
import { clusterName, fleetFrom, machine, need, resources, times } from './fixture.ts';

const { Configured, Idle, Speculative } = MachineState;
const SIX = catalogueOf('six-archetypes')!.archetypes;
const WEIGHTS = SIX.map(({ weight }) => weight);
const WEIGHT_SUM = WEIGHTS.reduce((sum, weight) => sum + weight, 0);

/** The archetype of the i-th of `count` machines or rows, by weight: the first 5 % are training, and so on. */
function archetypeAt(i: number, count: number): number {
  let left = Math.floor((i * WEIGHT_SUM) / count);
  for (const [index, weight] of WEIGHTS.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return WEIGHTS.length - 1;
}

/** One pod of an archetype is one machine: its first size. */
function unitOf(archetype: number): ReturnType<typeof resources> {
  const { cpuMilli, memoryMi, gpus } = SIX[archetype]!.sizes[0]!;
  return resources(cpuMilli / 1000, memoryMi / 1024, gpus);
}

function supply(from: number, count: number, state: MachineState, cluster = ''): LedgerMachine[] {
  return times(count, (i) => {
    const archetype = archetypeAt(i, count);
    const { instanceTypes, zones } = SIX[archetype]!;
    return machine(from + i, {
      type: instanceTypes[i % instanceTypes.length]!,
      offers: unitOf(archetype),
      zone: zones[i % zones.length]!,
      rack: `${SIX[archetype]!.name}-rack-${i % 8}`,
      state,
      cluster,
      price: state === Speculative ? 1 : 0,
    });
  });
}

function demand(cluster: number, i: number, count: number, pods: number, sameRack: boolean): Need {
  const archetype = archetypeAt(i, count);
  const { instanceTypes, priorities, interruptionDollars, reclamationDollars } = SIX[archetype]!;
  return need(clusterName(cluster), {
    types: instanceTypes,
    priority: priorities[i % priorities.length]!,
    pod: unitOf(archetype),
    pods,
    sameRack,
    group: `n${i}`,
    penalties: [interruptionDollars, reclamationDollars],
  });
}

/** Phase1_Realistic_50K, and its variant in which every row asks for one rack. */
export function realistic50k(sameRack: boolean): Case {
  return {
    name: sameRack ? 'realistic-50k-all-same' : 'realistic-50k',
    about: sameRack
      ? 'Phase1_Realistic_50K_AllSame; nothing published'
      : 'Phase1_Realistic_50K; 22 ms on 18 cores, 8.19 s in the cloud',
    counts: { machines: 60_000, needs: 50_000, clusters: 50 },
    readyClusters: null,
    build: () => {
      const needs = times(50_000, (n) => demand(Math.floor(n / 1000), n % 1000, 1000, 1, sameRack));
      return { fleet: fleetFrom(supply(0, 60_000, Idle), needs), expected: null };
    },
  };
}

/** 20 clusters with 250 machines each, 1,000 Idle, 12,000 quota slots. */
function uber5kSupply(): LedgerMachine[] {
  const bound = times(20, (cluster) => supply(cluster * 250, 250, Configured, clusterName(cluster)));
  return [...bound.flat(), ...supply(5000, 1000, Idle), ...supply(6000, 12_000, Speculative)];
}

/** Phase1_Uber5K_LateRun: few, large rows. */
export function lateRun(): Case {
  return {
    name: 'uber5k-late-run',
    about: 'Phase1_Uber5K_LateRun; 0.121 ms on 18 cores',
    counts: { machines: 18_000, needs: 160, clusters: 20 },
    readyClusters: null,
    build: () => {
      const needs = times(160, (n) => demand(Math.floor(n / 8), n % 8, 8, 3125, false));
      return { fleet: fleetFrom(uber5kSupply(), needs), expected: null };
    },
  };
}

/** Phase1_Uber5K_Unaggregated: the same supply, a row per pod. */
export function unaggregated(): Case {
  return {
    name: 'uber5k-unaggregated',
    about: 'Phase1_Uber5K_Unaggregated; nothing published',
    counts: { machines: 18_000, needs: 250_000, clusters: 20 },
    readyClusters: null,
    build: () => {
      const needs = times(250_000, (n) => demand(Math.floor(n / 12_500), n % 12_500, 12_500, 1, false));
      return { fleet: fleetFrom(uber5kSupply(), needs), expected: null };
    },
  };
}

const TINY = { type: 'm6i.large', pod: resources(0.4, 500 / 1024), perMachine: 100 };
const SERVICE = { type: 'm6i.xlarge', pod: resources(2.2, 8500 / 1024), perMachine: 10 };
const CACHE = { type: 'r6i.2xlarge', pod: resources(4, 32), perMachine: 10 };
const TRAINING = { type: 'a3-highgpu-8g', pod: resources(64, 0, 8), perMachine: 1 };
type Kind = typeof TINY;

function offersOf({ pod, perMachine }: Kind): ReturnType<typeof resources> {
  return new Map([...pod].map(([name, units]) => [name, units * perMachine]));
}

/** Phase1_Uber5K_CoLocated, the gate of the Go reference: 98 % of the rows ask for one rack, zone a only. */
export function coLocated(): Case {
  return {
    name: 'uber5k-co-located',
    about: 'Phase1_ and Phase3_Uber5K_CoLocated; nothing published',
    counts: { machines: 18_000, needs: 2580, clusters: 20 },
    readyClusters: null,
    build: () => {
      // Machines of each kind are placed in blocks of eight over twelve racks.
      const placed = new Map<Kind, number>();
      const machines: LedgerMachine[] = [];
      const add = (kind: Kind, state: MachineState, cluster: string): void => {
        const i = placed.get(kind) ?? 0;
        placed.set(kind, i + 1);
        machines.push(
          machine(machines.length, {
            type: kind.type,
            offers: offersOf(kind),
            rack: `${kind.type}-rack-${Math.floor(i / 8) % 12}`,
            state,
            cluster,
            price: state === Speculative ? 1 : 0,
          }),
        );
      };
      const mix: readonly (readonly [Kind, number])[] = [
        [TINY, 175],
        [SERVICE, 30],
        [CACHE, 30],
        [TRAINING, 15],
      ];
      for (let cluster = 0; cluster < 20; cluster++) {
        for (const [kind, count] of mix) {
          for (let i = 0; i < count; i++) add(kind, Configured, clusterName(cluster));
        }
      }
      const rotation = [TINY, CACHE, TRAINING];
      for (let i = 0; i < 1000; i++) add(rotation[i % 3]!, Idle, '');
      for (let i = 0; i < 12_000; i++) add(rotation[i % 3]!, Speculative, '');
      const needs = times(20, (cluster) => rowsOf(clusterName(cluster))).flat();
      return { fleet: fleetFrom(machines, needs), expected: null };
    },
  };
}

function rowsOf(cluster: string): Need[] {
  const row = (kind: Kind, priority: number, pods: number, group = ''): Need =>
    need(cluster, { types: [kind.type], pod: kind.pod, priority, pods, group, sameRack: group !== '' });
  return [
    row(TINY, 100, 17_500),
    row(SERVICE, 1000, 3000),
    ...times(95, (i) => row(CACHE, 1000, 4, `cache-${i}`)),
    ...times(32, (i) => row(TRAINING, 1000, 5, `training-${i}`)),
  ];
}
