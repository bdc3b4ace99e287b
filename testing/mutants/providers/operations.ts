// Defects of transitions: illegal starts accepted, wrong operation ids, wrong codes. Listed in provider.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import { MachineState } from '../../../src/model/index.ts';
import type { ProviderRpc } from '../../../src/provider/index.ts';
import { Machine, type TransitionAck } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError, status } from '../../../src/wire/index.ts';
import {
  type Change,
  changes,
  inCalls,
  isRefusedWith,
  type Mutant,
  now,
  shown,
  staleToken,
  stateOf,
} from './mutant.ts';
import { TRANSITION_STATES } from './transition-states.ts';

/** Handles every mutating call, with state per provider. */
function handling(make: (kit: ProviderRpc) => (change: Change) => Promise<TransitionAck>): Mutant['build'] {
  return inCalls((kit) => changes(kit, make(kit)));
}

async function settles(kit: ProviderRpc, id: string, state: number): Promise<void> {
  while ((await stateOf(kit, id)) !== state) await sleep(1);
}

/** Errors of the kit under another code. */
function recoded(
  from: status,
  to: status,
  concerns: (change: Change) => boolean = () => true,
): Mutant['build'] {
  return handling(() => async (change) => {
    try {
      return await change.send();
    } catch (error) {
      if (!isRefusedWith(error, from) || !concerns(change)) throw error;
      throw new RpcError(to, (error as Error).message);
    }
  });
}

/** A second Create of a machine that is already created starts over. */
const createsTwice: Mutant['build'] = inCalls((kit) => {
  const until = new Map<string, number>();
  let again = 0;
  const calls = changes(kit, async ({ kind, request, send }) => {
    const { machineId: id } = request;
    const state = kind === 'create' ? await stateOf(kit, id) : undefined;
    const isCreated = state === MachineState.Creating || state === MachineState.Idle;
    const ack = await send();
    if (!isCreated) return ack;
    until.set(id, now() + 50);
    return { ...ack, operationId: `again-${++again}` };
  });
  return shown(calls, (machine) =>
    machine.state === MachineState.Idle && now() < (until.get(machine.id) ?? 0)
      ? { ...machine, state: MachineState.Creating, host: undefined }
      : machine,
  );
});

/** Reads, waits and only then writes: concurrent calls do not see each other. */
const races: Mutant['build'] = handling(() => {
  const underWay = new Map<string, number>();
  let rivals = 0;
  return async ({ kind, request, send }) => {
    const key = `${kind} ${request.machineId}`;
    const others = underWay.get(key) ?? 0;
    underWay.set(key, others + 1);
    try {
      const ack = await send();
      await sleep(0);
      return others === 0 ? ack : { ...ack, operationId: `rival-${++rivals}` };
    } finally {
      underWay.set(key, underWay.get(key)! - 1);
    }
  };
});

const EMPTY_MACHINE: Machine = Machine.decode(new Uint8Array(0));

export const OPERATION_MUTANTS: readonly Mutant[] = [
  {
    name: 'Delete of a Configured machine is accepted',
    area: 'transitions',
    named: ['DeleteOnConfigured', 'B204'],
    build: handling((kit) => async ({ kind, request, send }) => {
      const { machineId: id } = request;
      if (kind !== 'delete' || (await stateOf(kit, id)) !== MachineState.Configured) return await send();
      const ack = await kit.drain({ ...request, gracePeriodSeconds: 0n });
      void settles(kit, id, MachineState.Idle).then(() =>
        kit.delete({ ...request, shardId: '', shardEpoch: 0n, sequenceNumber: 0n }),
      );
      return ack;
    }),
  },
  {
    name: 'Create of a Configured machine is accepted',
    area: 'transitions',
    named: ['B201'],
    build: handling((kit) => async ({ kind, request, send }) => {
      const state = kind === 'create' ? await stateOf(kit, request.machineId) : undefined;
      if (state !== MachineState.Configured) return await send();
      return { operationId: 'nothing-to-do', machine: await kit.get({ id: request.machineId }) };
    }),
  },
  {
    name: 'Configure of a Speculative machine creates it first',
    area: 'transitions',
    named: ['B202'],
    build: inCalls((kit) => ({
      ...kit,
      configure: async (request) => {
        if ((await stateOf(kit, request.machineId)) === MachineState.Speculative) {
          await kit.create({ machineId: request.machineId, shardId: '', shardEpoch: 0n, sequenceNumber: 0n });
          await settles(kit, request.machineId, MachineState.Idle);
        }
        return await kit.configure(request);
      },
    })),
  },
  {
    name: 'operation ids are dropped after completion',
    area: 'transitions',
    named: ['B206', 'B214', 'B306', 'B307', 'B403', 'B406', 'B409', 'B1002'],
    build: handling((kit) => {
      let dropped = 0;
      return async ({ kind, request, send }) => {
        const wasSettled = (await stateOf(kit, request.machineId)) === TRANSITION_STATES[kind].to;
        const ack = await send();
        return wasSettled ? { ...ack, operationId: `new-${++dropped}` } : ack;
      };
    }),
  },
  {
    name: 'one operation id per machine',
    area: 'transitions',
    named: ['B206', 'B214'],
    build: handling(() => async ({ request, send }) => ({
      ...(await send()),
      operationId: request.machineId,
    })),
  },
  {
    name: 'operation ids of different machines are equal',
    area: 'concurrency',
    named: ['B407', 'B1108'],
    build: handling(() => async ({ kind, send }) => ({ ...(await send()), operationId: kind })),
  },
  {
    name: 'Create twice creates twice',
    area: 'transitions',
    named: ['CreateIdempotent', 'B205', 'B206'],
    build: createsTwice,
  },
  {
    name: 'two operation ids under a race',
    area: 'concurrency',
    named: ['B401', 'B402', 'B403', 'B406', 'B409'],
    build: races,
  },
  {
    name: 'acknowledgements without the machine',
    area: 'baseline',
    named: ['FullLifecycle', 'CreateIdempotent', 'B107', 'B407'],
    build: handling(() => async ({ send }) => ({ ...(await send()), machine: undefined })),
  },
  {
    name: 'acknowledgements show the machine as it was before',
    area: 'concurrency',
    named: ['B408'],
    build: handling((kit) => async ({ request, send }) => {
      const state = await stateOf(kit, request.machineId);
      const before = state === undefined ? undefined : await kit.get({ id: request.machineId });
      return { ...(await send()), machine: before };
    }),
  },
  {
    name: 'out-of-place calls are FAILED_PRECONDITION',
    area: 'transitions',
    named: ['DrainOnSpeculative', 'DeleteOnConfigured', 'B201', 'B202', 'B204', 'B311', 'B1203', 'B203'],
    build: recoded(status.INTERNAL, status.FAILED_PRECONDITION),
  },
  {
    name: 'an empty id is NOT_FOUND',
    area: 'transitions',
    named: ['B208', 'B1205'],
    build: recoded(status.INVALID_ARGUMENT, status.NOT_FOUND, ({ request }) => request.machineId === ''),
  },
  {
    name: 'an unknown machine is an empty record',
    area: 'baseline',
    named: ['GetUnknownMachine', 'B207', 'B215'],
    build: inCalls((kit) => ({
      ...kit,
      get: async ({ id }) =>
        (await stateOf(kit, id)) === undefined && id !== '' ? EMPTY_MACHINE : await kit.get({ id }),
    })),
  },
  {
    name: 'a negative token is a stale one',
    area: 'transitions',
    named: ['B211', 'B1201', 'B1204'],
    build: handling(() => async ({ request, send }) => {
      if (request.shardEpoch < 0n || request.sequenceNumber < 0n) throw staleToken();
      return await send();
    }),
  },
  {
    name: 'a large blob is INTERNAL',
    area: 'transitions',
    named: ['B213'],
    build: inCalls((kit) => ({
      ...kit,
      configure: async (request) => {
        if (request.bootstrapBlob.length > 2 ** 20) throw new RpcError(status.INTERNAL, 'out of memory');
        return await kit.configure(request);
      },
    })),
  },
  {
    name: 'a negative grace is FAILED_PRECONDITION',
    area: 'transitions',
    named: ['B210'],
    build: recoded(status.INVALID_ARGUMENT, status.FAILED_PRECONDITION, ({ kind }) => kind === 'drain'),
  },
  {
    name: 'an unknown machine is INTERNAL',
    area: 'transitions',
    named: ['DeleteUnknownMachine', 'B207', 'B215', 'B301', 'B1205'],
    build: recoded(status.NOT_FOUND, status.INTERNAL),
  },
];
