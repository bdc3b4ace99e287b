// The demand of `bench economy`: clusters from small to large, each with profiles whose pods have heavy-tailed sizes and
// numbers. Everything follows from the parameters and a seed.

import {
  BUCKET_PINNED,
  BUCKET_UNSPECIFIED,
  makeProfile,
  Operator,
  type Profile,
  type Requirement,
  ZONE_KEY,
} from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { type Amounts, amountsOf } from './amounts.ts';
import { ARCH_KEY, CAPACITY_KEY, GPU_KEY, GPU_PRODUCT } from './catalogue.ts';
import { apportion, logNormal, normal } from './draws.ts';
import type { Parameters } from './parameters.ts';

const STREAM = 102;
/** Reclamation buckets from 0 up to this one: they tell profiles apart that are otherwise equal. */
const RECLAMATION_BUCKETS = 8;

/** Pods of one cluster with one profile. */
export interface PodGroup {
  readonly profile: Profile;
  /** Sizes of its pods. */
  readonly pods: readonly Amounts[];
}

export interface ClusterDemand {
  readonly name: string;
  readonly groups: readonly PodGroup[];
}

export type Demand = readonly ClusterDemand[];

export function podsIn({ groups }: ClusterDemand): number {
  return groups.reduce((sum, { pods }) => sum + pods.length, 0);
}

export function generateDemand(parameters: Parameters, seed: number): Demand {
  const { count, podsPerProfileGrowth, profiles } = parameters.clusters;
  const [fewest, most] = profiles;
  const place = (i: number): number => (count === 1 ? 1 : i / (count - 1));
  const numbers = Array.from({ length: count }, (_, i) => Math.round(fewest * (most / fewest) ** place(i)));
  const pods = apportion(
    parameters.pods,
    numbers.map((groups, i) => groups * podsPerProfileGrowth ** place(i)),
  );
  return numbers.map((groups, i) => {
    const random = new Random(seed, STREAM, i);
    const name = `cluster-${String(i + 1).padStart(2, '0')}`;
    return { name, groups: generateGroups(parameters, random, groups, pods[i]!) };
  });
}

function generateGroups(parameters: Parameters, random: Random, count: number, pods: number): PodGroup[] {
  const withGpus = generateGpuGroups(parameters, random);
  const plain = count - withGpus.length;
  const { sigma } = parameters.profiles.replicas;
  const weights = Array.from({ length: plain }, () => Math.exp(sigma * normal(random)));
  const rest = pods - withGpus.reduce((sum, group) => sum + group.pods.length, 0);
  const groups = [...withGpus];
  const known = new Set(withGpus.map(({ profile }) => profile.fingerprint));
  for (const replicas of apportion(rest, weights)) {
    const profile = newProfile(known, () => plainProfile(parameters, random));
    groups.push({ profile, pods: plainPods(parameters, random, replicas) });
  }
  return groups;
}

function generateGpuGroups(parameters: Parameters, random: Random): PodGroup[] {
  const { clusters, pod, pods, profiles } = parameters.gpu;
  if (!random.chance(clusters)) return [];
  const known = new Set<string>();
  return Array.from({ length: random.between(...profiles) }, () => {
    const profile = newProfile(known, () => {
      const requirements: readonly Requirement[] = [
        { key: GPU_KEY, operator: Operator.In, values: [GPU_PRODUCT] },
      ];
      return makeProfile({ ...ranks(parameters, random), requirements });
    });
    const size = amountsOf(pod.cpu, pod.memory, random.pick(pod.gpus));
    return { profile, pods: Array.from({ length: random.between(...pods) }, () => size) };
  });
}

/** Rows of a cluster differ in their profile; a draw that repeats one is drawn again. */
function newProfile(known: Set<string>, draw: () => Profile): Profile {
  for (;;) {
    const profile = draw();
    if (known.has(profile.fingerprint)) continue;
    known.add(profile.fingerprint);
    return profile;
  }
}

function plainProfile(parameters: Parameters, random: Random): Profile {
  const { profiles, catalogue } = parameters;
  const requirements: Requirement[] = [];
  const require = (key: string, value: string): void => {
    requirements.push({ key, operator: Operator.In, values: [value] });
  };
  if (random.chance(profiles.zonal)) require(ZONE_KEY, random.pick(catalogue.zones));
  const arch = random.next32() / 2 ** 32;
  if (arch < profiles.amd64) require(ARCH_KEY, 'amd64');
  else if (arch < profiles.amd64 + profiles.arm64) require(ARCH_KEY, 'arm64');
  // The requirement as well as the penalty: with the penalty alone such a row may be credited with a spot machine that its
  // cluster happens to have, and would then cost less than the lower bound allows.
  const avoidsSpot = random.chance(profiles.avoidsSpot);
  if (avoidsSpot) require(CAPACITY_KEY, 'on-demand');
  const interruptionBucket = avoidsSpot ? BUCKET_PINNED : BUCKET_UNSPECIFIED;
  return makeProfile({ ...ranks(parameters, random), requirements, interruptionBucket });
}

function ranks({ profiles }: Parameters, random: Random) {
  return {
    priority: random.pick(profiles.priorities),
    reclamationBucket: random.below(RECLAMATION_BUCKETS),
  };
}

function plainPods({ pod, profiles }: Parameters, random: Random, replicas: number): Amounts[] {
  const cpu = logNormal(random, pod.cpu);
  const workloads = Array.from({ length: Math.min(replicas, random.between(...profiles.workloads)) }, () => {
    const cores = logNormal(random, { ...pod.cpu, median: cpu, sigma: profiles.workloadSpread });
    return roundedUp(amountsOf(cores, cores * logNormal(random, pod.memoryPerCpu), 0));
  });
  return Array.from({ length: replicas }, (_, i) => workloads[i % workloads.length]!);
}

/** Sizes as people write them: 10 thousandths of a core, 16 MiB. */
function roundedUp([cpu, memory, gpus]: Amounts): Amounts {
  return [Math.max(10, Math.ceil(cpu / 10) * 10), Math.max(16, Math.ceil(memory / 16) * 16), gpus];
}
