// Sessions over real gRPC on loopback: the protocol arrives, statuses reach the other end, and a reader that has stopped
// reading costs no more than its outbox and is really cut off.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Stream, connect as http2Connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientDuplexStream, Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../provider/index.ts';
import { OperatorMessage, ShardDefinition, ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  bindService,
  clientCredentials,
  connect,
  issueCertificate,
  makeAuthority,
  rawBytes,
  serverCredentials,
  status,
  type TlsFiles,
} from '../../wire/index.ts';
import type { BrainEvent } from '../events.ts';
import { MemoryDemandStore } from './demand-store.ts';
import { Hands } from './hands.ts';
import { MAX_FRAME_BYTES } from './limits.ts';
import { addSessions, SESSION_SERVER_OPTIONS } from './session-grpc.ts';
import { nodeState, rollupFrame, rollupOf, wireNeed } from './testkit.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes } });
const open: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

class Operator {
  readonly stream: ClientDuplexStream<Uint8Array, ShardMessage>;
  readonly received: ShardMessage[] = [];
  readonly ended: Promise<{ readonly code: number; readonly details: string }>;
  #wake = () => {};

  constructor(stream: ClientDuplexStream<Uint8Array, ShardMessage>) {
    this.stream = stream;
    this.ended = new Promise((resolve) => stream.on('status', resolve));
    stream.on('error', () => {});
    stream.on('data', (frame: ShardMessage) => {
      this.received.push(frame);
      this.#wake();
    });
  }

  hello(clusterId: string): void {
    this.stream.write(helloFrame(clusterId));
  }

  async next(count: number): Promise<ShardMessage[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.received;
  }

  get kinds(): string[] {
    return this.received.map(({ payload }) =>
      payload?.$case === 'ack' ? `ack ${payload.value.echo}` : `${payload?.$case}`,
    );
  }
}

function helloFrame(clusterId: string): Uint8Array {
  const payload = {
    $case: 'hello',
    value: { clusterId, protocolVersion: 'v1alpha1', features: [] },
  } as const;
  return OperatorMessage.encode({ payload }).finish();
}

/** An operator that takes nothing from the network until told to; a client of grpc-js reads on whatever happens. */
class PausedOperator {
  readonly #stream: ClientHttp2Stream;
  #bytes = Buffer.alloc(0);
  readonly received: ShardMessage[] = [];
  readonly closed: Promise<number>;

  constructor(address: string, clusterId: string) {
    const session = http2Connect(`http://${address}`);
    open.push(() => session.destroy());
    this.#stream = session.request({
      ':method': 'POST',
      ':path': '/bigfleet.v1alpha1.Shard/Session',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    this.#stream.pause();
    this.#stream.on('error', () => {});
    this.closed = new Promise((resolve) =>
      this.#stream.on('close', () => resolve(this.#stream.rstCode ?? 0)),
    );
    const hello = helloFrame(clusterId);
    const header = Buffer.alloc(FRAME_HEADER);
    header.writeUInt32BE(hello.length, 1);
    this.#stream.write(Buffer.concat([header, hello]));
  }

  read(): void {
    this.#stream.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      while (this.#bytes.length >= FRAME_HEADER) {
        const end = FRAME_HEADER + this.#bytes.readUInt32BE(1);
        if (this.#bytes.length < end) break;
        this.received.push(ShardMessage.decode(this.#bytes.subarray(FRAME_HEADER, end)));
        this.#bytes = this.#bytes.subarray(end);
      }
    });
    this.#stream.resume();
  }
}

/** In front of each message of a gRPC stream: a flag and a length. */
const FRAME_HEADER = 5;

async function served(tls: TlsFiles | null = null) {
  const events: BrainEvent[] = [];
  const hands = await Hands.open({
    clock: systemClock,
    brain: { post: (event) => events.push(event) },
    store: new MemoryDemandStore(),
    shardEpoch: 3n,
  });
  const server = new Server(SESSION_SERVER_OPTIONS);
  addSessions(server, hands, { hasTls: tls !== null });
  const credentials =
    tls === null ? ServerCredentials.createInsecure() : serverCredentials('127.0.0.1:0', { tls });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  // Does not resolve while a call is still open, which then fails the test by its time limit.
  const stop = (): Promise<void> => {
    hands.close();
    return new Promise((resolve) => server.tryShutdown(() => resolve()));
  };
  open.push(stop);
  const address = `127.0.0.1:${port}`;
  const dial = (files: TlsFiles | null = tls) => {
    const client = connect(service, address, clientCredentials(address, { tls: files }));
    open.push(() => client.close());
    return new Operator(client.rpc.session());
  };
  return { hands, events, dial, stop, address };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('sessions over gRPC', () => {
  it('given a hello and a roll-up, then both are acknowledged and the brain has the demand', async () => {
    const { dial, events } = await served();
    const operator = dial();
    operator.hello('c1');
    operator.stream.write(rollupFrame(rollupOf('c1', [wireNeed(1), wireNeed(2)])));
    await operator.next(2);
    expect(operator.kinds).toEqual(['ack hello', 'ack rollup']);
    expect(operator.received[0]!.payload).toMatchObject({ value: { coordinatorTerm: 0n, shardEpoch: 3n } });
    expect(events).toMatchObject([{ kind: 'session-opened' }, { kind: 'demand', needs: [{}, {}] }]);
  });

  it('given a wrong first frame, then the stream ends with INVALID_ARGUMENT', async () => {
    const { dial, events } = await served();
    const operator = dial();
    operator.stream.write(rollupFrame(rollupOf('c1', 1)));
    const { code, details } = await operator.ended;
    expect([code, events]).toEqual([status.INVALID_ARGUMENT, []]);
    expect(details).toContain('BF_SESSION_HELLO');
  });

  it('given a newer session of the cluster, then the old stream is really ended', async () => {
    const { dial, hands } = await served();
    const [old, newer] = [dial(), dial()];
    old.hello('c1');
    await old.next(1);
    newer.hello('c1');
    expect(await old.ended).toMatchObject({ code: status.ABORTED });
    hands.sendNodeState('c1', nodeState('m1'));
    await newer.next(2);
    expect(newer.kinds).toEqual(['ack hello', 'nodeStateUpdate']);
  });

  it('given an operator that ends or cancels its stream, then the brain is told', async () => {
    const { dial, events } = await served();
    for (const leave of ['end', 'cancel'] as const) {
      const operator = dial();
      operator.hello('c1');
      await operator.next(1);
      operator.stream[leave]();
      await operator.ended;
      await until(() => events.at(-1)?.kind === 'session-closed');
    }
    expect(events.map(({ kind }) => kind)).toEqual([
      'session-opened',
      'session-closed',
      'session-opened',
      'session-closed',
    ]);
  });

  it('given a reader that pauses, then frames wait and coalesce, and it gets the newest of each when it reads on', async () => {
    const { address, hands } = await served();
    const operator = new PausedOperator(address, 'c1');
    await until(() => hands.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 100; i++) {
        hands.sendNodeState('c1', nodeState(`m${i}`, { lastError, nodeName: `${round}` }));
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(hands.sessions[0]!.waiting).toBeLessThanOrEqual(100);
    expect(hands.counters.framesCoalesced).toBeGreaterThan(1000);
    operator.read();
    const newest = new Map<string, string>();
    const isUpToDate = () => {
      for (const { payload } of operator.received) {
        if (payload?.$case === 'nodeStateUpdate') newest.set(payload.value.machineId, payload.value.nodeName);
      }
      return newest.size === 100 && [...newest.values()].every((round) => round === '19');
    };
    await until(isUpToDate);
    expect(operator.received.length).toBeLessThan(1000);
  });

  it('given a reader that never reads, then ending its session resets the stream, with all that waits in it', async () => {
    const { address, dial, hands, events, stop } = await served();
    const stuck = new PausedOperator(address, 'c1');
    await until(() => hands.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let i = 0; i < 200; i++) hands.sendNodeState('c1', nodeState(`m${i}`, { lastError }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(hands.sessions[0]!.waiting).toBeGreaterThan(100);
    const newer = dial();
    newer.hello('c1');
    await newer.next(1);
    expect(events.map(({ kind }) => kind)).toEqual(['session-opened', 'session-closed', 'session-opened']);
    expect(await stuck.closed).not.toBe(0);
    await stop();
  });

  it('given a frame above the limit, then the stream ends with RESOURCE_EXHAUSTED', async () => {
    const { dial, hands } = await served();
    for (const bytes of [MAX_FRAME_BYTES + 1, MAX_FRAME_BYTES + 2 * 1024 * 1024]) {
      const operator = dial();
      operator.hello('c1');
      await operator.next(1);
      operator.stream.write(new Uint8Array(bytes));
      expect((await operator.ended).code).toBe(status.RESOURCE_EXHAUSTED);
    }
    expect(hands.counters.framesOversized).toBe(1);
  });
});

describe('sessions over TLS', () => {
  const valid = { notBefore: new Date('2020-01-01'), notAfter: new Date('2060-01-01') };
  const authority = makeAuthority({ name: 'fleet', ...valid });

  function files(...uris: string[]): TlsFiles {
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-tls-'));
    open.unshift(() => rmSync(folder, { recursive: true }));
    const pair = issueCertificate(authority, { name: 'x', uris, ipAddresses: ['127.0.0.1'], ...valid });
    const paths = { cert: join(folder, 'cert'), key: join(folder, 'key'), ca: join(folder, 'ca') };
    writeFileSync(paths.cert, pair.certificate);
    writeFileSync(paths.key, pair.key);
    writeFileSync(paths.ca, authority.certificate);
    return paths;
  }

  it('given the certificate of the cluster, then it may; of another, of a shard, of two or of nobody, it may not', async () => {
    const { dial, hands } = await served(files('bigfleet://shard/shard-0'));
    const rightful = dial(files('bigfleet://cluster/c1'));
    rightful.hello('c1');
    await rightful.next(1);
    const wrong = [
      ['bigfleet://cluster/c2'],
      ['bigfleet://shard/c1'],
      ['bigfleet://cluster/c1', 'bigfleet://admin'],
      [],
    ];
    for (const uris of wrong) {
      const operator = dial(files(...uris));
      operator.hello('c1');
      expect(await operator.ended).toMatchObject({ code: status.PERMISSION_DENIED });
    }
    expect(hands.counters.identityRejected).toBe(wrong.length);
    expect(hands.sessions).toHaveLength(1);
  });
});
