// The client over real connections: the kit on loopback, servers that send malformed answers or none, and the worker that
// reads Lists.

import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { Copy, kindOf, listOf, wireMachine } from '../../../testing/support/provider-client.ts';
import { HeldBackend, scene } from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { addService, bindService, type HandlersFor, RpcError, rawBytes } from '../../wire/index.ts';
import { serveProvider } from '../kit/server.ts';
import { ProviderClient } from './client.ts';
import { grpcTransport } from './grpc-transport.ts';
import { ListThread } from './list-thread.ts';
import type { RecordBatch } from './machine-list.ts';

const FAST = { baseMs: 10, maxMs: 10 };
const LOOPBACK = '127.0.0.1:0';
const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function realProvider(machines: number): Promise<{ address: string; backend: HeldBackend }> {
  const backend = new HeldBackend(machines);
  backend.isPrompt = true;
  const { provider } = await scene({ backend });
  const server = await serveProvider(provider, LOOPBACK, { tls: null });
  closing.push(() => server.stop());
  return { address: server.address, backend };
}

/** A server with scripted answers to Lists; it rejects the other calls. */
async function hostileProvider(
  list: HandlersFor<typeof service>['list'],
  others: Partial<HandlersFor<typeof service>> = {},
): Promise<{ address: string }> {
  const server = new Server();
  const refuse = () => {
    throw new RpcError(status.UNIMPLEMENTED, 'not in this test');
  };
  addService(server, service, {
    create: refuse,
    configure: refuse,
    drain: refuse,
    delete: refuse,
    get: refuse,
    list,
    ...others,
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(LOOPBACK, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  closing.push(() => server.forceShutdown());
  return { address: `127.0.0.1:${port}` };
}

function threadTo(address: string, limits: ConstructorParameters<typeof ListThread>[0]['limits'] = {}) {
  const outcomes: string[] = [];
  const thread = new ListThread({
    provider: { address, tls: null },
    seed: 1,
    limits,
    onAttempt: ({ outcome }) => outcomes.push(outcome),
  });
  closing.push(() => thread.close());
  return { thread, outcomes };
}

function clientTo(address: string, limits: ConstructorParameters<typeof ProviderClient>[0]['limits'] = {}) {
  let sequence = 0n;
  const client = new ProviderClient({
    transport: grpcTransport({ address, tls: null }),
    fence: { shardId: 'shard-0', epoch: 1n, nextSequence: () => ++sequence },
    clock: systemClock,
    random: new Random(1),
    limits,
  });
  closing.push(() => client.close());
  return client;
}

describe('calls over gRPC', () => {
  it('given the kit on a port, then all six calls work and refusals keep their kinds', async () => {
    const { address } = await realProvider(2);
    const client = clientTo(address);
    expect(await client.create('m-0')).toMatchObject({ operationId: 'op-1', machine: { id: 'm-0' } });
    await expect.poll(async () => (await client.get('m-0')).state).toBe(MachineState.Idle);
    expect(await kindOf(client.drain('m-0', 1))).toBe('position');
    expect(await kindOf(client.get('ghost'))).toBe('not-found');
    const idle = await client.list({ states: [MachineState.Idle] });
    expect(idle.machines.map(({ id }) => id)).toEqual(['m-0']);
    const binding = { cluster: 'c', bootstrapBlob: Buffer.from('join'), metadata: new Map([['k', 'v']]) };
    await client.configure('m-0', binding);
    await expect.poll(async () => (await client.get('m-0')).state).toBe(MachineState.Configured);
    await client.drain('m-0', 0);
    await expect.poll(async () => (await client.get('m-0')).state).toBe(MachineState.Idle);
    await client.delete('m-0');
  });

  it('given no server at the address, then a call is unavailable after its attempts', async () => {
    const client = clientTo('127.0.0.1:1', { readAttempts: 2, backoff: FAST });
    expect(await kindOf(client.get('m-0'))).toBe('unavailable');
  });

  it('given a provider that hangs, then a call ends at its deadline', async () => {
    const { address } = await hostileProvider(() => listOf([]), { get: () => new Promise(() => {}) });
    const client = clientTo(address, { attemptMs: 100, callMs: 200, readAttempts: 2, backoff: FAST });
    expect(await kindOf(client.get('m-0'))).toBe('deadline');
  });

  it('given bytes that do not encode a machine, then the answer is malformed', async () => {
    const raw = bindService(CapacityProviderDefinition, { get: { response: rawBytes } });
    const server = new Server();
    const none = () => Promise.reject(new RpcError(status.UNIMPLEMENTED, ''));
    const handlers = { create: none, configure: none, drain: none, delete: none, list: none };
    addService(server, raw, { ...handlers, get: () => Buffer.from([0x0a, 0x7f, 0x00]) });
    const port = await new Promise<number>((resolve) =>
      server.bindAsync(LOOPBACK, ServerCredentials.createInsecure(), (_, bound) => resolve(bound)),
    );
    closing.push(() => server.forceShutdown());
    expect(await kindOf(clientTo(`127.0.0.1:${port}`, { readAttempts: 1 }).get('m-0'))).toBe('malformed');
  });
});

describe('the list thread', () => {
  it('given the kit on a port, then it passes on all machines once and afterwards only changes', async () => {
    // Long enough that the thread frees each list itself.
    const { address } = await realProvider(8000);
    const client = clientTo(address);
    const { thread, outcomes } = threadTo(address);
    const copy = new Copy();
    expect(await thread.read('changes', copy)).toMatchObject({ kind: 'full', isFirst: true, added: 8000 });
    expect(copy.machines.size).toBe(8000);
    expect(await thread.read('changes', copy)).toMatchObject({ kind: 'changes', records: 0 });
    await client.create('m-7');
    await expect.poll(async () => (await client.get('m-7')).state).toBe(MachineState.Idle);
    expect(await thread.read('changes', copy)).toMatchObject({ kind: 'changes', records: 1, changed: 1 });
    expect(copy.machines.get('m-7')!.state).toBe(MachineState.Idle);
    expect(await thread.read('full', copy)).toMatchObject({ kind: 'full', unchanged: 8000, gone: 0 });
    expect(outcomes).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(thread.heldBytes).toBeLessThan(2 ** 20);
  });

  it('given malformed lists, then errors have their kind and the copy is unchanged', async () => {
    const good = [wireMachine('a'), wireMachine('b')];
    const answers = [
      listOf(good),
      listOf(good).subarray(0, 40),
      listOf([wireMachine('a', { state: 99 as never }), good[1]!, wireMachine('c')]),
    ];
    const { address } = await hostileProvider(() => answers.shift()!);
    const { thread } = threadTo(address);
    const copy = new Copy();
    await thread.read('full', copy);
    expect(await kindOf(thread.read('full', copy))).toBe('malformed');
    expect(copy.ids).toEqual(['a', 'b']);
    const report = await thread.read('full', copy);
    expect(report).toMatchObject({ refused: 1, added: 1, gone: 0 });
    expect(report.problems).toMatchObject([{ code: 'BF_MACHINE_STATE_UNKNOWN' }]);
    expect(copy.ids).toEqual(['a', 'b', 'c']);
  });

  it('given no server or no answer, then the reading fails within its timeout and the next one succeeds', async () => {
    let isHanging = true;
    const { address } = await hostileProvider(() =>
      isHanging ? new Promise(() => {}) : listOf([wireMachine('a')]),
    );
    // The second reading has the same timeout, so it must suffice for a slow machine.
    const { thread } = threadTo(address, { listMs: 5000, readAttempts: 1 });
    expect(await kindOf(thread.read('full', new Copy()))).toBe('deadline');
    isHanging = false;
    expect(await thread.read('full', new Copy())).toMatchObject({ added: 1 });
    const { thread: other } = threadTo('127.0.0.1:1', { readAttempts: 1 });
    expect(await kindOf(other.read('full', new Copy()))).toBe('unavailable');
  });

  it('given a message above the size limit, then the list is read by state', async () => {
    const { address } = await hostileProvider(({ states, sinceRevision }) => {
      if (states.length === 0 && sinceRevision.length === 0) {
        throw new RpcError(status.RESOURCE_EXHAUSTED, 'BF_LIST_TOO_LARGE: too many machines');
      }
      return listOf(states[0] === MachineState.Idle ? [wireMachine('a')] : [], '5');
    });
    const { thread } = threadTo(address);
    const copy = new Copy();
    expect(await thread.read('full', copy)).toMatchObject({ messages: 9, added: 1 });
  });

  it('given a slow receiver, then batches are passed one at a time and in order', async () => {
    const machines = Array.from({ length: 3000 }, (_, i) => wireMachine(`m-${i}`));
    const { address } = await hostileProvider(() => listOf(machines));
    const { thread } = threadTo(address);
    const copy = new Copy();
    let waiting = 0;
    const slow = {
      changed: async (batch: RecordBatch) => {
        expect(++waiting).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 2));
        copy.changed(batch);
        waiting--;
      },
      gone: () => {},
    };
    expect(await thread.read('full', slow)).toMatchObject({ added: 3000 });
    expect([...copy.machines.keys()]).toEqual(machines.map(({ id }) => id));
  });

  it('given a receiver that fails, then the reading rejects with its error and the next one sends its batches again', async () => {
    const machines = Array.from({ length: 3000 }, (_, i) => wireMachine(`m-${i}`));
    const { address } = await hostileProvider(() => listOf(machines));
    const { thread } = threadTo(address);
    const failure = new Error('disk full');
    const failing = { changed: () => Promise.reject(failure), gone: () => {} };
    await expect(thread.read('full', failing)).rejects.toBe(failure);
    const copy = new Copy();
    expect(await thread.read('full', copy)).toMatchObject({ added: 3000 });
    expect(copy.machines.size).toBe(3000);
  });

  it('given an abort, then the reading is cancelled; given a closed thread, then every reading is', async () => {
    const { address } = await hostileProvider(() => new Promise(() => {}));
    const { thread } = threadTo(address);
    const aborter = new AbortController();
    const reading = kindOf(thread.read('full', new Copy(), aborter.signal));
    setTimeout(() => aborter.abort(), 20);
    expect(await reading).toBe('cancelled');
    const next = kindOf(thread.read('full', new Copy()));
    await thread.close();
    expect(await next).toBe('cancelled');
    expect(await kindOf(thread.read('full', new Copy()))).toBe('cancelled');
  });

  it('given a worker that fails, then the reading fails with its error, and the next reading starts another worker', async () => {
    const files = { cert: '/nowhere/cert', key: '/nowhere/key', ca: '/nowhere/ca' };
    const thread = new ListThread({ provider: { address: '127.0.0.1:1', tls: files }, seed: 1 });
    closing.push(() => thread.close());
    for (let i = 0; i < 2; i++) {
      const error = await thread.read('full', new Copy()).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        kind: 'internal',
        message: expect.stringContaining('BF_TLS_UNREADABLE'),
      });
    }
  });
});
