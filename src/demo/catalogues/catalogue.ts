// Catalogues: the kinds of workload of a fleet, with frequency, size and constraints on machines. A catalogue is plain
// data, from which demand/average-demand.ts plans the demand of the demo, and testing/workload generates the fleets of
// benchmarks.

export interface PodSize {
  /** Frequency among the workloads of the archetype; only the ratio counts. */
  readonly weight: number;
  readonly cpuMilli: number;
  readonly memoryMi: number;
  readonly gpus: number;
}

/** All pods of one workload form a group in one domain. */
interface Gang {
  readonly domain: 'rack' | 'zone';
  /** Smallest and largest group, in pods. */
  readonly pods: readonly [number, number];
}

interface SpreadHabit {
  /** Probability that a workload asks for it. */
  readonly probability: number;
  readonly maxSkew: number;
  /** DoNotSchedule rather than ScheduleAnyway. */
  readonly strict: boolean;
}

export interface Archetype {
  readonly name: string;
  /** Frequency among workload objects (not pods, not machines); only the ratio counts. */
  readonly weight: number;
  readonly instanceTypes: readonly string[];
  readonly zones: readonly string[];
  readonly sizes: readonly PodSize[];
  /** One of these, drawn per workload. */
  readonly priorities: readonly number[];
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
  /** Mean life of a pod; 0: unlimited. */
  readonly lifetimeSeconds: number;
  readonly gang: Gang | null;
  readonly spread: SpreadHabit | null;
  /** Pods on one machine; null: the profile's density, or one where the pods want an accelerator. */
  readonly podsPerMachine: number | null;
  /** Not part of the steady load; appears only in a burst. */
  readonly burstOnly: boolean;
}

/** A kind of supply: price per hour and interruption probability per hour. */
export interface Tier {
  readonly capacityType: 'bare-metal' | 'on-demand' | 'spot';
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
}

export interface Catalogue {
  readonly name: string;
  readonly archetypes: readonly Archetype[];
  /** Machines that exist: bound and Idle ones. */
  readonly owned: Tier;
  /** Quota slots, in equal parts. */
  readonly slots: readonly Tier[];
}

const ZONES: readonly string[] = ['a', 'b', 'c'];

// Price and interruption are flat per tier in the reference's harness, whatever the instance type: existing hardware
// costs nothing more, an on-demand slot one dollar, a spot slot thirty cents.
export const BARE_METAL: Tier = { capacityType: 'bare-metal', pricePerHour: 0, interruptionProbability: 0 };
export const ON_DEMAND: Tier = {
  capacityType: 'on-demand',
  pricePerHour: 1,
  interruptionProbability: 0.05,
};
export const SPOT: Tier = { capacityType: 'spot', pricePerHour: 0.3, interruptionProbability: 0.3 };

/** An archetype with defaults for the common case. */
export function archetype(
  parts: Pick<Archetype, 'name' | 'weight' | 'instanceTypes' | 'sizes' | 'priorities'> & Partial<Archetype>,
): Archetype {
  return {
    zones: ZONES,
    interruptionDollars: 0,
    reclamationDollars: 0,
    lifetimeSeconds: 0,
    gang: null,
    spread: null,
    podsPerMachine: null,
    burstOnly: false,
    ...parts,
  };
}

/** A pod size; memory in MiB. */
export function size(weight: number, cpuMilli: number, memoryMi: number, gpus = 0): PodSize {
  return { weight, cpuMilli, memoryMi, gpus };
}

/** MiB in a GiB. */
export const GI = 1024;

/** Pods of an archetype that one machine holds. */
export function podsPerMachine(of: Archetype, density: number): number {
  return of.podsPerMachine ?? (of.sizes.some(({ gpus }) => gpus > 0) ? 1 : density);
}
