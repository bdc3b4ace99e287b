// Two processes of one shard, and a shard that has lost its volume: the newer process wins, the older one stops itself
// and logs why, and no process restarts its epoch at 1.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import type { Cloud } from './cloud.ts';
import { aCloud, answering, aShard, type HostedShard, RawOperator, scratch, until } from './kit.ts';
import { aRow } from './operator.ts';

const everything = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };

async function boundIn({ fake }: Cloud): Promise<readonly string[]> {
  const { machines } = await fake.kit.list(everything);
  return machines.filter(({ state }) => state === MachineState.Configured).map(({ id }) => id);
}

/** A cluster whose demand is `cpu` CPUs. */
async function wants(shard: HostedShard, cluster: string, cpu: number): Promise<RawOperator> {
  const operator = answering(new RawOperator(shard.addresses.sessions));
  operator.hello(cluster);
  operator.rollup(cluster, [aRow(100, { aggregateResources: new Map([['cpu', `${cpu}`]]) })]);
  await operator.acked('rollup');
  return operator;
}

const said = (shard: HostedShard, event: string) => shard.lines.filter((line) => line.event === event);

describe('two shards with one identity', () => {
  it('given a newer process that binds a machine, then the older one stops itself and logs why, before it is fenced', async () => {
    const cloud = await aCloud();
    const older = await aShard({ cloud });
    await wants(older, 'web', 4);
    await until(async () => (await boundIn(cloud)).length > 0);
    const newer = await aShard({ cloud });
    expect(newer.epoch).toBeGreaterThan(older.epoch);
    await wants(newer, 'batch', 4);
    const reason = await older.ended;
    expect(reason).toMatchObject({ kind: 'fenced' });
    expect('message' in reason ? reason.message : '').toMatch(
      new RegExp(
        `newer process, of epoch ${newer.epoch}, of shard shard-0; this one, of epoch ${older.epoch}, stops`,
      ),
    );
    expect(said(older, 'fenced')).toHaveLength(1);
    expect((await newer.port.ask('status', {})).phase).toBe('running');
  });

  it('given a restart of the older process, then it stops again and the newer one keeps running', async () => {
    const cloud = await aCloud();
    const dataDir = scratch();
    const first = await aShard({ cloud, dataDir });
    const newer = await aShard({ cloud });
    await wants(newer, 'batch', 4);
    await first.ended;
    const again = await aShard({ cloud, dataDir });
    expect(again.epoch).toBe(first.epoch + 1n);
    expect(await again.ended).toMatchObject({ kind: 'fenced' });
    expect((await newer.port.ask('status', {})).phase).toBe('running');
  });

  it('given machines of another shard, then they are ignored', async () => {
    const cloud = await aCloud();
    const west = await aShard({ cloud, id: 'west' });
    const east = await aShard({ cloud, id: 'east' });
    await wants(east, 'batch', 4);
    await until(async () => (await boundIn(cloud)).length > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(said(west, 'fenced')).toEqual([]);
    expect((await west.port.ask('status', {})).phase).toBe('running');
  });
});

// Paragraph 7.6.24 of the specification.
describe('a lost volume', () => {
  it('given providers with marks, then the shard starts above every mark, and keeps binding without losing a machine', async () => {
    const cloud = await aCloud();
    const dataDir = scratch();
    for (let i = 0; i < 2; i++) await (await aShard({ cloud, dataDir })).stop();
    const before = await aShard({ cloud, dataDir });
    await wants(before, 'web', 4);
    await until(async () => (await boundIn(cloud)).length > 0);
    const bound = await boundIn(cloud);
    await before.stop();
    rmSync(dataDir, { recursive: true });

    const after = await aShard({ cloud, dataDir });
    expect(after.epoch).toBeGreaterThan(before.epoch);
    await wants(after, 'web', 400);
    await until(async () => (await boundIn(cloud)).length > bound.length);
    expect(await boundIn(cloud)).toEqual(expect.arrayContaining([...bound]));
    expect(said(after, 'data-dir-lost')).toEqual([
      expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ seen: before.epoch }) }),
    ]);
    expect((await after.port.ask('status', {})).phase).toBe('running');
  });

  it('given a clock that is behind the marks, then the epoch is raised on disk and the next start succeeds', async () => {
    const cloud = await aCloud();
    const future = BigInt(Date.now()) * 1000n + 3_600_000_000n;
    const before = await aShard({ cloud, epochAtLeast: future });
    await wants(before, 'web', 4);
    await until(async () => (await boundIn(cloud)).length > 0);
    await before.stop();

    const dataDir = scratch();
    const behind = await aShard({ cloud, dataDir });
    const reason = await behind.ended;
    expect(reason).toMatchObject({ kind: 'failed' });
    expect('message' in reason ? reason.message : '').toContain('the clock of this machine is behind');
    expect(readFileSync(join(dataDir, 'epoch'), 'utf8')).toBe(`${future}\n`);
    const raised = await aShard({ cloud, dataDir });
    expect(raised.epoch).toBe(future + 1n);
    await wants(raised, 'web', 400);
    await until(async () => (await boundIn(cloud)).length > 1);
    expect((await raised.port.ask('status', {})).phase).toBe('running');
  });

  it('given an old backup of the volume, then the shard stops and names the epoch to start with', async () => {
    const cloud = await aCloud();
    const before = await aShard({ cloud, epochAtLeast: 90n });
    await wants(before, 'web', 4);
    await until(async () => (await boundIn(cloud)).length > 0);
    await before.stop();
    const dataDir = scratch();
    writeFileSync(join(dataDir, 'epoch'), '7\n');
    const reason = await (await aShard({ cloud, dataDir })).ended;
    expect('message' in reason ? reason.message : '').toContain('--epoch-at-least and 91');
  });
});
