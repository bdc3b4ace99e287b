// Invalid input over real gRPC: the answer is always a clear code, nothing has changed and nothing is retained.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import { type Provider, type ProviderServer, serveProvider } from '../../src/provider/index.ts';
import {
  CapacityProviderDefinition,
  type MachineState as WireState,
} from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { bindService, connect, MAX_MESSAGE_BYTES, status, statusOf } from '../../src/wire/index.ts';
import { openKitProvider } from './kit-provider.ts';
import { frame, rawCall } from './raw-call.ts';
import { UNHURRIED_MS } from './timings.ts';

const MIB = 1024 * 1024;
const UNFENCED = { shardId: '', shardEpoch: 0n, sequenceNumber: 0n };
const ALL = { states: [], maxResults: 0, sinceRevision: new Uint8Array(0) };

let provider: Provider;
let server: ProviderServer;
let channel: ReturnType<typeof connectTo>;
let idle: string;

const connectTo = (address: string) => connect(bindService(CapacityProviderDefinition), address);

beforeAll(async () => {
  provider = await openKitProvider({ machines: 32, transitionTimeoutMs: UNHURRIED_MS });
  server = await serveProvider(provider, '127.0.0.1:0', { tls: null });
  channel = connectTo(server.address);
});

afterAll(async () => {
  channel.close();
  await server.stop();
});

let machines = 0;
beforeEach(async () => {
  idle = `m-${machines++}`;
  await channel.rpc.create({ machineId: idle, ...UNFENCED });
  await expect.poll(() => stateOf(idle), { interval: 2 }).toBe(MachineState.Idle);
});

async function stateOf(id: string): Promise<number> {
  return (await channel.rpc.get({ id })).state;
}

const configure = (changes: Partial<Parameters<typeof channel.rpc.configure>[0]> = {}) =>
  channel.rpc.configure({
    machineId: idle,
    clusterId: 'c',
    bootstrapBlob: new Uint8Array(),
    shardMetadata: new Map(),
    ...UNFENCED,
    ...changes,
  });

/** The whole fleet and its revision, to check that not a byte of it changed. */
async function fleet() {
  const { machines: listed, revision } = await channel.rpc.list(ALL);
  const byId = [...listed].sort((a, b) => a.id.localeCompare(b.id));
  return { revision: Buffer.from(revision).toString('latin1'), byId };
}

/** The call is refused with one of these codes, and the fleet is unchanged. */
async function refuses(call: () => Promise<unknown>, code: status, text: string): Promise<void> {
  const before = await fleet();
  const error = await call().then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect({ code: statusOf(error), message: (error as Error | undefined)?.message }).toEqual({
    code,
    message: expect.stringContaining(text),
  });
  expect(await fleet()).toEqual(before);
  expect(provider.runningCount).toBe(0);
}

const metadata = (keys: number, bytes: number) =>
  new Map(Array.from({ length: keys }, (_, i) => [`key-${i}`, 'x'.repeat(bytes)]));

describe('a request that exceeds a limit', () => {
  it.each([
    ['too many keys', metadata(5_000, 1)],
    ['too many bytes', metadata(4, MIB)],
  ])('given metadata with %s, then it is refused with INVALID_ARGUMENT', async (_, shardMetadata) => {
    await refuses(
      () => configure({ shardMetadata }),
      status.INVALID_ARGUMENT,
      'BF_PROVIDER_LIMIT: shard_metadata',
    );
  });

  it('given a blob above its limit, then it is refused with RESOURCE_EXHAUSTED, and its token is not spent', async () => {
    const bootstrapBlob = new Uint8Array(17 * MIB);
    const token = { shardId: 's', shardEpoch: 9n, sequenceNumber: 9n };
    await refuses(
      () => configure({ bootstrapBlob, ...token }),
      status.RESOURCE_EXHAUSTED,
      'BF_PROVIDER_LIMIT: bootstrap_blob',
    );
    await configure({ ...token, sequenceNumber: 1n });
  });

  it.each(['machineId', 'shardId', 'clusterId'] as const)(
    'given a %s above its limit, then it is refused with INVALID_ARGUMENT',
    async (field) => {
      const long = 'ä'.repeat(600);
      await refuses(() => configure({ [field]: long }), status.INVALID_ARGUMENT, 'BF_PROVIDER_LIMIT');
    },
  );

  it('given several of them, then none is retained in memory', async () => {
    const blob = { bootstrapBlob: new Uint8Array(17 * MIB) };
    const notes = { shardMetadata: metadata(4, MIB) };
    await configure(blob).catch(() => {});
    const before = bytesInUse();
    for (let i = 0; i < 6; i++) {
      await expect(configure(blob)).rejects.toThrow('BF_PROVIDER_LIMIT');
      await expect(configure(notes)).rejects.toThrow('BF_PROVIDER_LIMIT');
    }
    await channel.rpc.list(ALL);
    expect((bytesInUse() - before) / MIB).toBeLessThan(64);
  });
});

/** Heap and buffers after a full garbage collection. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('a request with an invalid field', () => {
  it('given a negative grace, then it is refused with INVALID_ARGUMENT', async () => {
    await configure();
    await expect.poll(() => stateOf(idle), { interval: 2 }).toBe(MachineState.Configured);
    const drain = (seconds: bigint) =>
      channel.rpc.drain({ machineId: idle, gracePeriodSeconds: seconds, ...UNFENCED });
    await refuses(() => drain(-1n), status.INVALID_ARGUMENT, 'BF_REQUEST_GRACE');
    await refuses(() => drain(-(2n ** 63n)), status.INVALID_ARGUMENT, 'BF_REQUEST_GRACE');
  });

  it('given no machine or no cluster, then it is refused with INVALID_ARGUMENT', async () => {
    await refuses(() => configure({ machineId: '' }), status.INVALID_ARGUMENT, 'BF_REQUEST_MACHINE_EMPTY');
    await refuses(() => configure({ clusterId: '' }), status.INVALID_ARGUMENT, 'BF_CLUSTER_EMPTY');
  });

  it.each([0, 9, 77, -1])(
    'given a List of state %i, then it is refused with INVALID_ARGUMENT',
    async (state) => {
      const list = () => channel.rpc.list({ ...ALL, states: [state as WireState] });
      await refuses(list, status.INVALID_ARGUMENT, 'BF_REQUEST_STATE');
    },
  );

  it('given a negative limit of a List, then it is refused with INVALID_ARGUMENT', async () => {
    await refuses(
      () => channel.rpc.list({ ...ALL, maxResults: -1 }),
      status.INVALID_ARGUMENT,
      'BF_REQUEST_LIMIT',
    );
  });

  it('given a garbage cursor, then the answer is the full list', async () => {
    const { revision, byId } = await fleet();
    const junk = ['!', `${revision}!`, `${revision}0`, ` ${revision}`, '\0', '1e3', 'x'.repeat(MIB)];
    for (const cursor of junk) {
      const { machines: listed } = await channel.rpc.list({ ...ALL, sinceRevision: Buffer.from(cursor) });
      expect(listed).toHaveLength(byId.length);
    }
  });

  it('given NUL in keys, values and names, then they are stored unchanged', async () => {
    const shardMetadata = new Map([
      ['a\0b', 'c\0d'],
      ['\0', ''],
      ['a', 'kept apart'],
    ]);
    await configure({ clusterId: 'c\0d', shardMetadata });
    await expect.poll(() => stateOf(idle), { interval: 2 }).toBe(MachineState.Configured);
    expect(await channel.rpc.get({ id: idle })).toMatchObject({ cluster: 'c\0d', shardMetadata });
    await refuses(() => channel.rpc.get({ id: `${idle}\0` }), status.NOT_FOUND, 'BF_MACHINE_UNKNOWN');
  });
});

describe('bytes that are not a request', () => {
  const text = (value: string) => Buffer.concat([Buffer.from([0x0a, value.length]), Buffer.from(value)]);
  it.each<[string, Uint8Array, status]>([
    ['a frame that ends too early', frame(text('m-1'), 100), status.UNIMPLEMENTED],
    ['half a header', Buffer.from([0, 0, 0]), status.UNIMPLEMENTED],
    ['no message', new Uint8Array(0), status.UNIMPLEMENTED],
    ['two messages', Buffer.concat([frame(text('m-1')), frame(text('m-1'))]), status.UNIMPLEMENTED],
    ['a length above the limit', frame(text('m-1'), MAX_MESSAGE_BYTES + 1), status.RESOURCE_EXHAUSTED],
    ['the largest possible length', frame(text('m-1'), 2 ** 32 - 1), status.RESOURCE_EXHAUSTED],
    ['a broken message', frame(Buffer.from([0xff, 0xff, 0xff, 0xff])), status.INTERNAL],
    ['a text that is cut', frame(Buffer.from([0x0a, 50, 0x61])), status.INTERNAL],
    ['a text that is not UTF-8', frame(Buffer.from([0x0a, 2, 0xc3, 0x28])), status.INTERNAL],
  ])('given %s, then the code is not that of a fence, and nothing changes', async (_, body, code) => {
    const before = await fleet();
    for (const method of ['Create', 'Configure', 'Drain', 'Delete']) {
      expect(await rawCall(server.address, method, body)).toBe(code);
    }
    expect(await fleet()).toEqual(before);
  });

  it('given them from many callers, then each is refused and nothing changes', async () => {
    const before = await fleet();
    const calls = Array.from({ length: 200 }, (_, i) =>
      rawCall(server.address, 'Create', frame(Buffer.alloc(i % 7, 0xff), i)),
    );
    for (const code of await Promise.all(calls)) {
      expect(code).toBeGreaterThan(0);
      expect(code).not.toBe(status.FAILED_PRECONDITION);
    }
    expect(await fleet()).toEqual(before);
    expect(provider.runningCount).toBe(0);
  });
});
