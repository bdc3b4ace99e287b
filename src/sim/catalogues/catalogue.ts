// Catalogues: what kinds of workload a fleet runs, how often, how large, and what they ask of a machine. A catalogue
// is plain data; sizing.ts turns it into machine counts, workload.ts into Needs and machines.

export interface PodSize {
  /** How often among workloads of the archetype; only the ratio counts. */
  readonly weight: number;
  readonly cpuMilli: number;
  readonly memoryMi: number;
  readonly gpus: number;
}

/** All pods of one workload in one domain, as a group of so many. */
interface Gang {
  readonly domain: 'rack' | 'zone';
  /** Smallest and largest group. */
  readonly pods: readonly [number, number];
}

interface SpreadHabit {
  /** How likely a workload asks for it. */
  readonly probability: number;
  readonly maxSkew: number;
  /** DoNotSchedule rather than ScheduleAnyway. */
  readonly strict: boolean;
}

export interface Archetype {
  readonly name: string;
  /** How often among workload objects (not pods, not machines); only the ratio counts. */
  readonly weight: number;
  readonly instanceTypes: readonly string[];
  readonly zones: readonly string[];
  readonly sizes: readonly PodSize[];
  /** One of these, drawn per workload. */
  readonly priorities: readonly number[];
  readonly interruptionDollars: number;
  readonly reclamationDollars: number;
  /** Mean life of a pod; 0 lives for ever. */
  readonly lifetimeSeconds: number;
  readonly gang: Gang | null;
  readonly spread: SpreadHabit | null;
  /** Pods on one machine; null: the profile's density, or one where the pods want an accelerator. */
  readonly podsPerMachine: number | null;
  /** Never part of the steady load; only a burst brings it. */
  readonly burstOnly: boolean;
}

/** A kind of supply: what a machine costs an hour and how likely it is taken away within one. */
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

// Price and interruption are flat per tier in the reference's harness: whatever the instance type, hardware that is
// there costs nothing more, an on-demand slot a dollar, a spot slot thirty cents.
export const BARE_METAL: Tier = { capacityType: 'bare-metal', pricePerHour: 0, interruptionProbability: 0 };
export const ON_DEMAND: Tier = {
  capacityType: 'on-demand',
  pricePerHour: 1,
  interruptionProbability: 0.05,
};
export const SPOT: Tier = { capacityType: 'spot', pricePerHour: 0.3, interruptionProbability: 0.3 };

/** An archetype with the common case filled in. */
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
