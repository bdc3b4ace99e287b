// Readers that never read, requests that never end, and more of both than a shard serves: each costs bounded memory and
// is disconnected or refused, without effect on other callers.

import type { Socket } from 'node:net';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { serveApi } from '../../src/shard/api/serve.ts';
import { addShardRead } from '../../src/shard/api/shard-read-grpc.ts';
import { NeedView, ShardReadDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/shardread.ts';
import { bindService, clientCredentials, connect as grpcConnect, statusOf } from '../../src/wire/index.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';
import { aCloud, aShard, onEnd, servingNeighbours, until } from './kit.ts';
import { type MutePeer, muteCaller, muteOperator, muteReader, slowRequest, speak } from './mute.ts';
import { helloFrame, rollupFrame, rows } from './operator.ts';

/** Disconnected after the test. */
function hungUp<T extends Socket | MutePeer>(peer: T): T {
  onEnd(() => ('destroy' in peer ? peer.destroy() : peer.close()));
  return peer;
}

const service = bindService(ShardReadDefinition);
const LARGE = { ...NeedView.decode(new Uint8Array()), clusterId: 'x'.repeat(10_000) };

/** A ShardRead server whose response exceeds any buffer. */
async function anEndlessRead(limits: { readonly callers: number; readonly stallMs: number }) {
  const server = new Server();
  let opened = 0;
  let given = 0;
  const counters = addShardRead(
    server,
    async function* inspect() {
      opened++;
      for (;;) {
        given++;
        yield { frame: { $case: 'need', value: LARGE } };
      }
    },
    { hasTls: false, limits },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  onEnd(() => server.forceShutdown());
  return { address: `127.0.0.1:${port}`, counters, opened: () => opened, given: () => given };
}

describe('readers that never read', () => {
  it('given InspectNeeds, then little is buffered for them, they are disconnected, and their slots are free again', async () => {
    // Long enough to send a request while both still have their slots, also on a slow machine.
    const { address, counters, opened, given } = await anEndlessRead({ callers: 2, stallMs: 10_000 });
    const mute = [hungUp(muteCaller(address)), hungUp(muteCaller(address))];
    const client = grpcConnect(service, address, clientCredentials(address, { tls: null }));
    onEnd(() => client.close());
    const ask = async (): Promise<number | undefined> => {
      try {
        for await (const _ of client.rpc.inspectNeeds({ clusterId: '', limit: 0 })) return status.OK;
      } catch (error) {
        return statusOf(error);
      }
      return undefined;
    };
    await until(() => opened() === 2);
    expect(await ask()).toBe(status.RESOURCE_EXHAUSTED);
    await Promise.all(mute.map(({ closed }) => closed));
    expect(counters).toEqual({ refused: 1, stalled: 2 });
    expect(given()).toBeLessThan(500);
    await until(async () => (await ask()) === status.OK);
  });

  it('given the event stream, then they are disconnected and counted, and other readers are not', async () => {
    const shard = new FakeShard();
    const limits = { maxReaders: 3, maxWaitingBytes: 128 * 1024, heartbeatMs: 60_000 };
    const api = await serveApi(shard, '127.0.0.1:0', { tls: null, events: limits });
    onEnd(() => api.close());
    hungUp(await muteReader(api.address));
    let heard = 0;
    const reader = hungUp(
      await speak(api.address, `GET /v1/events HTTP/1.1\r\nHost: ${api.address}\r\n\r\n`),
    );
    reader.on('data', (chunk: Buffer) => (heard += chunk.length));
    await until(() => shard.listeners.size > 0 && heard > 0);
    const fields = { text: 'x'.repeat(16_000) };
    for (let published = 0; api.counters.news_slow === 0 && published < 5_000; published++) {
      const before = heard;
      shard.publish({ kind: 'log', level: 'info', event: `e${published}`, fields });
      await until(() => heard > before);
    }
    const before = heard;
    shard.publish({ kind: 'log', level: 'info', event: 'last', fields });
    await until(() => heard > before);
    expect(api.counters.news_slow).toBe(1);
  });
});

describe('an operator that never reads', () => {
  it('given ten thousand acks for it, then most are coalesced, and neighbours are served', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const again = Array.from({ length: 10_000 }, () => rollupFrame('mute', rows(1)));
    const coalesced = 'bigfleet_shard_session_events_total{event="frames_coalesced"}';
    const attack = async (): Promise<void> => {
      hungUp(muteOperator(shard.addresses.sessions, [helloFrame('mute'), ...again]));
      await until(async () => (await shard.metric(coalesced)) > 0);
    };
    await servingNeighbours(shard, attack);
  });
});

describe('requests that never end', () => {
  it('given a hundred slow ones, then other requests are answered, and the slow ones get 408', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const answers: string[] = [];
    for (let i = 0; i < 100; i++) {
      const socket = hungUp(await slowRequest(shard.addresses.api));
      socket.once('data', (chunk: Buffer) => answers.push(chunk.toString('latin1').split('\r\n')[0]!));
    }
    const attack = async (): Promise<void> => {
      for (let i = 0; i < 10; i++)
        expect((await fetch(`http://${shard.addresses.api}/healthz`)).status).toBe(200);
      await until(() => answers.length === 100);
    };
    await servingNeighbours(shard, attack);
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 408 Request Timeout']));
    expect(await shard.metric('bigfleet_shard_readers_cut_total{reason="malformed"}')).toBe(100);
  });

  it('given more connections than allowed, then the rest is dropped and counted, and later connections are accepted again', async () => {
    const api = await serveApi(new FakeShard(), '127.0.0.1:0', { tls: null });
    onEnd(() => api.close());
    const sockets = await Promise.all(
      Array.from({ length: 540 }, async () => hungUp(await speak(api.address, ''))),
    );
    await until(() => api.counters.connections >= 28);
    for (const socket of sockets) socket.destroy();
    await until(async () => {
      const answer = await fetch(`${api.url}/healthz`).catch(() => null);
      return answer?.status === 200;
    });
    expect(api.counters.connections).toBeLessThan(100);
  });

  it('given more requests than are answered at a time, then the rest gets 503 with Retry-After, and probes are answered', async () => {
    const shard = new FakeShard();
    let release = (): void => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ask = shard.ask.bind(shard);
    let asked = 0;
    shard.ask = (async (...args: Parameters<typeof ask>) => {
      asked++;
      await blocked;
      return ask(...args);
    }) as typeof ask;
    const api = await serveApi(shard, '127.0.0.1:0', { tls: null, unready: async () => null });
    onEnd(() => api.close());
    const waiting = Array.from({ length: 64 }, () => fetch(`${api.url}/v1/status`));
    // A probe that arrives before the last of these would wait with them.
    await until(() => asked === 64);
    const refused = await fetch(`${api.url}/v1/status`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    expect(api.counters.requests).toBeGreaterThan(0);
    release();
    for (const each of waiting) expect((await each).status).toBe(200);
  });
});
