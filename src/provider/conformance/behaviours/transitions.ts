// Behaviours of transitions and error codes, listed by harness/registry.ts: calls in a wrong state, repeated calls,
// unknown machines, and arguments at their bounds.

import { status } from '@grpc/grpc-js';
import { MachineState } from '../../../model/index.ts';
import { type Behaviour, inArea } from '../harness/behaviour.ts';
import type { AckReply } from '../harness/calls.ts';
import {
  accepted,
  answersWith,
  differ,
  fenced,
  hasState,
  isInvalidArgument,
  isUnbound,
  refused,
  same,
  sameMetadata,
  unfenced,
} from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { MAX_INT64 } from './random-tokens.ts';

const behaviour = inArea('transitions', 'core', 'core');
const { Speculative, Idle, Configured } = MachineState;

const OUT_OF_PLACE: readonly Behaviour[] = [
  behaviour('B201', 'Create of a Configured machine is refused', async (trial) => {
    const { id, binding } = await trial.configured();
    refused('Create of a Configured machine', await trial.calls.create(id));
    await trial.stays(id, Configured, (machine) => same('its cluster', binding.cluster, machine.cluster));
  }),
  behaviour('B202', 'Configure of a Speculative machine is refused', async (trial) => {
    const id = await trial.speculative();
    const binding = trial.binding({ metadata: new Map([['example.com/leak', 'x']]) });
    refused('Configure of a Speculative machine', await trial.calls.configure(id, binding));
    await trial.stays(id, Speculative, (machine) => isUnbound('the Speculative machine', machine));
  }),
  behaviour('B203', 'Drain of an Idle machine changes nothing', async (trial) => {
    const id = await trial.idle();
    unfenced('Drain of an Idle machine', await trial.calls.drain(id, 5));
    await trial.stays(id, Idle);
  }),
  behaviour(
    'B204',
    'Delete of a Speculative machine changes nothing, of a Configured one is refused',
    async (trial) => {
      const id = await trial.speculative();
      unfenced('Delete of a Speculative machine', await trial.calls.delete(id));
      await trial.stays(id, Speculative);
      const bound = await trial.configured();
      refused('Delete of a Configured machine', await trial.calls.delete(bound.id));
      await trial.stays(bound.id, Configured, (machine) =>
        same('its cluster', bound.binding.cluster, machine.cluster),
      );
    },
    'cloud',
  ),
];

const REPEATED: readonly Behaviour[] = [
  behaviour('B205', 'a repeated call starts nothing', async (trial) => {
    const { id, binding } = await trial.configured();
    const again = accepted('Configure again', await trial.calls.configure(id, binding));
    hasState('the snapshot of the second Configure', again.machine, Configured);
    await trial.stays(id, Configured);
    const other = await trial.idle();
    const created = accepted('Create again', await trial.calls.create(other));
    hasState('the snapshot of the second Create', created.machine, Idle);
    await trial.stays(other, Idle);
  }),
  behaviour('B206', 'an operation keeps its id after it has settled', async (trial) => {
    const id = await trial.speculative();
    const create = accepted('Create', await trial.calls.create(id));
    await trial.settles(id, Idle);
    const createAgain = accepted('Create again', await trial.calls.create(id));
    same('the operation id of the second Create', create.operationId, createAgain.operationId);
    const binding = trial.binding();
    const configure = accepted('Configure', await trial.calls.configure(id, binding));
    await trial.settles(id, Configured);
    const configureAgain = accepted('Configure again', await trial.calls.configure(id, binding));
    same('the operation id of the second Configure', configure.operationId, configureAgain.operationId);
    differ('operation ids of Create and Configure', [create.operationId, configure.operationId]);
  }),
  behaviour('B214', 'every new transition has a new operation id', async (trial) => {
    const id = await trial.speculative();
    const ids = [accepted('Create', await trial.calls.create(id)).operationId];
    await trial.settles(id, Idle);
    for (let round = 0; round < 2; round++) {
      const configure = accepted('Configure', await trial.calls.configure(id, trial.binding()));
      await trial.settles(id, Configured);
      const drain = accepted('Drain', await trial.calls.drain(id, 5));
      await trial.settles(id, Idle, trial.timings.drainMs);
      ids.push(configure.operationId, drain.operationId);
    }
    differ('operation ids of Create, Configure, Drain, Configure, Drain', ids);
    const again = accepted('Drain again', await trial.calls.drain(id, 5));
    same('the operation id of the repeated Drain', ids.at(-1), again.operationId);
  }),
];

const UNKNOWN_MACHINE: readonly Behaviour[] = [
  behaviour('B207', 'calls about an unknown machine are NOT_FOUND', async (trial) => {
    const id = trial.ghost();
    answersWith('Create', await trial.calls.create(id), status.NOT_FOUND);
    answersWith('Configure', await trial.calls.configure(id, trial.binding()), status.NOT_FOUND);
    answersWith('Drain', await trial.calls.drain(id, 5), status.NOT_FOUND);
    answersWith('Get', await trial.calls.get(id), status.NOT_FOUND);
  }),
  behaviour('B208', 'calls without a machine id are INVALID_ARGUMENT', async (trial) => {
    answersWith('Get', await trial.calls.get(''), status.INVALID_ARGUMENT);
    answersWith('Create', await trial.calls.create(''), status.INVALID_ARGUMENT);
    answersWith('Configure', await trial.calls.configure('', trial.binding()), status.INVALID_ARGUMENT);
    answersWith('Drain', await trial.calls.drain('', 5), status.INVALID_ARGUMENT);
  }),
  behaviour(
    'B215',
    'Get and Delete of an unknown machine are NOT_FOUND',
    async (trial) => {
      const id = trial.ghost();
      answersWith('Get', await trial.calls.get(id), status.NOT_FOUND);
      answersWith('Delete', await trial.calls.delete(id), status.NOT_FOUND, status.UNIMPLEMENTED);
    },
    'cloud',
  ),
];

const EDGES: readonly Behaviour[] = [
  behaviour('B209', '512 keys of 1 KiB are kept exactly, or refused cleanly', async (trial) => {
    await keepsOrRefuses(trial, bigMetadata(512, 1024));
  }),
  behaviour('B210', 'a negative grace is refused, or drains all the same', async (trial) => {
    const { id } = await trial.configured();
    const reply = await trial.calls.drain(id, -5);
    if (isInvalidArgument(reply)) return await trial.stays(id, Configured);
    accepted('Drain with a negative grace, if not INVALID_ARGUMENT,', reply);
    isUnbound('the drained machine', await trial.settles(id, Idle, trial.timings.drainMs));
  }),
  behaviour('B211', 'negative tokens are refused, or count as tokens', async (trial) => {
    for (const [epoch, sequence] of [
      [-1n, 1n],
      [1n, -1n],
      [-7n, -3n],
    ] as const) {
      const id = await trial.speculative();
      const reply = await trial.calls.create(id, { shard: trial.shard(), epoch, sequence });
      if (isInvalidArgument(reply)) {
        hasState('the machine after the refusal', await trial.read(id), Speculative);
      } else {
        accepted(`Create (${epoch},${sequence}), if not INVALID_ARGUMENT,`, reply);
        await trial.settles(id, Idle);
      }
    }
  }),
  behaviour('B212', 'tokens are exact up to 2^63 − 1', async (trial) => {
    const id = await trial.idle();
    const shard = trial.shard();
    const largest = { shard, epoch: MAX_INT64, sequence: MAX_INT64 };
    // One step apart, which a provider that counts in doubles cannot tell from equal.
    for (const sequence of [MAX_INT64 - 1n, MAX_INT64]) {
      const token = { shard, epoch: MAX_INT64 - 1n, sequence };
      accepted(`Create (2^63 − 2, ${sequence})`, await trial.calls.create(id, token));
    }
    await trial.configure(id, trial.binding(), largest);
    fenced('the largest token again', await trial.calls.create(id, largest));
    fenced('an epoch one smaller', await trial.calls.create(id, { ...largest, epoch: MAX_INT64 - 1n }));
  }),
  behaviour('B213', 'a 3 MiB blob is taken, or refused cleanly', async (trial) => {
    const id = await trial.idle();
    const binding = trial.binding({ blob: new Uint8Array(3 * 1024 * 1024).fill(0x61) });
    const reply = await trial.calls.configure(id, binding);
    if (reply.ok) {
      const machine = await trial.settles(id, Configured);
      return same('the cluster', binding.cluster, machine.cluster);
    }
    answersWith('Configure', reply, status.INVALID_ARGUMENT, status.RESOURCE_EXHAUSTED);
    await isCleanIdle(trial, id);
  }),
];

/** Sends metadata that may be too much: either it comes back exactly, or nothing of it is left. */
export async function keepsOrRefuses(trial: Trial, metadata: ReadonlyMap<string, string>): Promise<void> {
  const id = await trial.idle();
  const reply: AckReply = await trial.calls.configure(id, trial.binding({ metadata }));
  if (isInvalidArgument(reply)) return await isCleanIdle(trial, id);
  accepted('Configure with much metadata, if not INVALID_ARGUMENT,', reply);
  const machine = await trial.settles(id, Configured);
  sameMetadata('the Configured machine', metadata, machine.shardMetadata);
}

export function bigMetadata(keys: number, valueBytes: number): ReadonlyMap<string, string> {
  const entry = (i: number): [string, string] => {
    const name = `example.com/key-${i}`;
    return [name, `${i}-`.padEnd(valueBytes, String.fromCharCode(97 + (i % 26)))];
  };
  return new Map(Array.from({ length: keys }, (_, i) => entry(i)));
}

async function isCleanIdle(trial: Trial, id: string): Promise<void> {
  await trial.stays(id, Idle, (machine) => isUnbound('the machine after the refusal', machine));
}

export const TRANSITIONS: readonly Behaviour[] = [
  ...OUT_OF_PLACE,
  ...REPEATED,
  ...UNKNOWN_MACHINE,
  ...EDGES,
].sort((a, b) => a.id.localeCompare(b.id));
