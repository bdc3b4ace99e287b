// Sessions over real gRPC on loopback: the protocol works, clients receive statuses, and a reader that stops reading uses no
// more memory than its outbox and is disconnected.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeState, rollupFrame, rollupOf, wireNeed } from '../../../testing/support/sessions.ts';
import {
  helloFrame,
  type ServeOptions,
  serveSessions,
  until,
  WireOperator,
} from '../../../testing/support/sessions-grpc.ts';
import { ShardDefinition, type ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { issueCertificate, makeAuthority } from '../../wire/grpc/certificates.ts';
import {
  bindService,
  clientCredentials,
  connect,
  rawBytes,
  status,
  type TlsFiles,
} from '../../wire/index.ts';

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

async function served(options: ServeOptions = {}) {
  const made = await serveSessions(options);
  open.push(made.stop);
  const dial = (files: TlsFiles | null = options.tls ?? null) => {
    const client = connect(service, made.address, clientCredentials(made.address, { tls: files }));
    open.push(() => client.close());
    return new Operator(client.rpc.session());
  };
  /** Has sent its hello, and reads nothing until `read`. */
  const paused = (cluster: string) => {
    const operator = new WireOperator(made.address);
    open.push(() => operator.hangUp());
    operator.send(helloFrame(cluster));
    return operator;
  };
  return { ...made, dial, paused };
}

describe('sessions over gRPC', () => {
  it('given a hello and a roll-up, then both are acknowledged and the controller receives the demand', async () => {
    const { dial, events } = await served();
    const operator = dial();
    operator.hello('c1');
    operator.stream.write(rollupFrame(rollupOf('c1', [wireNeed(1), wireNeed(2)])));
    await operator.next(2);
    expect(operator.kinds).toEqual(['ack hello', 'ack rollup']);
    expect(operator.received[0]!.payload).toMatchObject({ value: { coordinatorTerm: 0n, shardEpoch: 3n } });
    expect(events).toMatchObject([
      { kind: 'session-opened' },
      { kind: 'demand', delta: { fresh: [{}, {}] } },
    ]);
  });

  it('given a first frame other than a hello, then the stream ends with INVALID_ARGUMENT', async () => {
    const { dial, events } = await served();
    const operator = dial();
    operator.stream.write(rollupFrame(rollupOf('c1', 1)));
    const { code, details } = await operator.ended;
    expect([code, events]).toEqual([status.INVALID_ARGUMENT, []]);
    expect(details).toContain('BF_SESSION_HELLO');
  });

  it('given a newer session of the cluster, then the old stream ends with ABORTED', async () => {
    const { dial, sessions } = await served();
    const [old, newer] = [dial(), dial()];
    old.hello('c1');
    await old.next(1);
    newer.hello('c1');
    expect(await old.ended).toMatchObject({ code: status.ABORTED });
    sessions.sendNodeState('c1', nodeState('m1'));
    await newer.next(2);
    expect(newer.kinds).toEqual(['ack hello', 'nodeStateUpdate']);
  });

  it('given an operator that ends or cancels its stream, then the controller receives session-closed', async () => {
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

  it('given a reader that pauses, then waiting frames are coalesced, and it receives the newest of each when it resumes', async () => {
    const { paused, sessions } = await served();
    const operator = paused('c1');
    await until(() => sessions.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 100; i++) {
        sessions.sendNodeState('c1', nodeState(`m${i}`, { lastError, nodeName: `${round}` }));
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(sessions.sessions[0]!.waiting).toBeLessThanOrEqual(100);
    expect(sessions.counters.framesCoalesced).toBeGreaterThan(1000);
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

  it('given a reader that never reads, when its session ends, then the stream is reset and waiting frames are discarded', async () => {
    const { paused, dial, sessions, events, stop } = await served();
    const stuck = paused('c1');
    await until(() => sessions.sessions.length === 1);
    const lastError = 'x'.repeat(4000);
    for (let i = 0; i < 200; i++) sessions.sendNodeState('c1', nodeState(`m${i}`, { lastError }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(sessions.sessions[0]!.waiting).toBeGreaterThan(100);
    const newer = dial();
    newer.hello('c1');
    await newer.next(1);
    expect(events.map(({ kind }) => kind)).toEqual(['session-opened', 'session-closed', 'session-opened']);
    expect(await stuck.closed).not.toBe(0);
    await stop();
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

  it('given the certificate of the cluster, then the hello is accepted; of another, a shard, two or none, then it is refused', async () => {
    const { dial, sessions } = await served({ tls: files('bigfleet://shard/shard-0') });
    const authorized = dial(files('bigfleet://cluster/c1'));
    authorized.hello('c1');
    await authorized.next(1);
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
    expect(sessions.counters.identityRejected).toBe(wrong.length);
    expect(sessions.sessions).toHaveLength(1);
  });
});
