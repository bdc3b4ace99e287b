// Thousands of streams that never send a hello: none of them keeps an honest operator out, whether they come over one
// connection, over hundreds, or with a certificate of the fleet.

import { type ClientHttp2Session, connect } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { clientCredentials, connect as grpcConnect } from '../../src/wire/index.ts';
import {
  aCloud,
  anAuthority,
  aShard,
  type HostedShard,
  onEnd,
  RawOperator,
  servingNeighbours,
  until,
} from './kit.ts';
import { rows, sessionService } from './operator.ts';

const event = (name: string): string => `bigfleet_shard_session_events_total{event="${name}"}`;

const SESSION = {
  ':method': 'POST',
  ':path': '/bigfleet.v1alpha1.Shard/Session',
  'content-type': 'application/grpc',
  te: 'trailers',
} as const;

/** Opens streams over one connection and sends nothing on them. */
class Silent {
  readonly session: ClientHttp2Session;
  /** Streams refused because no slot was free. */
  refused = 0;

  constructor(address: string) {
    this.session = connect(`http://${address}`);
    this.session.on('error', () => {});
    onEnd(() => this.session.destroy());
  }

  open(streams: number): this {
    for (let i = 0; i < streams; i++) {
      const stream = this.session.request(SESSION);
      stream.on('error', () => {}).resume();
      stream.on('response', (headers) => {
        if (Number(headers['grpc-status']) === status.RESOURCE_EXHAUSTED) this.refused++;
      });
    }
    return this;
  }
}

/** An honest operator gets its hello and its roll-up acknowledged, on a session of its own. */
async function anHonestOperator(shard: HostedShard, cluster: string): Promise<void> {
  const operator = new RawOperator(shard.addresses.sessions);
  operator.hello(cluster);
  await operator.acked('hello');
  operator.rollup(cluster, rows(3));
  await operator.acked('rollup');
}

describe('streams that never send a hello', () => {
  it('given five thousand over one connection, then sixteen get a slot, the rest is refused at once, and operators are served', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const silent = new Silent(shard.addresses.sessions).open(5_000);
    const attack = async (): Promise<void> => {
      // Not quite all: on a slow machine the first streams free their slots before the last ones arrive.
      await until(() => silent.refused > 4_900);
      await anHonestOperator(shard, 'honest');
    };
    await servingNeighbours(shard, attack);
    expect(await shard.metric(event('greetings_refused'))).toBeGreaterThan(4_900);
    expect(await shard.metric(event('greetings_evicted'))).toBe(0);
  });

  it('given a hundred connections with sixteen each, and fewer slots, then operators are served', async () => {
    const limits = { greeting: 400 };
    const shard = await aShard({ cloud: await aCloud(), limits });
    for (let i = 0; i < 100; i++) new Silent(shard.addresses.sessions).open(16);
    const attack = async (): Promise<void> => {
      await until(async () => (await shard.metric(event('greetings_evicted'))) > 0);
      for (let i = 0; i < 20; i++) await anHonestOperator(shard, `honest-${i}`);
    };
    await servingNeighbours(shard, attack);
    expect(await shard.metric('bigfleet_shard_active_sessions')).toBe(21);
  });

  it('given many connections with one certificate, then they share sixteen slots, and another cluster is served', async () => {
    const authority = anAuthority();
    const tls = authority.files(['bigfleet://shard/shard-0']);
    const shard = await aShard({ tls });
    const own = { 'grpc.use_local_subchannel_pool': 1 };
    const hostile = authority.files(['bigfleet://cluster/hostile']);
    const codes: number[] = [];
    for (let i = 0; i < 40; i++) {
      const address = shard.addresses.sessions;
      const client = grpcConnect(sessionService, address, clientCredentials(address, { tls: hostile }), own);
      onEnd(() => client.close());
      const stream = client.rpc.session();
      onEnd(() => stream.cancel());
      stream.on('error', () => {}).on('data', () => {});
      stream.on('status', ({ code }) => codes.push(code));
    }
    await until(() => codes.filter((code) => code === status.RESOURCE_EXHAUSTED).length > 8);
    const honest = new RawOperator(shard.addresses.sessions, {
      tls: authority.files(['bigfleet://cluster/honest']),
    });
    honest.hello('honest');
    await honest.acked('hello');
  });
});
