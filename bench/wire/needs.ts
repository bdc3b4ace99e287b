// Generates the realistic Needs of `bench rollup` (rollup.ts): three to five requirements with lists of instance types
// and zones, sums and units of cpu, memory and local disk, and occasionally a gang. All from one seed.

import type { CapacityNeed } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';

export const CLUSTER = 'prod-eu-west-1-042';

/** Integers from 0 up to but not including `limit`; mulberry32, so that a seed means the same everywhere. */
export type Random = (limit: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

const FAMILIES = ['m6i', 'm7g', 'c6i', 'c7g', 'r6i', 'r7g'];
const SIZES = ['large', 'xlarge', '2xlarge', '4xlarge', '8xlarge'];
const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];
const TEAMS = ['payments', 'search', 'batch', 'ingest', 'ml-training', 'web'];
const IN = 1;
const EXISTS = 3;
const SAME = 5;

export function makeNeed(random: Random): CapacityNeed {
  const pick = <T>(list: readonly T[]) => list[random(list.length)]!;
  const some = (list: readonly string[], least: number) => {
    const from = random(list.length);
    const count = least + random(list.length - least + 1);
    return Array.from({ length: count }, (_, i) => list[(from + i) % list.length]!).sort();
  };
  const family = pick(FAMILIES);
  const types = some(
    SIZES.map((size) => `${family}.${size}`),
    2,
  );
  const requirements: CapacityNeed['requirements'][number][] = [
    { key: 'node.kubernetes.io/instance-type', operator: IN, values: types },
    { key: 'topology.kubernetes.io/zone', operator: IN, values: some(ZONES, 1) },
    { key: 'example.com/team', operator: IN, values: [pick(TEAMS)] },
  ];
  if (random(3) === 0) requirements.push({ key: 'example.com/dedicated', operator: EXISTS, values: [] });
  const isGang = random(8) === 0;
  if (isGang) requirements.push({ key: 'topology.kubernetes.io/zone', operator: SAME, values: [] });
  const pods = 1 + random(200);
  const cpu = 1 + random(16);
  const memory = cpu * (2 + random(7));
  const disk = 10 + random(90);
  return {
    requirements,
    aggregateResources: new Map([
      ['cpu', `${cpu * pods}`],
      ['memory', `${memory * pods}Gi`],
      ['ephemeral-storage', `${disk * pods}Gi`],
    ]),
    priority: random(10) * 100_000,
    spread:
      random(4) === 0
        ? [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1, whenUnsatisfiable: 1 }]
        : [],
    interruptionPenaltyBucket: random(28) as CapacityNeed['interruptionPenaltyBucket'],
    reclamationPenaltyBucket: random(28) as CapacityNeed['reclamationPenaltyBucket'],
    minUnit: new Map([
      ['cpu', `${cpu}`],
      ['memory', `${memory}Gi`],
      ['ephemeral-storage', `${disk}Gi`],
    ]),
    group: isGang ? `topology.kubernetes.io/zone\0job=train-${random(1_000_000)},;` : '',
  };
}

/** Encoded as an operator would, with the entries of every map in the order `random` gives. */
export function encodeRollup(needs: readonly CapacityNeed[], timestamp: bigint, random?: Random): Uint8Array {
  const inSomeOrder = <K, V>(map: Map<K, V>) =>
    random === undefined ? map : new Map(shuffled([...map], random));
  return ClusterCapacityNeeds.encode({
    clusterId: CLUSTER,
    timestampUnixNanos: timestamp,
    needs: needs.map((need) => ({
      ...need,
      aggregateResources: inSomeOrder(need.aggregateResources),
      minUnit: inSomeOrder(need.minUnit),
    })),
    nodeFacts: undefined,
  }).finish();
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = random(i + 1);
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}
