// Property-based behaviours, listed by harness/registry.ts: random tokens, maps, walks and nonsense from the seed of
// the run, each against a small oracle.

import { status } from '@grpc/grpc-js';
import { MachineState } from '../../../model/index.ts';
import { type Behaviour, inArea } from '../harness/behaviour.ts';
import type { AckReply, Token } from '../harness/calls.ts';
import {
  accepted,
  answersWith,
  hasState,
  isUnbound,
  isUnimplemented,
  refused,
  sameMetadata,
  unfenced,
} from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { farToken, marksAreExact, STARTS, tokenNear } from './random-tokens.ts';
import { bigMetadata } from './transitions.ts';

const behaviour = inArea('properties', 'core', 'core');
const { Speculative, Idle, Configured } = MachineState;

export const PROPERTIES: readonly Behaviour[] = [
  behaviour('B1201', '240 random tokens agree with the order of tokens', async (trial) => {
    const id = await trial.speculative();
    // A mark only ever rises, so each start has a shard, and so a mark, of its own.
    for (const [epoch, sequence] of STARTS) {
      const shard = trial.shard();
      await marksAreExact(trial, 240 / STARTS.length, (markOf) => {
        const mark = markOf(id, shard);
        if (mark === undefined) return { id, token: { shard, epoch, sequence } };
        return { id, token: trial.random.chance(0.8) ? tokenNear(trial, mark) : farToken(trial, mark) };
      });
    }
  }),
  behaviour('B1202', '20 random maps come back exactly and leave nothing', async (trial) => {
    const id = await trial.idle();
    for (let i = 0; i < 20; i++) {
      const metadata = randomMap(trial);
      const machine = await trial.configure(id, trial.binding({ metadata }));
      sameMetadata(`Get of map ${i + 1}`, metadata, machine.shardMetadata);
      sameMetadata(`List of map ${i + 1}`, metadata, (await trial.listed(id, Configured)).shardMetadata);
      isUnbound('the drained machine', await trial.drain(id, 0));
    }
  }),
  behaviour('B1203', 'random walks move along legal edges only', async (trial) => {
    for (let walk = 0; walk < 5; walk++) {
      const id = await trial.speculative();
      let state: MachineState = Speculative;
      for (let step = 0; step < 9; step++) state = await randomStep(trial, id, state);
    }
  }),
  behaviour('B1204', '200 Creates by three shards on four machines keep twelve marks', async (trial) => {
    const shards = [trial.shard(), trial.shard(), trial.shard()];
    const ids = await trial.several(4, () => trial.speculative());
    const pairs = ids.flatMap((id) => shards.map((shard) => ({ id, shard })));
    const startOf = new Map(pairs.map((pair, i) => [pair, STARTS[i % STARTS.length]!]));
    await marksAreExact(trial, 200, (markOf) => {
      const pair = trial.random.pick(pairs);
      const { id, shard } = pair;
      const mark = markOf(id, shard);
      const [epoch, sequence] = startOf.get(pair)!;
      return { id, token: mark === undefined ? { shard, epoch, sequence } : tokenNear(trial, mark) };
    });
    const fresh = { shard: trial.shard(), epoch: 1n, sequence: 1n };
    accepted('Create (1,1) of a new shard', await trial.calls.create(ids[0]!, fresh));
  }),
  behaviour('B1205', 'nonsense gets the right code and never the code of the fence', async (trial) => {
    const { id } = await trial.configured();
    for (let i = 0; i < 30; i++) await trial.random.pick(NONSENSE)(trial, id);
  }),
];

function randomMap({ random }: Trial): ReadonlyMap<string, string> {
  const text = (least: number, most: number) =>
    String.fromCodePoint(
      ...Array.from({ length: random.between(least, most) }, () => codePoint(random.next32())),
    );
  return new Map(Array.from({ length: random.between(0, 12) }, () => [text(1, 20), text(0, 60)]));
}

/** Any code point that UTF-8 can write, short ones more often. */
function codePoint(bits: number): number {
  const limit = [0x80, 0x800, 0x10000, 0x110000][bits & 3]!;
  const value = (bits >>> 2) % limit;
  return value >= 0xd800 && value <= 0xdfff ? value - 0x800 : value;
}

interface Step {
  readonly name: string;
  readonly from: MachineState;
  readonly to: MachineState;
  readonly call: (trial: Trial, id: string) => Promise<AckReply>;
}

const STEPS: readonly Step[] = [
  { name: 'Create', from: Speculative, to: Idle, call: (trial, id) => trial.calls.create(id) },
  {
    name: 'Configure',
    from: Idle,
    to: Configured,
    call: (trial, id) => trial.calls.configure(id, trial.binding()),
  },
  { name: 'Drain', from: Configured, to: Idle, call: (trial, id) => trial.calls.drain(id, 0) },
  { name: 'Delete', from: Idle, to: Speculative, call: (trial, id) => trial.calls.delete(id) },
];

/** One call on a settled machine; returns where the machine must be afterwards. */
async function randomStep(trial: Trial, id: string, state: MachineState): Promise<MachineState> {
  const { name, from, to, call } = trial.random.pick(STEPS);
  const reply = await call(trial, id);
  if (name === 'Delete' && isUnimplemented(reply)) return await isStill(trial, id, state);
  if (state === from) {
    accepted(name, reply);
    await trial.settles(id, to, trial.timings.drainMs);
    return to;
  }
  // At the target already: a repetition where there was such a call before, a refusal where there was none.
  if (state === to) unfenced(`${name} at its target`, reply);
  else refused(`${name} out of place`, reply);
  return await isStill(trial, id, state);
}

async function isStill(trial: Trial, id: string, state: MachineState): Promise<MachineState> {
  hasState('the machine', await trial.read(id), state);
  return state;
}

/** Each sends one malformed call; `id` is a Configured machine. */
const NONSENSE: readonly ((trial: Trial, id: string) => Promise<void>)[] = [
  async ({ calls }) => answersWith('Create without an id', await calls.create(''), status.INVALID_ARGUMENT),
  async ({ calls }) => answersWith('Get without an id', await calls.get(''), status.INVALID_ARGUMENT),
  async (trial) => answersWith('Get of a ghost', await trial.calls.get(trial.ghost()), status.NOT_FOUND),
  async (trial) => {
    const reply = await trial.calls.create(trial.ghost(), randomToken(trial));
    answersWith('Create of a ghost with a random token', reply, status.NOT_FOUND);
  },
  async (trial, id) => {
    unfenced('Drain with a negative grace', await trial.calls.drain(id, -trial.random.between(1, 1_000_000)));
  },
  async (trial, id) => {
    const metadata = bigMetadata(trial.random.between(400, 800), 16);
    unfenced('Configure with many keys', await trial.calls.configure(id, trial.binding({ metadata })));
  },
  async (trial, id) => {
    const blob = new Uint8Array(trial.random.between(64 * 1024, 128 * 1024));
    unfenced('Configure with a large blob', await trial.calls.configure(id, trial.binding({ blob })));
  },
  async (trial, id) => {
    unfenced('Create with a random token', await trial.calls.create(id, randomToken(trial)));
  },
];

function randomToken(trial: Trial): Token {
  const { random } = trial;
  return { shard: trial.shard(), epoch: BigInt(random.below(1000)), sequence: BigInt(random.next32()) };
}
