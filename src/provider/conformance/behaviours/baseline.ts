// The baseline, listed by harness/registry.ts: the 25 behaviours that the contract's own repository checks on any
// address, by the names of their tests. Two more of its tests, NodeReadiness_ADR0056 and SelfTest_OnFake, are about its
// in-process fake and cannot be run against an address.

import { status } from '@grpc/grpc-js';
import { MachineState } from '../../../model/index.ts';
import { type Behaviour, inArea, withoutDelete } from '../harness/behaviour.ts';
import type { AckReply } from '../harness/calls.ts';
import {
  accepted,
  answersWith,
  demand,
  failedWithReason,
  fenced,
  hasState,
  isUnbound,
  isUnimplemented,
  refused,
  same,
  sameMetadata,
} from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { costProblems } from './record-rules.ts';

const behaviour = inArea('baseline', 'core', 'core');
const { Speculative, Creating, Idle, Configured, Draining, Failed } = MachineState;

const LIFE: readonly Behaviour[] = [
  behaviour('FullLifecycle', 'Create, Configure, Drain and Delete each settle', async (trial) => {
    const id = await trial.speculative();
    accepted('Create', await trial.calls.create(id));
    await trial.settles(id, Idle);
    await trial.configure(id, trial.binding());
    await trial.drain(id, 5);
    const reply = await trial.calls.delete(id);
    if (isUnimplemented(reply)) return;
    accepted('Delete', reply);
    await trial.settles(id, Speculative);
  }),
  behaviour('CreateIdempotent', 'Create twice returns one operation', async (trial) => {
    const id = await trial.speculative();
    await twice('Create', () => trial.calls.create(id));
  }),
  behaviour('ConfigureIdempotent', 'Configure twice returns one operation', async (trial) => {
    const id = await trial.idle();
    const binding = trial.binding();
    await twice('Configure', () => trial.calls.configure(id, binding));
  }),
  behaviour('DrainIdempotent', 'Drain twice returns one operation', async (trial) => {
    const { id } = await trial.configured();
    await twice('Drain', () => trial.calls.drain(id, 30));
  }),
  behaviour('DeleteIdempotent', 'Delete twice returns one operation', async (trial) => {
    const id = await trial.idle();
    const first = await trial.calls.delete(id);
    if (isUnimplemented(first)) throw withoutDelete();
    const second = accepted('the second Delete', await trial.calls.delete(id));
    same('the operation id of the second Delete', accepted('Delete', first).operationId, second.operationId);
  }),
  behaviour('DrainOnSpeculative', 'Drain of a Speculative machine is refused', async (trial) => {
    const id = await trial.speculative();
    refused('Drain of a Speculative machine', await trial.calls.drain(id, 5));
  }),
  behaviour('DeleteOnConfigured', 'Delete of a Configured machine is refused', async (trial) => {
    const { id } = await trial.configured();
    refused('Delete of a Configured machine', await trial.calls.delete(id));
    hasState('the machine after the refusal', await trial.read(id), Configured);
  }),
  behaviour('TransitionalStateObservability', 'Create is seen on its way to Idle', async (trial) => {
    const id = await trial.speculative();
    const watch = trial.watch(id, trial.timings.pollMs);
    accepted('Create', await trial.calls.create(id));
    const startedMs = performance.now();
    await trial.settles(id, Idle);
    await trial.pause(Math.max(0, trial.timings.observeMs - (performance.now() - startedMs)));
    const seen = await watch.stop();
    for (const machine of seen)
      hasState('a machine on its way to Idle', machine, Speculative, Creating, Idle);
    hasState('the machine at last', seen.at(-1)!, Idle);
  }),
  behaviour(
    'DrainGraceTimeout',
    'Drain without grace ends, in Idle or in Failed with a reason',
    async (trial) => {
      const { id } = await trial.configured();
      accepted('Drain', await trial.calls.drain(id, 0));
      const machine = await trial.leaves(id, [Draining], trial.timings.configureMs);
      hasState('the machine after Drain without grace', machine, Idle, Failed);
      if (machine.state === Failed) failedWithReason('a machine whose Drain failed', machine);
      await trial.stays(id, machine.state);
    },
  ),
];

const READS: readonly Behaviour[] = [
  behaviour('GetUnknownMachine', 'Get of an unknown machine is NOT_FOUND', async (trial) => {
    answersWith('Get of an unknown machine', await trial.calls.get(trial.ghost()), status.NOT_FOUND);
  }),
  behaviour('DeleteUnknownMachine', 'Delete of an unknown machine is NOT_FOUND', async (trial) => {
    const reply = await trial.calls.delete(trial.ghost());
    answersWith('Delete of an unknown machine', reply, status.NOT_FOUND, status.UNIMPLEMENTED);
  }),
  behaviour('ListFiltersByState', 'List of one state returns that state only', async (trial) => {
    await trial.idle();
    const { machines } = await trial.list({ states: [Idle] });
    for (const machine of machines) hasState(`${machine.id} in List(Idle)`, machine, Idle);
  }),
  behaviour('ListMaxResults', 'List returns no more than its cap', async (trial) => {
    const { machines } = await trial.list({ max: 1 });
    demand(machines.length <= 1, 'List with a cap of 1 to return at most 1', `${machines.length}`);
  }),
  behaviour('LabelShape', 'every machine has an instance type and a state', async (trial) => {
    for (const { id, instanceType, state } of (await trial.list()).machines) {
      demand(instanceType !== '', `${id} to have an instance_type`, 'an empty one');
      demand(state !== 0, `${id} to have a state`, 'UNSPECIFIED');
    }
  }),
  behaviour('CostFieldBounds', 'prices and probabilities are in bounds', async (trial) => {
    const problems = (await trial.list()).machines.flatMap(costProblems);
    demand(problems.length === 0, 'prices and probabilities in bounds', problems.slice(0, 3).join('; '));
  }),
  behaviour('ListRevisionAdvances', 'a transition moves the revision', async (trial) => {
    const before = (await trial.list({ max: 1 })).revision;
    await trial.idle();
    if (before.length === 0) return;
    const after = (await trial.list({ max: 1 })).revision;
    demand(!Buffer.from(before).equals(after), 'a new revision after a Create', 'the same');
  }),
];

const FENCES: readonly Behaviour[] = [
  behaviour('FencingUnknownShardAccepted', 'a new shard is let in once per token', async (trial) => {
    const at = await fencedCreates(trial);
    accepted('Create of a new shard', await at(1, 1));
    fenced('its replay', await at(1, 1));
  }),
  behaviour('FencingStaleEpochRejected', 'an older epoch is turned away', async (trial) => {
    const at = await fencedCreates(trial);
    accepted('Create (2,1)', await at(2, 1));
    fenced('Create (1,99) after (2,1)', await at(1, 99));
  }),
  behaviour(
    'FencingStaleSequenceRejected',
    'an equal or older sequence number is turned away',
    async (trial) => {
      const at = await fencedCreates(trial);
      accepted('Create (1,5)', await at(1, 5));
      fenced('Create (1,5) again', await at(1, 5));
      fenced('Create (1,4) after (1,5)', await at(1, 4));
    },
  ),
  behaviour(
    'FencingPerMachineIsolation',
    'a mark holds for one machine, not for the shard',
    async (trial) => {
      const shard = trial.shard();
      const a = await fencedCreates(trial, shard);
      const b = await fencedCreates(trial, shard);
      accepted('Create (1,30) on machine A', await a(1, 30));
      accepted('Create (1,7) on machine B', await b(1, 7));
      fenced('Create (1,7) on B again', await b(1, 7));
      fenced('Create (1,30) on A again', await a(1, 30));
      fenced('Create (0,999) on B', await b(0, 999));
    },
  ),
  behaviour('FencingNewEpochResetsSequence', 'a new epoch may start to count again', async (trial) => {
    const at = await fencedCreates(trial);
    accepted('Create (1,1000)', await at(1, 1000));
    accepted('Create (2,1) after (1,1000)', await at(2, 1));
  }),
  behaviour('FencingReadsUnaffected', 'reads know no fence', async (trial) => {
    const shard = trial.shard();
    const id = await trial.speculative();
    accepted('Create (9,9)', await trial.calls.create(id, { shard, epoch: 9n, sequence: 9n }));
    fenced('Create (1,1) after (9,9)', await trial.calls.create(id, { shard, epoch: 1n, sequence: 1n }));
    await trial.read(id);
    await trial.list();
  }),
];

const NOTES: readonly Behaviour[] = [
  behaviour(
    'MetadataEchoedOnGetAndList',
    'cluster and metadata come back as they were sent',
    async (trial) => {
      const metadata = new Map([
        ['bigfleet.lucy.sh/assigned-priority', '1000'],
        ['bigfleet.lucy.sh/assigned-group', 'topology.kubernetes.io/zone\u0000app=web,;'],
        ['example.com/opaque', 'anything'],
      ]);
      const { id, binding } = await trial.configured({ metadata });
      for (const machine of [await trial.read(id), await trial.listed(id, Configured)]) {
        same('the cluster of a Configured machine', binding.cluster, machine.cluster);
        sameMetadata('a Configured machine', metadata, machine.shardMetadata);
      }
    },
  ),
  behaviour(
    'MetadataAndBindingClearOnDrain',
    'a drained machine has no cluster and no metadata',
    async (trial) => {
      const { id } = await trial.configured({ metadata: new Map([['example.com/note', 'x']]) });
      isUnbound('a drained machine', await trial.drain(id, 5));
    },
  ),
  behaviour('MetadataUnknownKeysPreservedVerbatim', 'unknown metadata is kept as it is', async (trial) => {
    const metadata = new Map([
      ['vendor.example/ключ\t值', 'tab\there, ünïcödé 🛰 and a space '],
      ['vendor.example/empty', ''],
    ]);
    const { id } = await trial.configured({ metadata });
    sameMetadata('a Configured machine', metadata, (await trial.read(id)).shardMetadata);
  }),
];

async function twice(what: string, call: () => Promise<AckReply>): Promise<void> {
  const first = accepted(what, await call());
  const second = accepted(`the second ${what}`, await call());
  same(`the operation id of the second ${what}`, first.operationId, second.operationId);
}

/** Creates on one unused machine by one unused shard. After the first is accepted, only the fence decides the others. */
async function fencedCreates(trial: Trial, shard = trial.shard()) {
  const id = await trial.speculative();
  return (epoch: number, sequence: number) =>
    trial.calls.create(id, { shard, epoch: BigInt(epoch), sequence: BigInt(sequence) });
}

export const BASELINE: readonly Behaviour[] = [...LIFE, ...READS, ...FENCES, ...NOTES];
