// A freeze stops exactly what it names, also after a restart; shard-taking covers freezes of Reclaims. Over real gRPC.

import { describe, expect, it } from 'vitest';
import type { ActionKind } from '../../src/model/index.ts';
import { CapacityType } from '../../src/model/index.ts';
import { offering } from './shard-cloud.ts';
import { need, ofType, PATIENT, World } from './shard-world.ts';

const METAL = offering('bare', {
  capacityType: CapacityType.BareMetal,
  pricePerHour: 0,
  isOwned: true,
  count: 2,
});

/** Actions that wait for a freeze to be lifted, as `KIND CLUSTER`. */
async function frozen(world: World): Promise<readonly string[]> {
  const { waiting } = await world.actions();
  return waiting.filter(({ why }) => why === 'frozen').map(({ kind, cluster }) => `${kind} ${cluster}`);
}

async function unfreeze(world: World, id: string): Promise<void> {
  const response = await fetch(`${world.api}/v1/freezes/${encodeURIComponent(id)}?who=test`, {
    method: 'DELETE',
  });
  expect(response.status).toBe(200);
}

describe.concurrent('a freeze of the fleet', PATIENT, () => {
  it('given demand, then no machine is acted on, also after a restart, until the freeze is lifted', async (test) => {
    const world = await World.open(test, { clouds: { metal: [METAL], cloud: [offering('small')] } });
    await world.post('/v1/freezes', { why: 'a drill' });
    world.join('a', need('a', 12));
    await world.until('it waits', async () => (await frozen(world)).length === 3);
    await world.restart();
    await world.until('it waits again', async () => (await frozen(world)).length === 3);
    await world.cycles(10);
    expect(await frozen(world)).toEqual(
      expect.arrayContaining(['Bootstrap a', 'Bootstrap a', 'Provision a']),
    );
    expect(world.calls).toEqual([]);
    expect(await world.metric('bigfleet_shard_actuation_paused')).toBe(1);
    expect((await world.explain('a')).remarks).toContain('Everything is frozen (fleet) by test: a drill');
    await unfreeze(world, 'fleet');
    await world.served();
    expect(await world.metric('bigfleet_shard_actuation_paused')).toBe(0);
  });
});

describe.concurrent('a freeze of a cluster', PATIENT, () => {
  it('given two clusters that want the same machines, then only the cluster that is not frozen gets any', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 4 })] } });
    await world.post('/v1/freezes', { cluster: 'a', why: 'it misbehaves' });
    world.join('a', need('a', 8, { priority: 100 }));
    world.join('b', need('b', 8));
    await world.served('b');
    await world.restart();
    await world.until('both are back', async () => {
      const clusters = await world.clusters();
      return clusters.filter(({ hasSession, hasReported }) => hasSession && hasReported).length === 2;
    });
    await world.cycles(10);
    expect(world.calls.map(({ command, cluster }) => command + cluster).toSorted()).toEqual([
      'configureb',
      'configureb',
      'create',
      'create',
    ]);
    expect((await world.clusterOf('a'))?.freeze).toMatchObject({ id: 'cluster:a', who: 'test' });
    expect((await world.clusterOf('b'))?.freeze).toBeNull();
    await unfreeze(world, 'cluster:a');
    await world.served();
    // Only the freeze kept it short, so no machine was preempted.
    expect(world.callsOf('drain')).toEqual([]);
  });

  it('given a row of higher priority, then the machines of the frozen cluster are not victims', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 4 })] } });
    world.join('a', need('a', 8));
    world.join('b', need('b', 8, { priority: 1 }));
    await world.served();
    await world.post('/v1/freezes', { cluster: 'a', why: 'it is being looked at' });
    world.join('web', need('web', 8, { priority: 1_000_000 }));
    await world.served('web');
    await world.cycles(5);
    expect(new Set(world.reclaims.map(({ cluster }) => cluster))).toEqual(new Set(['b']));
    expect(world.nodesOf('a')).toHaveLength(2);
  });
});

describe.concurrent('a freeze of an action', PATIENT, () => {
  const freeze = (world: World, action: ActionKind): Promise<string> =>
    world.post('/v1/freezes', { action, why: 'budget' });

  it('given Provision, then Idle machines are used, and none is bought', async (test) => {
    const world = await World.open(test, { clouds: { metal: [METAL], cloud: [offering('small')] } });
    await freeze(world, 'Provision');
    world.join('a', need('a', 16));
    await world.until('two machines have joined', () => world.nodesOf('a').length === 2);
    await world.restart();
    await world.until('the rest waits', async () => (await frozen(world)).length === 2);
    await world.cycles(10);
    expect(world.calls.map(({ command }) => command)).toEqual(['configure', 'configure']);
    expect(await world.metric('bigfleet_shard_actions_suppressed_total{kind="Provision"}')).toBeGreaterThan(
      0,
    );
    expect(await world.metric('bigfleet_shard_actions_suppressed_total{kind="Bootstrap"}')).toBe(0);
    await unfreeze(world, 'action:Provision');
    await world.served();
    expect(world.callsOf('create')).toHaveLength(2);
  });

  it('given Preempt, then no pod is evicted, and all other actions continue', async (test) => {
    const world = await World.open(test, {
      clouds: { cloud: [offering('small', { count: 3 }), offering('big', { cpu: 8 })] },
    });
    world.join('batch', need('batch', 12, { requirements: ofType('small') }));
    await world.served();
    await freeze(world, 'Preempt');
    world.join('web', need('web', 8, { priority: 1_000_000, requirements: ofType('small') }));
    world.join('other', need('other', 8, { unit: 8 }));
    await world.served('other');
    await world.until('it waits', async () => (await frozen(world)).length === 2);
    await world.cycles(10);
    expect(world.callsOf('drain')).toEqual([]);
    expect(await frozen(world)).toEqual(['Preempt batch', 'Preempt batch']);
    await unfreeze(world, 'action:Preempt');
    await world.served('web');
    expect(world.callsOf('drain').map(({ graceSeconds }) => graceSeconds)).toEqual([10, 10]);
  });
});
