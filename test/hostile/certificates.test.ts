// Authorization on each edge of a shard, tested with certificates of every kind of defect.

import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import { ShardReadDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/shardread.ts';
import { bindService, clientCredentials, connect, statusOf, type TlsFiles } from '../../src/wire/index.ts';
import { type Authority, wrongFiles } from './authority.ts';
import { aCloud, anAuthority, answering, aShard, type HostedShard, RawOperator, until } from './kit.ts';
import { aRow } from './operator.ts';

interface Fleet {
  readonly ours: Authority;
  readonly theirs: Authority;
  readonly shard: HostedShard;
}

async function aFleet(): Promise<Fleet> {
  const [ours, theirs] = [anAuthority('ours'), anAuthority('theirs')];
  const cloud = await aCloud(60, { tls: ours.files(['bigfleet://provider/cloud']) });
  const tls = ours.files(['bigfleet://shard/shard-0']);
  return { ours, theirs, shard: await aShard({ cloud, tls, apiTls: tls }) };
}

/** The certificate of each caller. */
function callers({ ours, theirs }: Fleet): Readonly<Record<string, TlsFiles>> {
  return { 'cluster/web': ours.files(['bigfleet://cluster/web']), ...wrongFiles(ours, theirs) };
}

async function hello({ shard }: Fleet, tls: TlsFiles): Promise<number> {
  const operator = new RawOperator(shard.addresses.sessions, { tls });
  operator.hello('web');
  const code = await Promise.race([
    operator.ended.then((end) => end.code),
    operator.acked('hello').then(() => 0),
  ]).catch(async () => (await operator.ended).code);
  operator.close();
  return code;
}

const readService = bindService(ShardReadDefinition);

async function inspect({ shard }: Fleet, tls: TlsFiles): Promise<number> {
  const { sessions } = shard.addresses;
  const client = connect(readService, sessions, clientCredentials(sessions, { tls }));
  try {
    for await (const _ of client.rpc.inspectNeeds({ clusterId: '', limit: 0 })) void _;
    return 0;
  } catch (error) {
    return statusOf(error) ?? -1;
  } finally {
    client.close();
  }
}

function http({ shard }: Fleet, tls: TlsFiles, path: string): Promise<number> {
  const [cert, key, ca] = [tls.cert, tls.key, tls.ca].map((file) => readFileSync(file));
  return new Promise((resolve) => {
    const options = { cert, key, ca, agent: false } as const;
    request(`https://${shard.addresses.api}${path}`, options as object, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', () => resolve(-1))
      .end();
  });
}

describe('certificates on the edges of a shard', () => {
  it('given each caller, then its certificate decides whether it may open a session, inspect, read the API and probe health', async () => {
    const fleet = await aFleet();
    const found: Record<string, readonly number[]> = {};
    for (const [who, tls] of Object.entries(callers(fleet))) {
      found[who] = [
        await hello(fleet, tls),
        await inspect(fleet, tls),
        await http(fleet, tls, '/v1/status'),
        await http(fleet, tls, '/healthz'),
      ];
    }
    const { OK, PERMISSION_DENIED: no, UNAVAILABLE: gone } = status;
    expect(found).toEqual({
      'cluster/web': [OK, no, 403, 200],
      'cluster/other': [no, no, 403, 200],
      'shard/shard-0': [no, no, 403, 200],
      'provider/cloud': [no, no, 403, 200],
      admin: [no, OK, 200, 200],
      readonly: [no, OK, 200, 200],
      'no name': [no, no, 403, 200],
      'two names': [no, no, 403, 200],
      'another scheme': [no, no, 403, 200],
      expired: [gone, gone, 401, 200],
      'another authority': [gone, gone, 401, 200],
    });
  });

  it('given callers that fail before a call begins, then they are counted', async () => {
    const [ours, theirs] = [anAuthority('ours'), anAuthority('theirs')];
    const cloud = await aCloud(60, { tls: ours.files(['bigfleet://provider/cloud']) });
    const shard = await aShard({ cloud, tls: ours.files(['bigfleet://shard/shard-0']) });
    const broken = () => shard.metric('bigfleet_shard_session_events_total{event="connections_broken"}');
    const fleet = { ours, theirs, shard };
    expect(await hello(fleet, ours.files(['bigfleet://cluster/web']))).toBe(status.OK);
    expect(await broken()).toBe(0);
    const { expired, 'another authority': foreign } = wrongFiles(ours, theirs);
    for (const tls of [expired!, foreign!, null]) {
      const before = await broken();
      const operator = new RawOperator(shard.addresses.sessions, { tls });
      operator.hello('web');
      expect((await operator.ended).code).toBe(status.UNAVAILABLE);
      await until(async () => (await broken()) > before);
    }
  });

  it('given plaintext to a TLS port, then the connection is closed without an answer', async () => {
    const fleet = await aFleet();
    const operator = new RawOperator(fleet.shard.addresses.sessions);
    operator.hello('web');
    expect((await operator.ended).code).toBe(status.UNAVAILABLE);
    await expect(fetch(`http://${fleet.shard.addresses.api}/healthz`)).rejects.toThrow();
    expect(await hello(fleet, fleet.ours.files(['bigfleet://cluster/web']))).toBe(status.OK);
  });

  it('given a shard with the certificate of another shard, then the provider lets it read but not change anything', async () => {
    const ours = anAuthority();
    const cloud = await aCloud(60, { tls: ours.files(['bigfleet://provider/cloud']) });
    const own = ours.files(['bigfleet://shard/west']);
    const east = await aShard({ cloud, id: 'east', tls: own, apiTls: null });
    const operator = answering(
      new RawOperator(east.addresses.sessions, { tls: ours.files(['bigfleet://cluster/web']) }),
    );
    operator.hello('web');
    operator.rollup('web', [aRow(100)]);
    await operator.acked('rollup');
    await until(async () => {
      const { actions } = await east.port.ask('actions', { limit: 10 });
      return actions.items.some(({ message }) => message.includes('BF_CALL_DENIED'));
    });
    const { machines } = await cloud.fake.kit.list({
      states: [],
      maxResults: 0,
      sinceRevision: new Uint8Array(),
    });
    const touched = machines.filter(
      ({ state }) => state !== MachineState.Speculative && state !== MachineState.Idle,
    );
    expect(touched).toEqual([]);
  });
});
