// Defects of records: fields that appear too early, persist too long, are missing, wrong or changed on the way. Listed
// in provider.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import { CapacityType, MachineState } from '../../../src/model/index.ts';
import type { Machine } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError, status } from '../../../src/wire/index.ts';
import { inCalls, inRecords, type Mutant, shown } from './mutant.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting } = MachineState;

const HOST = { provider: 'instant', ref: 'reserved' };
/** Number of reads for which stale data remains visible. Reads, not time: a busy computer must not hide a defect. */
const LINGER_READS = 3;

/** A record changed in some state. */
function inState(state: number, change: (machine: Machine) => Partial<Machine>): Mutant['build'] {
  return inRecords(
    () => (machine) => (machine.state === state ? { ...machine, ...change(machine) } : machine),
  );
}

function inAll(change: (machine: Machine) => Partial<Machine>): Mutant['build'] {
  return inRecords(() => (machine) => ({ ...machine, ...change(machine) }));
}

/** Idle after a Drain, a machine still shows part of its binding for a few reads. */
function lingers(part: (bound: Machine) => Partial<Machine>): Mutant['build'] {
  return inRecords(() => {
    const bound = new Map<string, { readonly record: Machine; reads: number }>();
    return (machine) => {
      if (machine.state === Configured || machine.state === Draining) {
        bound.set(machine.id, { record: machine, reads: 0 });
      }
      const last = bound.get(machine.id);
      if (machine.state !== Idle || last === undefined) return machine;
      return ++last.reads <= LINGER_READS ? { ...machine, ...part(last.record) } : machine;
    };
  });
}

function cutAtNul(text: string): string {
  return text.split('\u0000')[0]!;
}

/** Every second read of a settled machine shows it in transition. */
const movesByItself = inRecords(() => {
  const settled = new Map<string, { readonly state: number; reads: number }>();
  return (machine) => {
    if (machine.state !== Idle && machine.state !== Configured) return machine;
    const last = settled.get(machine.id);
    if (last?.state !== machine.state) {
      settled.set(machine.id, { state: machine.state, reads: 1 });
      return machine;
    }
    const isMoving = ++last.reads % 2 === 0;
    return isMoving ? { ...machine, state: machine.state === Idle ? Deleting : Draining } : machine;
  };
});

/** Create takes long enough to be observed, and shows as a Configure. */
const createsAsConfigure: Mutant['build'] = () => ({
  backend: (cloud) => ({
    ...cloud,
    create: async (machine, operation) => {
      await sleep(20);
      return await cloud.create(machine, operation);
    },
  }),
  calls: (kit) =>
    shown(kit, (machine) => (machine.state === Creating ? { ...machine, state: Configuring } : machine)),
});

/** Keeps a reference to the caller's map instead of a copy. */
const sharesMap = inCalls((kit) => {
  const sent = new Map<string, Map<string, string>>();
  const calls: typeof kit = {
    ...kit,
    configure: async (request) => {
      const ack = await kit.configure(request);
      sent.set(request.machineId, request.shardMetadata);
      return ack;
    },
  };
  return shown(calls, (machine) => {
    const map = sent.get(machine.id);
    const isBound = machine.state === Configuring || machine.state === Configured;
    return map !== undefined && isBound ? { ...machine, shardMetadata: map } : machine;
  });
});

/** Merges new metadata into the old instead of replacing it. */
const addsUp = inRecords(() => {
  const all = new Map<string, Map<string, string>>();
  return (machine) => {
    if (machine.state !== Configured) return machine;
    const known = all.get(machine.id) ?? new Map<string, string>();
    const shardMetadata = new Map([...known, ...machine.shardMetadata]);
    all.set(machine.id, shardMetadata);
    return { ...machine, shardMetadata };
  };
});

/** A deleted machine is gone for good instead of Speculative again. */
const vanishes = inCalls((kit) => {
  const deleted = new Set<string>();
  const isGone = ({ id, state }: Machine) => deleted.has(id) && state === Speculative;
  return {
    ...kit,
    delete: async (request) => {
      const ack = await kit.delete(request);
      deleted.add(request.machineId);
      return ack;
    },
    get: async (request) => {
      const machine = await kit.get(request);
      if (isGone(machine)) throw new RpcError(status.NOT_FOUND, 'no such machine');
      return machine;
    },
    list: async (filter) => {
      const { machines, revision } = await kit.list(filter);
      return { machines: machines.filter((machine) => !isGone(machine)), revision };
    },
  };
});

export const RECORD_MUTANTS: readonly Mutant[] = [
  {
    name: 'the host is shown while Creating',
    area: 'fields',
    named: ['B803'],
    build: inState(Creating, () => ({ host: HOST })),
  },
  {
    name: 'no host at Idle',
    area: 'fields',
    named: ['B107', 'B803', 'B805'],
    build: inState(Idle, () => ({ host: undefined })),
  },
  {
    name: 'the host stays after Delete',
    area: 'lifecycle',
    named: ['B109', 'B807'],
    build: inRecords(() => {
      const hosts = new Map<string, Machine['host']>();
      return (machine) => {
        if (machine.state === Idle) hosts.set(machine.id, machine.host);
        return machine.state === Speculative ? { ...machine, host: hosts.get(machine.id) } : machine;
      };
    }),
  },
  {
    name: 'the host gets another provider when it is bound',
    area: 'fields',
    named: ['B805'],
    build: inState(Configured, ({ host }) => ({ host: { ref: host?.ref ?? '', provider: 'other' } })),
  },
  {
    name: 'a deleted machine is gone',
    area: 'lifecycle',
    named: ['FullLifecycle', 'B109', 'B310', 'B409', 'B807', 'B1105'],
    build: vanishes,
  },
  {
    name: 'the cluster is cleared late',
    area: 'lifecycle',
    named: ['MetadataAndBindingClearOnDrain', 'B101', 'B106', 'B404'],
    build: lingers(({ cluster }) => ({ cluster })),
  },
  {
    name: 'metadata is cleared late',
    area: 'metadata',
    named: ['MetadataAndBindingClearOnDrain', 'B101', 'B502', 'B1104'],
    build: lingers(({ shardMetadata }) => ({ shardMetadata })),
  },
  {
    name: 'the cluster is shown from Configured on only',
    area: 'lifecycle',
    named: ['B106'],
    build: inState(Configuring, () => ({ cluster: '' })),
  },
  {
    name: 'metadata is shown from Configured on only',
    area: 'metadata',
    named: ['B504'],
    build: inState(Configuring, () => ({ shardMetadata: new Map() })),
  },
  {
    name: 'a settled machine moves by itself',
    area: 'lifecycle',
    named: ['B108', 'DrainGraceTimeout', 'B104', 'B107', 'B1109'],
    build: movesByItself,
  },
  {
    name: 'Create passes through Configuring',
    area: 'baseline',
    named: ['TransitionalStateObservability', 'B105'],
    build: createsAsConfigure,
  },
  {
    name: 'Configure passes through Creating',
    area: 'lifecycle',
    named: ['B103', 'B105'],
    build: inState(Configuring, () => ({ state: Creating, host: undefined, cluster: '' })),
  },
  {
    name: 'metadata is truncated at NUL',
    area: 'metadata',
    named: ['MetadataEchoedOnGetAndList', 'B501'],
    build: inAll(({ shardMetadata }) => ({
      shardMetadata: new Map(Array.from(shardMetadata, ([key, value]) => [cutAtNul(key), cutAtNul(value)])),
    })),
  },
  {
    name: 'metadata values are trimmed',
    area: 'metadata',
    named: ['MetadataUnknownKeysPreservedVerbatim', 'B501', 'B1202'],
    build: inAll(({ shardMetadata }) => ({
      shardMetadata: new Map(Array.from(shardMetadata, ([key, value]) => [key, value.trim()])),
    })),
  },
  {
    name: 'large metadata is truncated silently',
    area: 'metadata',
    named: ['B209', 'B503'],
    build: inAll(({ shardMetadata }) => ({ shardMetadata: new Map([...shardMetadata].slice(0, 100)) })),
  },
  { name: 'metadata is shared with the caller', area: 'metadata', named: ['B505'], build: sharesMap },
  { name: 'metadata adds up over bindings', area: 'metadata', named: ['B502'], build: addsUp },
  { name: 'no zone', area: 'fields', named: ['B806', 'B1101'], build: inAll(() => ({ zone: '' })) },
  {
    name: 'spot without a probability',
    area: 'fields',
    named: ['B802', 'B1101'],
    build: inAll(({ capacityType, interruptionProbability }) => ({
      interruptionProbability: capacityType === CapacityType.Spot ? 0 : interruptionProbability,
    })),
  },
  {
    name: 'a price below zero',
    area: 'fields',
    named: ['CostFieldBounds', 'B802', 'B1101'],
    build: inAll(() => ({ pricePerHour: -1 })),
  },
  {
    name: 'the instance type is a label',
    area: 'fields',
    named: ['LabelShape', 'B801', 'B1101'],
    build: inAll(({ instanceType, labels }) => ({
      instanceType: '',
      labels: new Map([...labels, ['instance-type', instanceType]]),
    })),
  },
  {
    name: 'sizes are words',
    area: 'fields',
    named: ['B804'],
    build: inAll(() => ({ allocatable: { resources: new Map([['cpu', 'four']]) } })),
  },
];
