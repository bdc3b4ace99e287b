// Behaviours of fencing, listed by harness/registry.ts: a mark per shard and machine, which only a strictly newer token
// passes, and which every call that passes moves.

import { status } from '@grpc/grpc-js';
import { MachineState } from '../../../model/index.ts';
import { type Behaviour, inArea, withoutDelete } from '../harness/behaviour.ts';
import type { AckReply, Token } from '../harness/calls.ts';
import {
  accepted,
  answersWith,
  fail,
  fenced,
  hasState,
  isUnimplemented,
  refused,
  same,
} from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { marksAreExact, tokenNear } from './random-tokens.ts';

const behaviour = inArea('fencing', 'core', 'core');
const { Speculative, Idle, Configured } = MachineState;

const at = (shard: string, epoch: number, sequence: number): Token => ({
  shard,
  epoch: BigInt(epoch),
  sequence: BigInt(sequence),
});

export const FENCING: readonly Behaviour[] = [
  behaviour('B301', 'the mark moves even if the machine does not exist', async (trial) => {
    const id = trial.ghost();
    const shard = trial.shard();
    const stale = at(shard, 1, 1);
    answersWith('Create (5,5) of a ghost', await trial.calls.create(id, at(shard, 5, 5)), status.NOT_FOUND);
    fenced('Create (1,1) of the ghost', await trial.calls.create(id, stale));
    fenced('Configure (1,1) of the ghost', await trial.calls.configure(id, trial.binding(), stale));
    fenced('Drain (1,1) of the ghost', await trial.calls.drain(id, 5, stale));
    const deleted = await trial.calls.delete(id, stale);
    if (!isUnimplemented(deleted)) fenced('Delete (1,1) of the ghost', deleted);
    answersWith('Create (9,9) of the ghost', await trial.calls.create(id, at(shard, 9, 9)), status.NOT_FOUND);
  }),
  behaviour('B302', 'every shard and every machine has its own mark', async (trial) => {
    await cappedListsMove(trial);
    await shardsAreApart(trial);
    await machinesAreApart(trial);
  }),
  behaviour('B303', 'a script of sixteen tokens passes or not, each in its turn', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    accepted('Create (2,5)', await trial.calls.create(id, at(shard, 2, 5)));
    for (const [epoch, sequence, passes] of SCRIPT) {
      const reply = await trial.calls.create(id, at(shard, epoch, sequence));
      if (passes) accepted(`Create (${epoch},${sequence})`, reply);
      else fenced(`Create (${epoch},${sequence})`, reply);
    }
  }),
  behaviour('B305', 'stale calls change nothing and reads go on', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    accepted('Create (7,7)', await trial.calls.create(id, at(shard, 7, 7)));
    await trial.settles(id, Idle);
    for (const [epoch, sequence] of [
      [7, 7],
      [7, 6],
      [6, 999],
      [0, 0],
    ] as const) {
      fenced(`Create (${epoch},${sequence})`, await trial.calls.create(id, at(shard, epoch, sequence)));
      hasState('the machine', await trial.read(id), Idle);
      await trial.list();
      await trial.listed(id, Idle);
    }
  }),
  behaviour('B306', 'a settled Configure is fenced before it is repeated', async (trial) => {
    const id = await trial.idle();
    const binding = trial.binding();
    await repeatIsFencedFirst(trial, id, Configured, (token) => trial.calls.configure(id, binding, token));
  }),
  behaviour('B307', 'a settled Drain is fenced before it is repeated', async (trial) => {
    const { id } = await trial.configured();
    await repeatIsFencedFirst(trial, id, Idle, (token) => trial.calls.drain(id, 5, token));
  }),
  behaviour('B308', 'a caller without a token is never fenced', async (trial) => {
    const id = await trial.speculative();
    accepted('Create', await trial.calls.create(id));
    await trial.settles(id, Idle);
    accepted('Create again', await trial.calls.create(id));
    accepted('Create of another machine', await trial.calls.create(await trial.speculative()));
  }),
  behaviour('B309', 'one session with growing tokens is let through', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    accepted('Create (1,1)', await trial.calls.create(id, at(shard, 1, 1)));
    await trial.settles(id, Idle);
    for (const sequence of [2, 4]) {
      await trial.configure(id, trial.binding(), at(shard, 1, sequence));
      await trial.drain(id, 5, at(shard, 1, sequence + 1));
    }
    fenced('Create (1,1) at the end', await trial.calls.create(id, at(shard, 1, 1)));
  }),
  behaviour('B310', 'the mark survives Delete', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    accepted('Create (1,1)', await trial.calls.create(id, at(shard, 1, 1)));
    await trial.settles(id, Idle);
    const deleted = await trial.calls.delete(id, at(shard, 1, 2));
    if (isUnimplemented(deleted)) throw withoutDelete();
    accepted('Delete (1,2)', deleted);
    await trial.settles(id, Speculative);
    fenced('Create (1,1) after the Delete', await trial.calls.create(id, at(shard, 1, 1)));
    accepted('Create (1,3)', await trial.calls.create(id, at(shard, 1, 3)));
    await trial.settles(id, Idle);
    const binding = trial.binding();
    fenced('Configure (1,1)', await trial.calls.configure(id, binding, at(shard, 1, 1)));
    fenced('Configure (1,3)', await trial.calls.configure(id, binding, at(shard, 1, 3)));
    await trial.configure(id, binding, at(shard, 2, 1));
  }),
  behaviour('B311', 'the mark moves even if the call is then refused', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    refused('Drain (5,5) of a Speculative machine', await trial.calls.drain(id, 5, at(shard, 5, 5)));
    fenced('Create (5,4)', await trial.calls.create(id, at(shard, 5, 4)));
    accepted('Create (5,6)', await trial.calls.create(id, at(shard, 5, 6)));
  }),
  behaviour('B312', '200 random tokens pass if and only if they are newer', async (trial) => {
    const id = await trial.speculative();
    const shard = trial.shard();
    await marksAreExact(trial, 200, (markOf) => {
      const mark = markOf(id, shard);
      return { id, token: mark === undefined ? at(shard, 0, 0) : tokenNear(trial, mark) };
    });
  }),
];

/** After the mark (2,5): equal, older by sequence, older by epoch; then newer ones, each with its replay. */
const SCRIPT: readonly (readonly [epoch: number, sequence: number, passes: boolean])[] = [
  [2, 5, false],
  [2, 4, false],
  [2, 0, false],
  [1, 5, false],
  [1, 6, false],
  [1, 1_000_000, false],
  [0, 999, false],
  [2, 6, true],
  [2, 6, false],
  [3, 0, true],
  [3, 0, false],
  [3, 1, true],
  [4, 0, true],
  [3, 999, false],
  [10, 7, true],
  [10, 7, false],
];

/** Capped Lists that are compared. A shuffled order repeats itself by chance, the more so the fewer machines are left. */
const CAPPED_LISTS = 12;

/**
 * Shards pick machines with a capped List. One that always returns the same first machine hands every shard the same
 * one, so two calls must be able to differ, where there are two machines.
 */
async function cappedListsMove(trial: Trial): Promise<void> {
  const list = async (max: number) => (await trial.list({ states: [Speculative], max })).machines;
  if ((await list(2)).length < 2) return;
  const seen = new Set<string | undefined>();
  for (let i = 0; i < CAPPED_LISTS; i++) {
    seen.add((await list(1))[0]?.id);
    if (seen.size > 1) return;
  }
  fail(
    'List(Speculative, max 1) not to return the same machine every time',
    `one machine ${CAPPED_LISTS} times`,
  );
}

async function shardsAreApart(trial: Trial): Promise<void> {
  const [a, b, c] = [await trial.speculative(), await trial.speculative(), await trial.speculative()];
  const [shardA, shardB, shardC] = [trial.shard(), trial.shard(), trial.shard()];
  accepted('Create (9,9) by shard A', await trial.calls.create(a, at(shardA, 9, 9)));
  accepted('Create (7,3) by shard B', await trial.calls.create(b, at(shardB, 7, 3)));
  accepted('Create (1,1) by shard C', await trial.calls.create(c, at(shardC, 1, 1)));
  fenced('the replay by shard A', await trial.calls.create(a, at(shardA, 9, 9)));
  fenced('the replay by shard B', await trial.calls.create(b, at(shardB, 7, 3)));
  fenced('the replay by shard C', await trial.calls.create(c, at(shardC, 1, 1)));
  accepted('Create (7,4) by shard B', await trial.calls.create(b, at(shardB, 7, 4)));
  // On one machine too: the mark of shard A does not apply to shard C.
  accepted('Create (1,2) by shard C on the machine of A', await trial.calls.create(a, at(shardC, 1, 2)));
}

async function machinesAreApart(trial: Trial): Promise<void> {
  const [a, b] = [await trial.speculative(), await trial.speculative()];
  const shard = trial.shard();
  accepted('Create (5,30) on machine A', await trial.calls.create(a, at(shard, 5, 30)));
  accepted('Create (5,7) on machine B', await trial.calls.create(b, at(shard, 5, 7)));
  fenced('the replay on A', await trial.calls.create(a, at(shard, 5, 30)));
  fenced('the replay on B', await trial.calls.create(b, at(shard, 5, 7)));
  fenced('Create (4,999) on B', await trial.calls.create(b, at(shard, 4, 999)));
}

async function repeatIsFencedFirst(
  trial: Trial,
  id: string,
  goal: MachineState,
  call: (token: Token) => Promise<AckReply>,
): Promise<void> {
  const shard = trial.shard();
  const first = accepted('the call at (5,5)', await call(at(shard, 5, 5)));
  await trial.settles(id, goal, trial.timings.drainMs);
  fenced('its repetition at (1,1)', await call(at(shard, 1, 1)));
  const again = accepted('its repetition at (5,6)', await call(at(shard, 5, 6)));
  same('the operation id of the repetition', first.operationId, again.operationId);
  hasState('the machine', await trial.read(id), goal);
}
