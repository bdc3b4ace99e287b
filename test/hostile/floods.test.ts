// Operators that reconnect endlessly, and more of them than a shard accepts.

import { type Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { clientCredentials, connect } from '../../src/wire/index.ts';
import { aCloud, aShard, type HostedShard, onEnd, RawOperator, servingNeighbours, until } from './kit.ts';
import { helloFrame, rollupFrame, rows, sessionService } from './operator.ts';

/** Clusters that open one session after the other, each over its own connection. */
function aDialler({ addresses }: HostedShard) {
  const address = addresses.sessions;
  const clients = new Map<string, ReturnType<typeof dialled>>();
  const dialled = () => {
    const own = { 'grpc.use_local_subchannel_pool': 1 };
    const client = connect(sessionService, address, clientCredentials(address, { tls: null }), own);
    onEnd(() => client.close());
    return client;
  };
  /** Sends a hello, waits for the answer, and disconnects. */
  return (cluster: string): Promise<{ readonly code: number; readonly metadata: Metadata | null }> =>
    new Promise((resolve) => {
      const client = clients.get(cluster) ?? dialled();
      clients.set(cluster, client);
      const stream = client.rpc.session();
      stream.on('error', () => {});
      stream.on('status', ({ code, metadata }) => resolve({ code, metadata }));
      stream.on('data', () => {
        resolve({ code: status.OK, metadata: null });
        stream.cancel();
      });
      stream.write(helloFrame(cluster));
    });
}

const event = (name: string): string => `bigfleet_shard_session_events_total{event="${name}"}`;

describe('floods of sessions and roll-ups', () => {
  it('given a thousand reconnects of fifty clusters, then all are served and neighbours are not affected', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const dial = aDialler(shard);
    const attack = async (): Promise<void> => {
      for (let round = 0; round < 20; round++) {
        const codes = await Promise.all(Array.from({ length: 50 }, (_, i) => dial(`c${i}`)));
        expect(new Set(codes.map(({ code }) => code))).toEqual(new Set([status.OK]));
      }
    };
    await servingNeighbours(shard, attack);
    expect(await shard.metric(event('sessions_opened'))).toBe(1001);
    await until(async () => (await shard.metric('bigfleet_shard_active_sessions')) === 1);
  });

  it('given one cluster that reconnects in a loop, then message and trailer state when to retry', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const dial = aDialler(shard);
    const refused: (Metadata | null)[] = [];
    const attack = async (): Promise<void> => {
      for (let i = 0; i < 200; i++) {
        const { code, metadata } = await dial('loop');
        if (code === status.RESOURCE_EXHAUSTED) refused.push(metadata);
      }
    };
    await servingNeighbours(shard, attack);
    expect(refused.length).toBeGreaterThan(100);
    expect(Number(refused[0]?.get('grpc-retry-pushback-ms')[0])).toBeGreaterThan(0);
    expect(await shard.metric(event('sessions_throttled'))).toBe(refused.length);
  });

  it('given ten times the allowed sessions, then the allowed number is served, and the rest is refused and counted', async () => {
    const standard = { sessions: 20, rollupRows: 10_000, demandRows: 1_000, demandBytes: 2 ** 30 };
    const shard = await aShard({ cloud: await aCloud(), limits: standard });
    const operators = Array.from({ length: 200 }, (_, i) => {
      const operator = new RawOperator(shard.addresses.sessions);
      operator.hello(`c${i}`);
      return operator;
    });
    await until(() => operators.filter((each) => each.acks('hello') === 1).length === 20);
    const refused = operators.filter((each) => each.acks('hello') === 0);
    for (const each of refused) {
      expect(await each.ended).toMatchObject({
        code: status.RESOURCE_EXHAUSTED,
        details: expect.stringMatching(/BF_SESSION_LIMIT: 20 clusters have a session\. Try again in 30 s\./),
      });
    }
    expect(await shard.metric(event('sessions_refused'))).toBe(180);
    expect(await shard.metric('bigfleet_shard_active_sessions')).toBe(20);
  });

  it('given ten times the allowed rows, then the allowed number is accepted, and the rest is refused, reported and counted', async () => {
    const limits = { sessions: 100, rollupRows: 10_000, demandRows: 1_000, demandBytes: 2 ** 30 };
    const shard = await aShard({ cloud: await aCloud(), limits });
    const operators = Array.from({ length: 20 }, (_, i) => {
      const operator = new RawOperator(shard.addresses.sessions);
      operator.hello(`c${i}`);
      operator.write(rollupFrame(`c${i}`, rows(500)));
      return operator;
    });
    await until(async () => (await shard.metric(event('rollups_shed'))) === 18);
    // An accepted roll-up is acknowledged once it is durable, which may be after the last refusal.
    await until(() => operators.filter((each) => each.acks('rollup') === 1).length === 2);
    expect(await shard.metric('bigfleet_shard_demand_rows')).toBe(1_000);
    expect(shard.lines.filter((line) => line.event === 'rollup-refused')).toHaveLength(18);
    expect((await shard.port.ask('status', {})).phase).not.toBe('fenced');
  });

  it('given roll-ups faster than they are decoded, then older ones are skipped, and the last one is in force', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const operator = new RawOperator(shard.addresses.sessions);
    operator.hello('web');
    for (let i = 0; i < 500; i++) operator.write(rollupFrame('web', rows(1 + (i % 50))));
    operator.write(rollupFrame('web', rows(77)));
    await until(async () => (await shard.metric('bigfleet_shard_demand_rows')) === 77);
    expect(await shard.metric(event('rollups_superseded'))).toBeGreaterThan(0);
    await until(async () => (await shard.metric('bigfleet_shard_rollups_waiting')) === 0);
  });
});
