// Malformed frames, oversized frames and frames for another cluster: refused with the right code, counted, and without
// effect on other sessions.

import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { Random } from '../../src/runtime/random.ts';
import {
  NodeSelectorRequirement_Operator,
  type PenaltyBucket,
} from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { spoiled } from './bytes.ts';
import { aCloud, aShard, type HostedShard, RawOperator, servingNeighbours, until } from './kit.ts';
import { aRow, helloFrame, rollupFrame, rows } from './operator.ts';

const event = (name: string): string => `bigfleet_shard_session_events_total{event="${name}"}`;

async function greeted(shard: HostedShard, cluster: string): Promise<RawOperator> {
  const operator = new RawOperator(shard.addresses.sessions);
  operator.hello(cluster);
  await operator.acked('hello');
  return operator;
}

describe('frames of a hostile operator', () => {
  it('given bytes that are not a frame, before or after the hello, then the session ends with INVALID_ARGUMENT', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const early = new RawOperator(shard.addresses.sessions);
    early.write(Buffer.from('\xff\xff\xff no frame', 'latin1'));
    expect((await early.ended).code).toBe(status.INVALID_ARGUMENT);
    const late = await greeted(shard, 'web');
    late.write(rollupFrame('web', rows(50)).subarray(0, 700));
    expect((await late.ended).code).toBe(status.INVALID_ARGUMENT);
    expect(await shard.metric(event('frames_malformed'))).toBe(2);
  });

  it('given a roll-up with malformed content, then there is no ack, and session and demand stay', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const operator = await greeted(shard, 'web');
    operator.rollup('web', rows(3));
    await operator.acked('rollup');
    // Field 2 of the frame with its correct length, containing a row whose declared length is too large.
    operator.write(Uint8Array.from([0x12, 4, 0x1a, 0x7f, 1, 2]));
    await until(async () => (await shard.metric(event('rollups_refused'))) === 1);
    expect((await shard.port.ask('clusters', { limit: 100 })).items[0]).toMatchObject({ cluster: 'web' });
    operator.rollup('web', rows(4));
    await operator.acked('rollup', 2);
    expect(await shard.metric('bigfleet_shard_demand_rows')).toBe(4);
  });

  it('given a frame above the limit, then it is dropped and the session stays, and far above it ends with RESOURCE_EXHAUSTED', async () => {
    const limits = { frameBytes: 16 * 1024 * 1024 };
    const shard = await aShard({ cloud: await aCloud(), limits });
    const operator = await greeted(shard, 'web');
    operator.write(new Uint8Array(16.5 * 1024 * 1024));
    await until(async () => (await shard.metric(event('frames_oversized'))) === 1);
    operator.rollup('web', rows(3));
    await operator.acked('rollup');
    operator.write(new Uint8Array(33 * 1024 * 1024));
    expect(await operator.ended).toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: expect.stringContaining('the limit is 16777216 (setting limits.frameBytes)'),
    });
    expect(await shard.metric(event('frames_oversized'))).toBe(2);
    expect(await shard.metric(event('rollups_refused'))).toBe(1);
  });

  it('given more rows than a roll-up may have, or a row that violates the contract, then the whole roll-up is refused', async () => {
    const shard = await aShard({ cloud: await aCloud(), limits: { rollupRows: 1_000 } });
    const operator = await greeted(shard, 'web');
    operator.rollup('web', rows(2));
    await operator.acked('rollup');
    const hostile = [rows(1_001), [aRow(1, { interruptionPenaltyBucket: 99 as PenaltyBucket })]];
    for (const [i, bad] of hostile.entries()) {
      operator.rollup('web', bad);
      await until(async () => (await shard.metric(event('rollups_refused'))) === i + 1);
    }
    expect(await shard.metric('bigfleet_shard_rollups_rejected_total{cluster="web"}')).toBe(hostile.length);
    expect(await shard.metric('bigfleet_shard_demand_rows')).toBe(2);
    expect(operator.acks('rollup')).toBe(1);
  });

  it('given rows with too many terms, values or resources, then they are set aside, the others are accepted, and the roll-up is acknowledged', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const operator = await greeted(shard, 'web');
    const term = (key: string, values: number) => ({
      key,
      operator: NodeSelectorRequirement_Operator.OPERATOR_IN,
      values: Array.from({ length: values }, (_, i) => `v${i}`),
    });
    const beyond = [
      aRow(1, { requirements: Array.from({ length: 65 }, (_, i) => term(`k${i}`, 1)) }),
      aRow(2, { requirements: [term('k', 4097)] }),
      aRow(3, { aggregateResources: new Map(Array.from({ length: 17 }, (_, i) => [`r${i}`, '1'])) }),
    ];
    operator.rollup('web', [...beyond, aRow(4)]);
    await operator.acked('rollup');
    await until(async () => (await shard.metric('bigfleet_shard_rows_set_aside{cluster="web"}')) === 3);
    const { items } = await shard.port.ask('needs', { onlyUnmet: false, limit: 10 });
    expect(items.map(({ priority }) => priority)).toEqual([4, 3]);
  });

  it("given another cluster's id in a frame, then the demand of that cluster does not change", async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const victim = await greeted(shard, 'victim');
    victim.rollup('victim', rows(12));
    await victim.acked('rollup');
    const hostile = await greeted(shard, 'hostile');
    hostile.rollup('victim', []);
    await until(async () => (await shard.metric(event('rollups_refused'))) === 1);
    expect(await shard.metric('bigfleet_shard_demand_rows')).toBe(12);
    hostile.write(helloFrame('victim'));
    expect(await hostile.ended).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringContaining('BF_CLUSTER_MISMATCH'),
    });
    victim.rollup('victim', rows(13));
    await victim.acked('rollup', 2);
  });

  it('given valid frames with bytes changed, truncated or duplicated, then each is accepted or refused, and neighbours are served', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const random = new Random(11);
    const good = [helloFrame('web'), rollupFrame('web', rows(20)), rollupFrame('web', [])];
    const attack = async (): Promise<void> => {
      for (let i = 0; i < 150; i++) {
        const operator = new RawOperator(shard.addresses.sessions);
        operator.hello(`fuzz-${i % 30}`);
        operator.write(spoiled(random.pick(good), random));
        operator.write(spoiled(random.pick(good), random));
        operator.stream.end();
        expect(Object.values(status)).toContain((await operator.ended).code);
        operator.close();
      }
    };
    await servingNeighbours(shard, attack);
    expect(await shard.metric(event('frames_malformed'))).toBeGreaterThan(0);
    await until(async () => (await shard.port.ask('status', {})).phase === 'running');
  });
});
