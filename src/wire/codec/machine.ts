// Machines: wire ↔ model. A bad record is refused alone: its neighbours in the List are other machines, and the last
// good record of the bad one stays in force. Used by the provider client for answers of Get and List.

import {
  excerpt,
  isCapacityType,
  isMachineState,
  type Machine,
  MachineLimits,
  machineShapeProblems,
  machineSizeProblems,
  ok,
  type Problem,
  type Result,
  refused,
} from '../../model/index.ts';
import type { MachineList, Machine as WireMachine } from '../gen/bigfleet/v1alpha1/provider.ts';
import { resourcesFromWire, resourcesToWire } from './need.ts';
import { stampFromMetadata, stampToMetadata } from './stamp.ts';

const NO_AMOUNTS: ReadonlyMap<string, string> = new Map();

export interface MachinesFromWire {
  readonly machines: readonly Machine[];
  /** Why single records were left out; paths start with the record's place and id. */
  readonly problems: readonly Problem[];
}

export function machinesFromWire(list: MachineList): MachinesFromWire {
  const machines: Machine[] = [];
  const problems: Problem[] = [];
  for (const [i, wire] of list.machines.entries()) {
    const machine = machineFromWire(wire, `machines[${i}](${excerpt(wire.id)})`);
    if (machine.ok) machines.push(machine.value);
    else problems.push(...machine.problems);
  }
  return { machines, problems };
}

/** One record, or every reason why it is impossible. The target is the shard's own knowledge and starts empty. */
export function machineFromWire(wire: WireMachine, path: string): Result<Machine> {
  const { state, capacityType } = wire;
  if (!isMachineState(state)) {
    const code = Number(state) === 0 ? 'BF_MACHINE_STATE_UNSPECIFIED' : 'BF_MACHINE_STATE_UNKNOWN';
    return refused([{ code, path: `${path}.state`, message: `The state number is ${Number(state)}.` }]);
  }
  const amounts = {
    resources: wire.resources?.resources ?? NO_AMOUNTS,
    allocatable: wire.allocatable?.resources ?? NO_AMOUNTS,
  };
  // First: nothing of a record that is too large is converted, and each of its names could become a problem of its own.
  const tooLarge = machineSizeProblems(wire, amounts, path);
  if (tooLarge.length > 0) return refused(tooLarge);
  const problems: Problem[] = [];
  if (!isCapacityType(capacityType)) {
    const message = `The capacity type number is ${Number(capacityType)}.`;
    problems.push({ code: 'BF_MACHINE_CAPACITY_TYPE_UNKNOWN', path: `${path}.capacity_type`, message });
  }
  const resources = resourcesFromWire(amounts.resources, 'down', `${path}.resources`, problems);
  const allocatable = resourcesFromWire(amounts.allocatable, 'down', `${path}.allocatable`, problems);
  const stamp = stampFromMetadata(wire.shardMetadata);
  const machine: Machine = {
    id: wire.id,
    state,
    // Two empty strings are how some senders spell "no host".
    host: wire.host === undefined || (wire.host.provider === '' && wire.host.ref === '') ? null : wire.host,
    cluster: wire.cluster,
    instanceType: wire.instanceType,
    zone: wire.zone,
    capacityType,
    pricePerHour: wire.pricePerHour,
    interruptionProbability: wire.interruptionProbability,
    resources,
    allocatable,
    labels: wire.labels,
    lastError: excerpt(wire.lastError, MachineLimits.lastError),
    stamp,
    target: null,
  };
  problems.push(...machineShapeProblems(machine, path));
  return problems.length > 0 ? refused(problems) : ok(machine);
}

export function machineToWire(machine: Machine): WireMachine {
  return {
    id: machine.id,
    state: machine.state,
    host: machine.host ?? undefined,
    instanceType: machine.instanceType,
    zone: machine.zone,
    capacityType: machine.capacityType,
    pricePerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    resources: { resources: resourcesToWire(machine.resources) },
    labels: new Map(machine.labels),
    lastError: machine.lastError,
    allocatable:
      machine.allocatable.size > 0 ? { resources: resourcesToWire(machine.allocatable) } : undefined,
    cluster: machine.cluster,
    shardMetadata: machine.stamp === null ? new Map() : stampToMetadata(machine.stamp),
  };
}
