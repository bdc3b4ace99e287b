// Defects in the handling of a machine whose transition failed, hung or completed too late. Listed in provider.ts.

import { MachineState } from '../../../src/model/index.ts';
import type { Machine } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { inCalls, inRecords, type Mutant, shown, stateOf } from './mutant.ts';

const { Speculative, Configured, Draining, Failed } = MachineState;

/** Changes Failed records that meet a condition. */
function whenFailed(
  change: (machine: Machine) => Partial<Machine>,
  concerns: (machine: Machine) => boolean = () => true,
): Mutant['build'] {
  return inRecords(
    () => (machine) =>
      machine.state === Failed && concerns(machine) ? { ...machine, ...change(machine) } : machine,
  );
}

/** Configure brings a Failed machine back. */
const leavesFailed = inCalls((kit) => {
  const back = new Map<string, string>();
  const calls: typeof kit = {
    ...kit,
    configure: async (request) => {
      const { machineId: id, clusterId } = request;
      if ((await stateOf(kit, id)) !== Failed) return await kit.configure(request);
      back.set(id, clusterId);
      return { operationId: 'back-again', machine: await kit.get({ id }) };
    },
  };
  return shown(calls, (machine) => {
    const cluster = back.get(machine.id);
    return cluster === undefined ? machine : { ...machine, state: Configured, cluster, lastError: '' };
  });
});

/** A Configure that succeeds after its timeout still counts. */
const lateCounts: Mutant['build'] = () => {
  const late = new Set<string>();
  return {
    backend: (cloud) => ({
      ...cloud,
      configure: async (machine, binding, operation) => {
        await cloud.configure(machine, binding, operation);
        if (operation.signal.aborted) late.add(machine.id);
      },
    }),
    calls: (kit) =>
      shown(kit, (machine) =>
        late.has(machine.id) && machine.state === Failed
          ? { ...machine, state: Configured, lastError: '' }
          : machine,
      ),
  };
};

/** A host counts as a Ready node as soon as it was configured. */
const neverWaits: Mutant['build'] = () => ({
  backend: (cloud) => ({
    ...cloud,
    configure: async (machine, binding, operation) => {
      if (machine.cluster !== 'fault-readiness-block') await cloud.configure(machine, binding, operation);
    },
  }),
});

export const FAULT_MUTANTS: readonly Mutant[] = [
  {
    name: 'Failed without a reason',
    area: 'faults',
    named: ['B701', 'B702', 'B703', 'B704', 'B706', 'B708', 'B1006'],
    build: whenFailed(() => ({ lastError: '' })),
  },
  {
    name: 'the reason changes with every read',
    area: 'faults',
    named: ['B705', 'B707'],
    build: inRecords(() => {
      let reads = 0;
      return (machine) =>
        machine.state === Failed ? { ...machine, lastError: `${machine.lastError} (${++reads})` } : machine;
    }),
  },
  { name: 'Configure leads out of Failed', area: 'faults', named: ['B705'], build: leavesFailed },
  { name: 'a late success overrides Failed', area: 'faults', named: ['B704'], build: lateCounts },
  {
    name: 'transitions never time out',
    area: 'faults',
    named: ['B703', 'B704', 'B708'],
    build: () => ({ isPatient: true }),
  },
  {
    name: 'a failed Create is Speculative again',
    area: 'faults',
    named: ['B702'],
    build: whenFailed(
      () => ({ state: Speculative, lastError: '' }),
      ({ host }) => host === undefined,
    ),
  },
  {
    name: 'a failed Drain stays Draining',
    area: 'faults',
    named: ['B706'],
    build: whenFailed(
      () => ({ state: Draining, lastError: '' }),
      ({ cluster }) => cluster === 'fault-drain-error',
    ),
  },
  { name: 'Configured before the node is Ready', area: 'faults', named: ['B708'], build: neverWaits },
];
