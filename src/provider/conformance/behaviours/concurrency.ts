// Behaviours of concurrent calls, listed by harness/registry.ts: the same call sixteen times at once is one operation,
// rivals leave a whole machine, and a replaced shard never wins a race.

import { MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type Behaviour, inArea, withoutDelete } from '../harness/behaviour.ts';
import type { AckReply, Binding, Calls } from '../harness/calls.ts';
import {
  accepted,
  demand,
  differ,
  fenced,
  hasState,
  isUnbound,
  isUnimplemented,
  same,
  sameMetadata,
  unfenced,
} from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';

const behaviour = inArea('concurrency', 'core', 'core');
const { Speculative, Idle, Configuring, Configured, Draining } = MachineState;

/** Calls sent at once. */
const FAN_OUT = 16;

export const CONCURRENCY: readonly Behaviour[] = [
  behaviour('B401', 'sixteen Creates at once are one operation', async (trial) => {
    const id = await trial.speculative();
    await isOneOperation('Create', () => trial.calls.create(id));
    await trial.settles(id, Idle);
    await trial.stays(id, Idle);
  }),
  behaviour('B402', 'sixteen Configures at once are one operation', async (trial) => {
    const id = await trial.idle();
    const binding = noted(trial);
    await isOneOperation('Configure', () => trial.calls.configure(id, binding));
    await trial.settles(id, Configured);
    await trial.stays(id, Configured, (machine) => isBoundAs(binding, machine));
  }),
  behaviour(
    'B403',
    'sixteen Drains at once are one operation, also for one that comes late',
    async (trial) => {
      const { id } = await trial.configured({ metadata: new Map([['example.com/note', 'x']]) });
      const operation = await isOneOperation('Drain', () => trial.calls.drain(id, 0));
      await trial.settles(id, Idle, trial.timings.drainMs);
      await trial.stays(id, Idle, (machine) => isUnbound('the drained machine', machine));
      const late = accepted('a late Drain', await trial.calls.drain(id, 0));
      same('the operation id of a late Drain', operation, late.operationId);
      await trial.stays(id, Idle);
    },
  ),
  behaviour('B404', 'Configure against Drain leaves a whole machine', async (trial) => {
    const { id, binding } = await trial.configured();
    const replies = await Promise.all([trial.calls.configure(id, binding), trial.calls.drain(id, 0)]);
    for (const reply of replies) unfenced('a rival', reply);
    const machine = await rests(trial, id);
    hasState('the machine after the race', machine, Idle, Configured);
    await trial.stays(id, machine.state, ({ cluster }) => {
      same('its cluster', machine.state === Idle ? '' : binding.cluster, cluster);
    });
  }),
  behaviour('B405', 'a replaced shard loses every race', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    const create = (epoch: bigint, sequence: number) =>
      trial.calls.create(id, { shard, epoch, sequence: BigInt(sequence) });
    accepted('Create (1,1000)', await create(1n, 1000));
    const numbers = Array.from({ length: 12 }, (_, i) => i);
    const [zombies, live] = await Promise.all([
      Promise.all(numbers.map((i) => create(1n, i))),
      Promise.all(numbers.map((i) => create(2n, 100 + i))),
    ]);
    for (const reply of zombies) fenced('Create by the old epoch', reply);
    for (const reply of live)
      if (!reply.ok) fenced('Create by the new epoch, overtaken by a newer one,', reply);
    demand(
      live.some((reply) => reply.ok),
      'some Create by the new epoch to be accepted',
      'none',
    );
    fenced('Create (1,9) later', await create(1n, 9));
    accepted('Create (2,9999) later', await create(2n, 9999));
  }),
  behaviour('B406', 'two connections see one operation', async (trial) => {
    const id = await trial.idle();
    const binding = noted(trial);
    const ways = [trial.calls, trial.otherConnection()];
    let turn = 0;
    const configure = (calls: Calls) => calls.configure(id, binding);
    const operation = await isOneOperation('Configure', () => configure(ways[turn++ % 2]!));
    await trial.settles(id, Configured);
    for (const calls of ways) {
      const again = accepted('a later Configure', await configure(calls));
      same('the operation id on each connection', operation, again.operationId);
    }
  }),
  behaviour('B407', 'eight machines created at once are eight operations', async (trial) => {
    const ids = await trial.several(8, () => trial.speculative());
    const replies = await Promise.all(ids.map((id) => trial.calls.create(id)));
    differ(
      'operation ids of eight Creates',
      replies.map((reply) => accepted('Create', reply).operationId),
    );
    for (const id of ids) isUnbound('a created machine', await trial.settles(id, Idle));
  }),
  behaviour('B408', 'acknowledgements of Configure show the machine as bound', async (trial) => {
    const id = await trial.idle();
    const binding = noted(trial);
    const replies = await fanOut(() => trial.calls.configure(id, binding));
    for (const reply of replies) {
      unfenced('Configure', reply);
      if (!reply.ok) continue;
      const { machine } = accepted('Configure', reply);
      hasState('the snapshot in an acknowledgement', machine, Configuring, Configured);
      if (machine.state === Configured) same('its cluster', binding.cluster, machine.cluster);
    }
    demand(
      replies.some((reply) => reply.ok),
      'some Configure to be accepted',
      'none',
    );
    await trial.settles(id, Configured);
  }),
  behaviour(
    'B409',
    'sixteen Deletes at once are one operation, also for one that comes late',
    async (trial) => {
      const id = await trial.idle();
      const operation = await isOneOperation('Delete', async () => {
        const reply = await trial.calls.delete(id);
        if (isUnimplemented(reply)) throw withoutDelete();
        return reply;
      });
      await trial.settles(id, Speculative);
      await trial.stays(id, Speculative);
      const late = accepted('a late Delete', await trial.calls.delete(id));
      same('the operation id of a late Delete', operation, late.operationId);
      await trial.stays(id, Speculative);
    },
    'cloud',
  ),
];

function fanOut<T>(call: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: FAN_OUT }, call));
}

/** Of sixteen equal calls at least one is accepted, those that are share one operation id, none is fenced. */
async function isOneOperation(what: string, call: () => Promise<AckReply>): Promise<string> {
  const replies = await fanOut(call);
  for (const reply of replies) unfenced(what, reply);
  const ids = new Set(replies.filter((reply) => reply.ok).map((reply) => accepted(what, reply).operationId));
  demand(
    ids.size === 1,
    `${FAN_OUT} parallel calls of ${what} to be one operation`,
    `${ids.size} operation ids`,
  );
  return [...ids][0]!;
}

function noted(trial: Trial): Binding {
  return trial.binding({ metadata: new Map([['example.com/note', 'x']]) });
}

function isBoundAs({ cluster, metadata }: Binding, machine: Machine): void {
  same('the cluster', cluster, machine.cluster);
  sameMetadata('the machine', metadata, machine.shardMetadata);
}

/** The machine once its transition has ended. */
function rests(trial: Trial, id: string): Promise<Machine> {
  return trial.leaves(id, [Configuring, Draining], trial.timings.drainMs);
}
