// Readers that never read, requests that never end, and more of both than a shard serves: each costs a bounded amount of
// memory, is cut off or refused, and nobody else notices.

import { connect as http2Connect } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { serveApi } from '../../src/shard/api/serve.ts';
import { addShardRead } from '../../src/shard/api/shard-read-grpc.ts';
import { NeedView, ShardReadDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/shardread.ts';
import { bindService, clientCredentials, connect as grpcConnect, statusOf } from '../../src/wire/index.ts';
import { FakeShard } from '../fake-shard.ts';
import { aCloud, aShard, expectServed, felt, Neighbour, onEnd, until } from './kit.ts';

const service = bindService(ShardReadDefinition);
const LARGE = { ...NeedView.decode(new Uint8Array()), clusterId: 'x'.repeat(10_000) };

/** A server of ShardRead that has more to say than any buffer holds. */
async function anEndlessRead(limits: { readonly callers: number; readonly stallMs: number }) {
  const server = new Server();
  let given = 0;
  const counters = addShardRead(
    server,
    async function* inspect() {
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
  return { address: `127.0.0.1:${port}`, counters, given: () => given };
}

/** Asks and then takes nothing; resolves when the stream is gone. */
function aMuteCaller(address: string): Promise<void> {
  const session = http2Connect(`http://${address}`);
  onEnd(() => session.destroy());
  const stream = session.request({
    ':method': 'POST',
    ':path': '/bigfleet.v1alpha1.ShardRead/InspectNeeds',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.pause();
  stream.on('error', () => {});
  stream.end(Buffer.alloc(5));
  return new Promise((resolve) => stream.on('close', () => resolve()));
}

describe('readers that never read', () => {
  it('given InspectNeeds, then little is made for them, they are cut off, and their place is free again', async () => {
    const { address, counters, given } = await anEndlessRead({ callers: 2, stallMs: 300 });
    const mute = [aMuteCaller(address), aMuteCaller(address)];
    await until(() => given() > 2);
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
    expect(await ask()).toBe(status.RESOURCE_EXHAUSTED);
    await Promise.all(mute);
    expect(counters).toEqual({ refused: 1, stalled: 2 });
    expect(given()).toBeLessThan(500);
    await until(async () => (await ask()) === status.OK);
  });

  it('given live news, then they are cut off and counted, and other readers are not', async () => {
    const shard = new FakeShard();
    const limits = { maxReaders: 3, maxWaitingBytes: 128 * 1024, heartbeatMs: 60_000 };
    const api = await serveApi(shard, '127.0.0.1:0', { tls: null, news: limits });
    onEnd(() => api.close());
    await speak(api.address, `GET /v1/events HTTP/1.1\r\nHost: ${api.address}\r\n\r\n`, false);
    let heard = 0;
    const reader = await speak(api.address, `GET /v1/events HTTP/1.1\r\nHost: ${api.address}\r\n\r\n`);
    reader.on('data', (chunk: Buffer) => (heard += chunk.length));
    await until(() => shard.listeners.size > 0 && heard > 0);
    const fields = { text: 'x'.repeat(16_000) };
    for (let told = 0; api.counters.news_slow === 0 && told < 5_000; told++) {
      const before = heard;
      shard.tell({ kind: 'log', level: 'info', event: `e${told}`, fields });
      await until(() => heard > before);
    }
    const before = heard;
    shard.tell({ kind: 'log', level: 'info', event: 'last', fields });
    await until(() => heard > before);
    expect(api.counters.news_slow).toBe(1);
  });
});

/** Bytes to a port; `listens` unless it never reads. */
function speak(address: string, text: string, listens = true): Promise<Socket> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on('error', reject);
    if (listens) socket.resume();
    onEnd(() => socket.destroy());
  });
}

describe('requests that never end', () => {
  it('given a hundred slow ones, then others are answered, and the slow ones are told 408', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const neighbour = new Neighbour(shard, 'neighbour');
    const answers: string[] = [];
    for (let i = 0; i < 100; i++) {
      const socket = await speak(shard.addresses.api, 'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      socket.on('data', (chunk: Buffer) => answers.push(chunk.toString('latin1').split('\r\n')[0]!));
      const drip = setInterval(() => socket.write('x'), 1_000);
      socket.on('close', () => clearInterval(drip)).on('error', () => {});
    }
    const attack = async (): Promise<void> => {
      for (let i = 0; i < 10; i++)
        expect((await fetch(`http://${shard.addresses.api}/healthz`)).status).toBe(200);
      await until(() => answers.length === 100, 25_000);
    };
    expectServed(await felt('slow requests', neighbour, attack));
    expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 408 Request Timeout']));
    expect(await shard.metric('bigfleet_shard_readers_cut_total{reason="malformed"}')).toBe(100);
  });

  it('given more questions than are answered at a time, then 503 and when to come again, and probes come through', async () => {
    const shard = new FakeShard();
    let release = (): void => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ask = shard.ask.bind(shard);
    shard.ask = (async (...args: Parameters<typeof ask>) => {
      await blocked;
      return ask(...args);
    }) as typeof ask;
    const api = await serveApi(shard, '127.0.0.1:0', { tls: null, unready: async () => null });
    onEnd(() => api.close());
    const waiting = Array.from({ length: 64 }, () => fetch(`${api.url}/v1/status`));
    await until(async () => (await fetch(`${api.url}/v1/status`)).status === 503);
    const refused = await fetch(`${api.url}/v1/status`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    expect(api.counters.requests).toBeGreaterThan(0);
    release();
    for (const each of waiting) expect((await each).status).toBe(200);
  });
});
