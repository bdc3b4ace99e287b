// The four services compared with the contract, and the typed layer against a real grpc-js server.

import { credentials, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { len, num } from '../../../testing/support/wire-bytes.ts';
import { readOperatorFrame } from '../codec/frames.ts';
import * as capacity from '../gen/bigfleet/v1alpha1/capacity.ts';
import * as coordinator from '../gen/bigfleet/v1alpha1/coordinator.ts';
import * as provider from '../gen/bigfleet/v1alpha1/provider.ts';
import * as shard from '../gen/bigfleet/v1alpha1/shard.ts';
import * as shardread from '../gen/bigfleet/v1alpha1/shardread.ts';
import { connect, type ServiceClient } from './client.ts';
import { addService, type Handlers, type HandlersFor } from './server.ts';
import {
  bindService,
  CHANNEL_OPTIONS,
  MAX_MESSAGE_BYTES,
  methodsOf,
  RpcError,
  rawBytes,
  type Service,
  type Shapes,
  statusOf,
} from './service.ts';

const coordinatorService = bindService(coordinator.CoordinatorDefinition);
const providerService = bindService(provider.CapacityProviderDefinition);
const readService = bindService(shardread.ShardReadDefinition);
const shardService = bindService(shard.ShardDefinition);
/** The same service for a server that reads its requests raw. */
const rawShardService = bindService(shard.ShardDefinition, { session: { request: rawBytes } });

/** Closed after each test, the last one first. */
const open: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve<S extends Shapes, C extends Shapes>(
  service: Service<S>,
  handlers: Handlers<S>,
  clientService: Service<C>,
): Promise<ServiceClient<C>> {
  const server = new Server(CHANNEL_OPTIONS);
  addService(server, service, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  // Fails the test by its time limit if a call or connection is still open.
  open.push(
    () =>
      new Promise((resolve, reject) =>
        server.tryShutdown((error) => (error === undefined ? resolve() : reject(error))),
      ),
  );
  const client = connect(clientService, `127.0.0.1:${port}`, credentials.createInsecure());
  open.push(() => client.close());
  return client;
}

const unimplemented = () => {
  throw new RpcError(status.UNIMPLEMENTED, 'not in this test');
};
const idleMachine = provider.Machine.decode(len(1, 'm-1'));
const providerHandlers: HandlersFor<typeof providerService> = {
  create: unimplemented,
  configure: unimplemented,
  drain: unimplemented,
  delete: unimplemented,
  get: ({ id }) => {
    if (id === '') throw new RpcError(status.INVALID_ARGUMENT, 'empty id');
    if (id === 'bug') throw new TypeError('a bug');
    return { ...idleMachine, id };
  },
  list: () => new Promise(() => {}),
};

describe('the generated services', () => {
  const messages = { ...capacity, ...coordinator, ...provider, ...shard, ...shardread };
  const nameOf = (type: unknown) => Object.entries(messages).find(([, value]) => value === type)?.[0];
  const describeCalls = (definition: {
    readonly methods: Readonly<
      Record<string, { readonly name: string; readonly requestType: unknown; readonly responseType: unknown }>
    >;
  }) =>
    Object.values(definition.methods).map(
      (method) => `${method.name}: ${nameOf(method.requestType)} → ${nameOf(method.responseType)}`,
    );

  test('given all calls, then paths and kinds are those of the contract', () => {
    const calls = [
      ...methodsOf(providerService),
      ...methodsOf(shardService),
      ...methodsOf(readService),
      ...methodsOf(coordinatorService),
    ].map(([, { path, kind }]) => `${path} ${kind}`);
    expect(calls.sort()).toEqual([
      '/bigfleet.v1alpha1.CapacityProvider/Configure unary',
      '/bigfleet.v1alpha1.CapacityProvider/Create unary',
      '/bigfleet.v1alpha1.CapacityProvider/Delete unary',
      '/bigfleet.v1alpha1.CapacityProvider/Drain unary',
      '/bigfleet.v1alpha1.CapacityProvider/Get unary',
      '/bigfleet.v1alpha1.CapacityProvider/List unary',
      '/bigfleet.v1alpha1.Coordinator/AssignDomain unary',
      '/bigfleet.v1alpha1.Coordinator/JoinRaftCluster unary',
      '/bigfleet.v1alpha1.Coordinator/ListDomainAssignments unary',
      '/bigfleet.v1alpha1.Coordinator/ListShardReports unary',
      '/bigfleet.v1alpha1.Coordinator/ListShards unary',
      '/bigfleet.v1alpha1.Coordinator/RemoveShard unary',
      '/bigfleet.v1alpha1.Coordinator/ReportShard unary',
      '/bigfleet.v1alpha1.Coordinator/SnapshotSave serverStream',
      '/bigfleet.v1alpha1.Coordinator/UnassignDomain unary',
      '/bigfleet.v1alpha1.Shard/Session bidi',
      '/bigfleet.v1alpha1.ShardRead/InspectNeeds serverStream',
    ]);
  });

  test('given all calls, then request and response types are those of the contract', () => {
    expect(describeCalls(provider.CapacityProviderDefinition)).toEqual([
      'Create: CreateRequest → TransitionAck',
      'Configure: ConfigureRequest → TransitionAck',
      'Drain: DrainRequest → TransitionAck',
      'Delete: DeleteRequest → TransitionAck',
      'Get: MachineRef → Machine',
      'List: ListFilter → MachineList',
    ]);
    expect(describeCalls(shard.ShardDefinition)).toEqual(['Session: OperatorMessage → ShardMessage']);
    expect(describeCalls(shardread.ShardReadDefinition)).toEqual([
      'InspectNeeds: InspectNeedsRequest → InspectNeedsResponse',
    ]);
    expect(describeCalls(coordinator.CoordinatorDefinition)).toEqual([
      'ReportShard: ShardReport → ReportAck',
      'AssignDomain: AssignDomainRequest → AssignDomainResponse',
      'UnassignDomain: UnassignDomainRequest → UnassignDomainResponse',
      'RemoveShard: RemoveShardRequest → RemoveShardResponse',
      'ListShards: ListShardsRequest → ListShardsResponse',
      'ListDomainAssignments: ListDomainAssignmentsRequest → ListDomainAssignmentsResponse',
      'ListShardReports: ListShardReportsRequest → ListShardReportsResponse',
      'JoinRaftCluster: JoinRaftClusterRequest → JoinRaftClusterResponse',
      'SnapshotSave: SnapshotSaveRequest → SnapshotSaveChunk',
    ]);
  });

  test('given the limit of a message, then it is 256 MiB', () => {
    expect(MAX_MESSAGE_BYTES).toBe(268_435_456);
  });
});

describe('a unary call', () => {
  test('given a handler that succeeds, then the client receives the message', async () => {
    const client = await serve(providerService, providerHandlers, providerService);
    expect(await client.rpc.get({ id: 'm-7' })).toEqual({ ...idleMachine, id: 'm-7' });
  });

  test('given a message above the 4 MiB default limit of grpc-js, then it is delivered', async () => {
    const client = await serve(providerService, providerHandlers, providerService);
    const id = 'x'.repeat(5 * 1024 * 1024);
    expect((await client.rpc.get({ id })).id.length).toBe(id.length);
  });

  test('given a handler that throws a status, then the client receives that status', async () => {
    const client = await serve(providerService, providerHandlers, providerService);
    const error = await client.rpc.get({ id: '' }).catch((e: unknown) => e);
    expect(statusOf(error)).toBe(status.INVALID_ARGUMENT);
    expect(error).toMatchObject({ details: 'empty id' });
  });

  test('given a handler that throws another error, then the client receives INTERNAL', async () => {
    const client = await serve(providerService, providerHandlers, providerService);
    const error = await client.rpc.get({ id: 'bug' }).catch((e: unknown) => e);
    expect(statusOf(error)).toBe(status.INTERNAL);
  });

  test('given a deadline or an abort signal, then the call ends with DEADLINE_EXCEEDED or CANCELLED', async () => {
    const client = await serve(providerService, providerHandlers, providerService);
    const filter = provider.ListFilter.decode(new Uint8Array());
    const late = await client.rpc.list(filter, { deadline: Date.now() + 30 }).catch((e: unknown) => e);
    expect(statusOf(late)).toBe(status.DEADLINE_EXCEEDED);
    const signal = AbortSignal.timeout(30);
    const cancelled = await client.rpc.list(filter, { signal }).catch((e: unknown) => e);
    expect(statusOf(cancelled)).toBe(status.CANCELLED);
  });
});

describe('a server stream', () => {
  const frame = (cycle: bigint): shardread.InspectNeedsResponse => ({
    frame: { $case: 'header', value: { cycle, computedAtUnixNanos: 0n, totalNeeds: 0 } },
  });

  test('given a client that reads, then all frames arrive in order', async () => {
    const inspectNeeds = ({ limit }: shardread.InspectNeedsRequest) =>
      Array.from({ length: limit }, (_, i) => frame(BigInt(i)));
    const client = await serve(readService, { inspectNeeds }, readService);
    const frames: unknown[] = [];
    for await (const got of client.rpc.inspectNeeds({ clusterId: '', limit: 100 })) frames.push(got);
    expect(frames).toEqual(Array.from({ length: 100 }, (_, i) => frame(BigInt(i))));
  });

  test('given a handler that fails midway, then the client receives the frames before it and the status', async () => {
    async function* inspectNeeds() {
      yield frame(1n);
      throw new RpcError(status.NOT_FOUND, 'gone');
    }
    const client = await serve(readService, { inspectNeeds }, readService);
    const frames: unknown[] = [];
    const reading = (async () => {
      for await (const got of client.rpc.inspectNeeds({ clusterId: '', limit: 0 })) frames.push(got);
    })();
    expect(statusOf(await reading.catch((e: unknown) => e))).toBe(status.NOT_FOUND);
    expect(frames).toEqual([frame(1n)]);
  });

  test('given a client that stops reading, then the handler is suspended; when it cancels, then the handler is closed', async () => {
    let made = 0;
    const closed = Promise.withResolvers<void>();
    const large = { ...idleMachine, id: 'x'.repeat(100_000) };
    async function* inspectNeeds(): AsyncGenerator<shardread.InspectNeedsResponse> {
      try {
        for (; made < 10_000; made++) {
          const value = shardread.NeedView.decode(len(2, large.id));
          yield { frame: { $case: 'need', value } };
        }
      } finally {
        closed.resolve();
      }
    }
    const client = await serve(readService, { inspectNeeds }, readService);
    const call = client.rpc.inspectNeeds({ clusterId: '', limit: 0 });
    call.on('error', () => {});
    await new Promise((resolve) => call.once('readable', resolve));
    await new Promise((resolve) => setTimeout(resolve, 100));
    // The whole stream has 1 GB; only what fits into the buffers may have been generated.
    expect(made).toBeLessThan(1000);
    call.cancel();
    await closed.promise;
    expect(made).toBeLessThan(1000);
  });
});

describe('a bidirectional stream with raw requests', () => {
  const ack = (echo: string): shard.ShardMessage => ({
    payload: {
      $case: 'ack',
      value: {
        echo,
        coordinatorTerm: 0n,
        shardEpoch: 2n ** 63n - 1n,
        features: [],
        rollupTimestampUnixNanos: 0n,
      },
    },
  });

  test('given frames of the client, then the server receives their bytes and can answer each', async () => {
    const rollups: Uint8Array[] = [];
    const client = await serve(
      rawShardService,
      {
        session: (call) => {
          call.on('data', (bytes: Uint8Array) => {
            const frame = readOperatorFrame(bytes);
            if (frame.kind === 'rollup') rollups.push(frame.bytes);
            call.write(ack(frame.kind));
          });
          call.on('end', () => call.end());
        },
      },
      shardService,
    );
    const call = client.rpc.session();
    call.write({
      payload: { $case: 'hello', value: { clusterId: 'c1', protocolVersion: 'v1alpha1', features: [] } },
    });
    call.write({
      payload: {
        $case: 'rollup',
        value: { clusterId: 'c1', timestampUnixNanos: 5n, needs: [], nodeFacts: undefined },
      },
    });
    call.end();
    const answers: shard.ShardMessage[] = [];
    for await (const answer of call) answers.push(answer);
    expect(answers).toEqual([ack('hello'), ack('rollup')]);
    expect(rollups.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual([
      Buffer.concat([len(1, 'c1'), num(2, 5)]).toString('hex'),
    ]);
  });

  test('given a server that ends it with a status, then the client receives that status', async () => {
    const session = (call: { emit(event: 'error', error: RpcError): unknown }) =>
      void call.emit('error', new RpcError(status.PERMISSION_DENIED, 'not you'));
    const client = await serve(rawShardService, { session }, shardService);
    const call = client.rpc.session();
    const error = await new Promise((resolve) => call.on('error', resolve).resume());
    expect(statusOf(error)).toBe(status.PERMISSION_DENIED);
  });
});

describe('strict decoding of requests', () => {
  test('given a string that is not UTF-8, then the call fails, as with a server in Go', async () => {
    const lenient = bindService(provider.CapacityProviderDefinition, { get: { request: rawBytes } });
    const client = await serve(providerService, providerHandlers, lenient);
    const error = await client.rpc.get(len(1, Uint8Array.of(0xff))).catch((e: unknown) => e);
    expect(statusOf(error)).toBe(status.INTERNAL);
  });
});

describe('the writer shared by all messages', () => {
  const { encode } = shardService.methods.session.response;
  const ack = (shardEpoch: bigint): shard.ShardMessage => ({
    payload: {
      $case: 'ack',
      value: { echo: 'hello', coordinatorTerm: 0n, shardEpoch, features: [], rollupTimestampUnixNanos: 0n },
    },
  });

  test('given an encoded message, when another is encoded, then the bytes of the first are unchanged', () => {
    const first = encode(ack(1n));
    const copy = Buffer.from(first);
    encode(ack(2n));
    expect(first).toEqual(copy);
  });

  test('given a message that cannot be encoded, then the next one contains none of its bytes', () => {
    const alone = Buffer.from(shard.ShardMessage.encode(ack(1n)).finish());
    expect(() => encode(ack(2n ** 64n))).toThrow('too large');
    expect(encode(ack(1n))).toEqual(alone);
  });
});
