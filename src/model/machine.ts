// Machines: one record from quota slot to running host and back. The id never changes; the state decides which of the
// other fields are meaningful. lifecycle.ts defines the legal transitions.

import type { ErrorCode, Problem } from './errors.ts';
import { machineSizeProblems } from './machine-limits.ts';
import type { NeedKey } from './need.ts';
import type { Attributes } from './requirement.ts';
import type { ResourceVector } from './resources.ts';

/** Numbers are the wire's. */
export const MachineState = {
  Speculative: 1, // a quota slot: nothing exists, nothing is paid
  Creating: 2,
  Idle: 3, // a running host, not bound to a cluster
  Configuring: 4, // joining a cluster
  Configured: 5, // bound and serving
  Draining: 6, // leaving its cluster
  Deleting: 7, // the host is being returned
  Failed: 8, // the last transition failed; lastError has the reason
} as const;
export type MachineState = (typeof MachineState)[keyof typeof MachineState];

/** Numbers are the wire's. Read by the release hold and the ceiling on spending; it never routes a workload. */
export const CapacityType = { Unspecified: 0, BareMetal: 1, Reserved: 2, OnDemand: 3, Spot: 4 } as const;
export type CapacityType = (typeof CapacityType)[keyof typeof CapacityType];

/** Whether such a machine is paid by the hour, not owned or paid in advance: what the ceiling on spending counts. */
export function isPurchased(capacityType: CapacityType): boolean {
  return capacityType !== CapacityType.BareMetal && capacityType !== CapacityType.Reserved;
}

/** A host by the name of its provider and the provider's own id of it. */
export interface HostRef {
  readonly provider: string;
  readonly ref: string;
}

/** What a machine was bound for, written when it is bound and cleared when it has drained. */
export interface Stamp {
  /** null: never recorded, or lost. Such a stamp does not make its machine a victim. */
  readonly priority: number | null;
  readonly interruptionPenaltyDollars: number;
  readonly reclamationPenaltyDollars: number;
  readonly fingerprint: string;
  readonly group: string;
}

/** The record of one machine, as its provider reports it. */
export interface Machine extends Attributes {
  readonly id: string;
  readonly state: MachineState;
  readonly host: HostRef | null;
  /** The cluster it is bound to; '' when unbound. */
  readonly cluster: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** USD per hour. */
  readonly pricePerHour: number;
  /** Chance of an interruption within an hour, declared by the provider alone. */
  readonly interruptionProbability: number;
  readonly resources: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly labels: ReadonlyMap<string, string>;
  readonly lastError: string;
  readonly stamp: Stamp | null;
  /** The row this machine is on its way to, from the decision until it is bound, reclaimed or released. */
  readonly target: NeedKey | null;
}

/** What the machine offers: `allocatable` as a whole if it names anything, else the base resources. */
export function effectiveAllocatable(machine: Pick<Machine, 'allocatable' | 'resources'>): ResourceVector {
  return machine.allocatable.size > 0 ? machine.allocatable : machine.resources;
}

/** Bound: it counts for its cluster. */
export function isBound(state: MachineState): boolean {
  return state === MachineState.Configured || state === MachineState.Configuring;
}

export function isMachineState(n: number): n is MachineState {
  return Number.isInteger(n) && n >= MachineState.Speculative && n <= MachineState.Failed;
}

export function isCapacityType(n: number): n is CapacityType {
  return Number.isInteger(n) && n >= CapacityType.Unspecified && n <= CapacityType.Spot;
}

type Rule = 'required' | 'forbidden' | 'optional';

/** Which states have a host and which a cluster. Configuring may not yet know its cluster when seen from outside. */
const STRUCTURE: Readonly<Record<MachineState, { readonly host: Rule; readonly cluster: Rule }>> = {
  [MachineState.Speculative]: { host: 'forbidden', cluster: 'forbidden' },
  [MachineState.Creating]: { host: 'forbidden', cluster: 'forbidden' },
  [MachineState.Idle]: { host: 'required', cluster: 'forbidden' },
  [MachineState.Configuring]: { host: 'required', cluster: 'optional' },
  [MachineState.Configured]: { host: 'required', cluster: 'required' },
  [MachineState.Draining]: { host: 'required', cluster: 'required' },
  [MachineState.Deleting]: { host: 'required', cluster: 'forbidden' },
  [MachineState.Failed]: { host: 'optional', cluster: 'optional' },
};

/**
 * Whether a machine has a host, and therefore costs money. The state decides, except for Failed: a machine that failed
 * while it was bought never had a host, and one that failed later may still have it. For a Failed machine the provider's
 * record decides, which names the host for as long as it exists.
 */
export function hasHost({ state, host }: Pick<Machine, 'state' | 'host'>): boolean {
  const { host: rule } = STRUCTURE[state];
  return rule === 'optional' ? host !== null : rule === 'required';
}

/** Every violated invariant of a record, each with its code; an empty list means the record is valid. */
export function machineProblems(machine: Machine, path = ''): readonly Problem[] {
  return [...machineSizeProblems(machine, machine, path), ...machineShapeProblems(machine, path)];
}

/** The problems of a record whose sizes have been checked already. */
export function machineShapeProblems(machine: Machine, path = ''): readonly Problem[] {
  const problems: Problem[] = [];
  const say = (code: ErrorCode, field: string, message: string): void => {
    problems.push({ code, path: path === '' ? field : `${path}.${field}`, message });
  };
  const state = stateName(machine.state);
  const rules = STRUCTURE[machine.state];
  if (machine.id === '') say('BF_MACHINE_ID_EMPTY', 'id', 'The machine has no id.');
  if (rules.host === 'required' && machine.host === null) {
    say('BF_MACHINE_HOST_MISSING', 'host', `A ${state} machine needs a host.`);
  }
  if (rules.host === 'forbidden' && machine.host !== null) {
    say('BF_MACHINE_HOST_FORBIDDEN', 'host', `A ${state} machine cannot have a host.`);
  }
  if (rules.cluster === 'required' && machine.cluster === '') {
    say('BF_MACHINE_CLUSTER_MISSING', 'cluster', `A ${state} machine needs a cluster.`);
  }
  if (rules.cluster === 'forbidden' && machine.cluster !== '') {
    say('BF_MACHINE_CLUSTER_FORBIDDEN', 'cluster', `A ${state} machine cannot be bound to a cluster.`);
  }
  if (machine.state === MachineState.Failed && machine.lastError === '') {
    say('BF_MACHINE_ERROR_MISSING', 'lastError', 'A Failed machine must say what failed.');
  }
  if (!Number.isFinite(machine.pricePerHour) || machine.pricePerHour < 0) {
    say('BF_MACHINE_PRICE', 'pricePerHour', `The price is ${machine.pricePerHour}.`);
  }
  const probability = machine.interruptionProbability;
  if (!(probability >= 0 && probability <= 1)) {
    say('BF_MACHINE_PROBABILITY', 'interruptionProbability', `The probability is ${probability}.`);
  }
  return problems;
}

const STATE_NAMES = new Map<number, string>(Object.entries(MachineState).map(([name, n]) => [n, name]));

/** The name of a state, such as `Idle`. */
export function stateName(state: MachineState): string {
  return STATE_NAMES.get(state)!;
}
