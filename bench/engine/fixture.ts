// Makes the machines, Needs and fleets of the cases of `bench engine` (cases.ts, cases-six-archetypes.ts).

import { Fleet } from '../../src/fleet/index.ts';
import {
  bucketOfDollars,
  CapacityType,
  DEFAULT_DRAIN_SECONDS,
  INSTANCE_TYPE_KEY,
  type LedgerMachine,
  MachineState,
  makeProfile,
  type Need,
  Operator,
  type Profile,
  type Requirement,
  type ResourceVector,
  type Stamp,
  scale,
} from '../../src/model/index.ts';

export const RACK_KEY = 'topology.bigfleet/rack';
export const NOW_MS = Date.UTC(2026, 0, 1);
const GPU = 'nvidia.com/gpu';

/** cpu in cores, memory in GiB, devices. */
export function resources(cpu: number, memoryGi = 0, gpus = 0): ResourceVector {
  const vector = new Map<string, number>();
  if (cpu > 0) vector.set('cpu', Math.round(cpu * 1000));
  if (memoryGi > 0) vector.set('memory', Math.round(memoryGi * 2 ** 30));
  if (gpus > 0) vector.set(GPU, Math.round(gpus));
  return vector;
}

/** The five machine types that cases without a catalogue use in rotation. */
export const ROTATION: readonly { readonly type: string; readonly offers: ResourceVector }[] = [
  { type: 'a3-highgpu-8g', offers: resources(0, 0, 8) },
  { type: 'm6i.large', offers: resources(2, 8) },
  { type: 'c6i.4xlarge', offers: resources(16, 32) },
  { type: 'n2-standard-32', offers: resources(32, 128) },
  { type: 'r6i.xlarge', offers: resources(4, 32) },
];

export interface MachineParts {
  readonly type: string;
  readonly offers: ResourceVector;
  readonly zone?: string;
  readonly rack?: string;
  readonly state?: MachineState;
  readonly cluster?: string;
  readonly price?: number;
  readonly probability?: number;
  readonly capacityType?: CapacityType;
  readonly stamp?: Stamp | null;
}

const labelSets = new Map<string, ReadonlyMap<string, string>>();

function labelsOf(rack: string): ReadonlyMap<string, string> {
  let labels = labelSets.get(rack);
  if (labels === undefined) {
    labels = rack === '' ? new Map<string, string>() : new Map([[RACK_KEY, rack]]);
    labelSets.set(rack, labels);
  }
  return labels;
}

export function machine(number: number, parts: MachineParts): LedgerMachine {
  const { state = MachineState.Idle, offers } = parts;
  const id = `m-${String(number).padStart(7, '0')}`;
  return {
    id,
    state,
    host: state === MachineState.Speculative ? null : { provider: 'bench', ref: id },
    cluster: parts.cluster ?? '',
    instanceType: parts.type,
    zone: parts.zone ?? 'a',
    capacityType: parts.capacityType ?? CapacityType.BareMetal,
    pricePerHour: parts.price ?? 0,
    interruptionProbability: parts.probability ?? 0,
    resources: offers,
    allocatable: offers,
    labels: labelsOf(parts.rack ?? ''),
    lastError: '',
    stamp: parts.stamp ?? null,
    target: null,
    blocked: false,
    idleSinceMs: null,
    drainSeconds: DEFAULT_DRAIN_SECONDS,
    unclaimedSinceMs: null,
  };
}

export interface NeedParts {
  readonly types: readonly string[];
  readonly priority: number;
  /** One pod, and how many of them. */
  readonly pod: ResourceVector;
  readonly pods: number;
  /** min_unit, where it is not the pod. */
  readonly largestPod?: ResourceVector;
  readonly sameRack?: boolean;
  readonly group?: string;
  /** Dollars: what an interruption and the loss of a machine cost. */
  readonly penalties?: readonly [number, number];
}

const profiles = new Map<string, Profile>();

export function profileOf(parts: NeedParts): Profile {
  const { types, priority, sameRack = false, penalties = [8192, 8192] } = parts;
  const key = `${types.join()}/${priority}/${sameRack}/${penalties.join()}`;
  let profile = profiles.get(key);
  if (profile === undefined) {
    const requirements: Requirement[] = [{ key: INSTANCE_TYPE_KEY, operator: Operator.In, values: types }];
    if (sameRack) requirements.push({ key: RACK_KEY, operator: Operator.Same, values: [] });
    profile = makeProfile({
      requirements,
      priority,
      interruptionBucket: bucketOfDollars(penalties[0]),
      reclamationBucket: bucketOfDollars(penalties[1]),
    });
    profiles.set(key, profile);
  }
  return profile;
}

export function need(cluster: string, parts: NeedParts): Need {
  return {
    cluster,
    profile: profileOf(parts),
    group: parts.group ?? '',
    aggregate: scale(parts.pod, parts.pods),
    minUnit: parts.largestPod ?? parts.pod,
    firstSeenMs: NOW_MS - 60_000,
  };
}

/** A stamp that names no row. */
export function stamped(priority: number, penaltyDollars: number): Stamp {
  return {
    priority,
    interruptionPenaltyDollars: penaltyDollars,
    reclamationPenaltyDollars: penaltyDollars,
    fingerprint: '',
    group: '',
  };
}

export function clusterName(number: number): string {
  return `cluster-${String(number).padStart(5, '0')}`;
}

export function fleetFrom(machines: readonly LedgerMachine[], needs: readonly Need[]): Fleet {
  const fleet = new Fleet();
  fleet.machines.load(machines);
  for (const [cluster, rows] of Map.groupBy(needs, (row) => row.cluster)) fleet.demand.replace(cluster, rows);
  return fleet;
}

export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
