// The client against the kit in this process and against transports that lose, delay or forge answers.

import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import {
  clientOf,
  kindOf,
  listOf,
  transportOf,
  wireMachine,
} from '../../../testing/support/provider-client.ts';
import { HeldBackend, ManualClock, scene, turns } from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import type { CreateRequest, TransitionAck } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError } from '../../wire/index.ts';
import { ERROR_KINDS, ProviderError } from './errors.ts';
import { inProcess } from './in-process.ts';

const BINDING = {
  cluster: 'cluster-1',
  bootstrapBlob: Buffer.from('join'),
  metadata: new Map([['why', 'need-7']]),
};

const lost = (): Promise<never> => Promise.reject(new RpcError(status.UNAVAILABLE, 'connection dropped'));
const never = (): Promise<never> => new Promise(() => {});

describe('calls to a provider', () => {
  it('given a quota slot, when it passes through all states, then every answer has a machine and an operation', async () => {
    const backend = new HeldBackend(1);
    backend.isPrompt = true;
    const { provider } = await scene({ backend });
    const { client, sequences } = clientOf(inProcess(provider));
    const created = await client.create('m-0');
    expect(created).toMatchObject({
      operationId: 'op-1',
      machine: { id: 'm-0', state: MachineState.Creating },
    });
    await turns();
    await client.configure('m-0', BINDING);
    await turns();
    expect(await client.get('m-0')).toMatchObject({ state: MachineState.Configured, cluster: 'cluster-1' });
    await client.drain('m-0', 7);
    await turns();
    await client.delete('m-0');
    await turns();
    expect((await client.list()).machines).toMatchObject([{ id: 'm-0', state: MachineState.Speculative }]);
    expect(sequences).toEqual([1n, 2n, 3n, 4n]);
  });

  it('given refusals of the contract, then each has its kind and none is retried', async () => {
    const { provider, backend } = await scene();
    const { client, attempts } = clientOf(inProcess(provider));
    expect(await kindOf(client.get('ghost'))).toBe('not-found');
    expect(await kindOf(client.create('ghost'))).toBe('not-found');
    expect(await kindOf(client.create(''))).toBe('invalid');
    expect(await kindOf(client.drain('m-0', -1))).toBe('invalid');
    expect(await kindOf(client.drain('m-0', 1))).toBe('position');
    const huge = { ...BINDING, bootstrapBlob: new Uint8Array(17 * 1024 * 1024) };
    expect(await kindOf(client.configure('m-0', huge))).toBe('invalid');
    Object.assign(backend, { delete: undefined });
    expect(await kindOf(client.delete('m-0'))).toBe('unimplemented');
    expect(attempts.every(({ number, nextInMs }) => number === 1 && nextInMs === null)).toBe(true);
  });

  it('given a newer process of the same shard, when the older one calls, then it is fenced and does not retry', async () => {
    const { provider } = await scene();
    const newer = { shardId: 'shard-0', shardEpoch: 2n, sequenceNumber: 1n };
    await provider.create({ machineId: 'm-0', ...newer });
    const { client, sequences } = clientOf(inProcess(provider));
    expect(await kindOf(client.create('m-0'))).toBe('fenced');
    expect(sequences).toHaveLength(1);
  });

  it.each([
    [status.RESOURCE_EXHAUSTED, 'slow down', 'throttled'],
    [status.RESOURCE_EXHAUSTED, 'Received message larger than max (5 vs 4)', 'too-large'],
    [status.PERMISSION_DENIED, 'who are you', 'denied'],
    [status.UNAUTHENTICATED, 'who are you', 'denied'],
    [status.ABORTED, 'not now', 'position'],
    [status.INTERNAL, 'BF_MOVE_ILLEGAL: no', 'position'],
    [status.INTERNAL, 'a bug', 'internal'],
    [status.DATA_LOSS, 'a bug', 'internal'],
    [status.UNKNOWN, 'a bug', 'internal'],
    [status.CANCELLED, 'stream reset', 'unavailable'],
    [status.DEADLINE_EXCEEDED, 'late', 'deadline'],
  ])('given gRPC status %i with "%s", then the kind is %s', async (code, text, kind) => {
    const fail = (): Promise<never> => Promise.reject(new RpcError(code, text));
    const { client } = clientOf(transportOf({ create: fail }), new ManualClock(), { mutationAttempts: 1 });
    expect(await kindOf(client.create('m-0'))).toBe(kind);
  });

  it('given any error, then it has a catalogue code and shows hostile text in a safe and short form', () => {
    for (const kind of Object.keys(ERROR_KINDS) as (keyof typeof ERROR_KINDS)[]) {
      const error = new ProviderError(kind, 'create', `\u001b[2J${'x'.repeat(10_000)}`);
      expect(error.code).toBe(ERROR_KINDS[kind].code);
      expect(error.message).not.toContain('\u001b');
      expect(error.message.length).toBeLessThan(1000);
    }
  });
});

describe('attempts of a call', () => {
  it('given a lost answer, when the call is retried, then it is the same operation with a higher sequence number', async () => {
    const clock = new ManualClock();
    const { provider, backend } = await scene();
    const seen: bigint[] = [];
    const create = async (request: CreateRequest): Promise<TransitionAck> => {
      seen.push(request.sequenceNumber);
      const ack = await provider.create(request);
      return seen.length < 3 ? lost() : ack;
    };
    const { client, attempts } = clientOf(transportOf({ create }), clock);
    const call = client.create('m-0');
    await turns();
    await clock.advance(200);
    await clock.advance(400);
    expect(await call).toMatchObject({ operationId: 'op-1' });
    expect(seen).toEqual([1n, 2n, 3n]);
    expect(backend.calls).toHaveLength(1);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['unavailable', 'unavailable', 'ok']);
  });

  it('given failing attempts, then the backoff doubles, is drawn from its upper half, and ends with the attempts', async () => {
    const clock = new ManualClock();
    const { client, attempts } = clientOf(transportOf({ get: lost }), clock, { readAttempts: 5 });
    const call = kindOf(client.get('m-0'));
    for (let i = 0; i < 8; i++) await clock.advance(5000 / 8);
    expect(await call).toBe('unavailable');
    const waits = attempts.map(({ nextInMs }) => nextInMs);
    expect(waits.at(-1)).toBeNull();
    for (const [i, wait] of waits.slice(0, -1).entries()) {
      expect(wait).toBeGreaterThanOrEqual(100 * 2 ** i);
      expect(wait).toBeLessThanOrEqual(200 * 2 ** i + 1);
    }
  });

  it('given a provider that never answers, then attempts end after 10 s each and the call after 30 s', async () => {
    const clock = new ManualClock();
    const { client, attempts } = clientOf(transportOf({ create: never }), clock);
    const began = clock.now();
    let ended = 0;
    const call = kindOf(client.create('m-0')).finally(() => {
      ended = clock.now() - began;
    });
    for (let i = 0; i < 62; i++) await clock.advance(500);
    expect(await call).toBe('deadline');
    expect(ended).toBeGreaterThan(29_000);
    expect(ended).toBeLessThanOrEqual(30_500);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['deadline', 'deadline', 'deadline']);
  });

  it('given a List without an answer, then it times out after two minutes', async () => {
    const clock = new ManualClock();
    const { client, attempts } = clientOf(transportOf({ list: never }), clock);
    const call = kindOf(client.list());
    await clock.advance(119_000);
    expect(attempts).toEqual([]);
    await clock.advance(1000);
    expect(await call).toBe('deadline');
  });

  it('given an internal error, then a transition is not retried and a read is', async () => {
    const clock = new ManualClock();
    const fail = (): Promise<never> => Promise.reject(new RpcError(status.INTERNAL, 'boom'));
    const { client, attempts } = clientOf(transportOf({ drain: fail, get: fail }), clock);
    expect(await kindOf(client.drain('m-0', 1))).toBe('internal');
    expect(attempts).toHaveLength(1);
    const call = kindOf(client.get('m-0'));
    for (let i = 0; i < 5; i++) await clock.advance(1000);
    expect(await call).toBe('internal');
    expect(attempts).toHaveLength(5);
  });

  it.each(['during an attempt', 'during a wait'])(
    'given a caller that aborts %s, then the call ends at once',
    async (when) => {
      const aborts: boolean[] = [];
      const get: Parameters<typeof transportOf>[0]['get'] = (_, { signal }) => {
        signal.addEventListener('abort', () => aborts.push(true));
        return when === 'during a wait' ? lost() : never();
      };
      const { client } = clientOf(transportOf({ get }));
      const aborter = new AbortController();
      const call = kindOf(client.get('m-0', aborter.signal));
      await turns();
      aborter.abort();
      expect(await call).toBe('cancelled');
      expect(aborts).toEqual(when === 'during a wait' ? [] : [true]);
      expect(await kindOf(client.get('m-0', aborter.signal))).toBe('cancelled');
    },
  );
});

describe('malformed answers', () => {
  it.each([
    ['no operation id', { operationId: '', machine: wireMachine('m-0') }],
    ['no machine', { operationId: 'op-1', machine: undefined }],
    ['another machine', { operationId: 'op-1', machine: wireMachine('m-1') }],
    ['an unknown state', { operationId: 'op-1', machine: wireMachine('m-0', { state: 99 as never }) }],
    [
      'a price that is not a number',
      { operationId: 'op-1', machine: wireMachine('m-0', { pricePerHour: Number.NaN }) },
    ],
  ])('given an acknowledgement with %s, then it is malformed', async (_, ack) => {
    const { client } = clientOf(transportOf({ create: () => Promise.resolve(ack) }));
    expect(await kindOf(client.create('m-0'))).toBe('malformed');
  });

  it('given a List with bad records, then the others are returned with the reason for each bad one', async () => {
    const machines = [
      wireMachine('good'),
      wireMachine('bad', { state: 99 as never }),
      wireMachine('twice'),
      wireMachine('twice', { zone: 'zone-b' }),
      wireMachine(''),
    ];
    const { client } = clientOf(transportOf({ list: () => Promise.resolve(listOf(machines, '7')) }));
    const { problems, refused, revision, ...list } = await client.list();
    expect(list.machines.map(({ id }) => id)).toEqual(['good']);
    expect(refused).toBe(4);
    expect(problems.map(({ code }) => code)).toEqual([
      'BF_MACHINE_STATE_UNKNOWN',
      'BF_LIST_DUPLICATE',
      'BF_MACHINE_ID_EMPTY',
    ]);
    expect(Buffer.from(revision).toString()).toBe('7');
  });
});
