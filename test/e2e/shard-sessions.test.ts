// Operators that go and come back, and roll-ups that are too bad to be true. Over real gRPC.

import { describe, expect, it } from 'vitest';
import { offering } from './shard-cloud.ts';
import { need, PATIENT, World } from './shard-world.ts';

describe.concurrent('an operator that is lost', PATIENT, () => {
  it('given its return, then nothing has happened meanwhile, and it hears of all its nodes', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 10 })] } });
    world.join('a', need('a', 12));
    world.join('b', need('b', 4));
    await world.served();
    const [dead, ...alive] = world.nodesOf('a').toSorted();
    world.operator('a').stop();
    await world.until(
      'its session has ended',
      async () => (await world.clusterOf('a'))?.hasSession === false,
    );
    const before = world.calls.length;
    world.cloud().provider.cloud.kill({ machine: dead! });
    await world.until('the loss is known', async () => {
      return (await world.get<{ state: string }>(`/v1/machines/${dead}`)).state === 'FAILED';
    });
    world.operator('b').setDemand([need('b', 8)]);
    await world.served('b');
    await world.cycles(10);
    // What is lost cannot be replaced without somebody to let the new machine in, so nothing is bought for it either.
    expect(world.calls.slice(before).map(({ command, cluster }) => command + cluster)).toEqual([
      'create',
      'configureb',
    ]);
    expect((await world.machines('?cluster=a&state=configured')).map(({ id }) => id).toSorted()).toEqual(
      alive,
    );
    expect((await world.explain('a')).remarks).toContain(
      'Cluster a has no session, so no machine can join it.',
    );
    // A new process of the operator knows nothing but its demand.
    const again = world.join('a', need('a', 12));
    expect(again.nodes.size).toBe(0);
    await world.served();
    expect(world.nodesOf('a')).toHaveLength(3);
    expect(world.nodesOf('a')).toEqual(expect.arrayContaining(alive));
    const [first] = [...again.nodes.values()].filter(({ machine }) => machine === alive[0]);
    expect(first).toMatchObject({ resources: new Map([['cpu', '4']]), isCordoned: false });
    expect(first?.labels.get('node.kubernetes.io/instance-type')).toBe('small');
    await world.cycles(5);
    expect(world.calls.slice(before)).toHaveLength(4);
  });

  it('given a connection that breaks again and again, then no machine moves', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small')] } });
    const operator = world.join('a', need('a', 12));
    await world.served();
    const before = world.calls.length;
    for (let times = 2; times <= 6; times++) {
      operator.drop();
      await world.until('it is back', () => operator.counts.sessions === times);
    }
    await world.cycles(5);
    expect(world.calls.slice(before)).toEqual([]);
    expect(world.told).toEqual([]);
    expect(await world.isServed()).toBe(true);
    expect(await world.metric('bigfleet_shard_active_sessions')).toBe(1);
  });
});

describe.concurrent('an empty roll-up', PATIENT, () => {
  const rows = Array.from({ length: 12 }, (_, i) => need('a', 4, { priority: i }));
  const isHeld = 'bigfleet_shard_rollup_quarantined{cluster="a"}';
  /** Repeats itself so seldom that nobody has reason to believe it. */
  const seldom = { rollupMs: 600_000 };

  async function heldWorld(test: Parameters<typeof World.open>[0]): Promise<World> {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 16 })] } });
    world.join('a', ...rows);
    world.join('b', need('b', 4));
    await world.served();
    // The same cluster, from an operator that has lost its cache.
    world.operator('a').stop();
    world.joinWith(seldom, 'a');
    await world.until('it is held', async () => (await world.metric(isHeld)) === 1);
    return world;
  }

  it('given nobody who says so, then it is held, also by the next process, until the demand is back', async (test) => {
    const world = await heldWorld(test);
    const before = world.calls.length;
    await world.cycles(10);
    expect(world.logged('rollup-held', { cluster: 'a', rows: 0, rowsBefore: 12 })).toHaveLength(1);
    expect((await world.clusterOf('a'))?.reports?.held).toMatchObject({ rows: 0, knownRows: 12, count: 1 });
    expect((await world.explain('a')).remarks).toContainEqual(
      expect.stringContaining('with 0 rows instead of 12 is held'),
    );
    expect(await world.needs('a')).toHaveLength(12);
    await world.restart();
    await world.until('it is held again', async () => (await world.metric(isHeld)) === 1);
    await world.served('b');
    await world.cycles(10);
    world.operator('a').setDemand(rows);
    await world.served();
    await world.cycles(5);
    expect(await world.metric(isHeld)).toBe(0);
    expect(world.calls.slice(before)).toEqual([]);
    expect(world.told).toEqual([]);
  });

  it('given an order to accept it, then the cluster gives its machines back', async (test) => {
    const world = await heldWorld(test);
    expect(await world.post('/v1/clusters/a/accept-rollup', {})).toBe('The roll-up of a counts from now on.');
    await world.until('all are asked for', () => world.told.length === 12);
    await world.until('all are given back', async () => {
      return (await world.cloud().machines()).filter(({ host }) => host !== undefined).length === 1;
    });
    expect(await world.needs('a')).toEqual([]);
    expect(await world.metric(isHeld)).toBe(0);
    expect(world.callsOf('drain')).toHaveLength(12);
    expect(await world.isServed('b')).toBe(true);
  });

  it('given an order to refuse it, then it is not believed however often it comes', async (test) => {
    const world = await heldWorld(test);
    const before = world.calls.length;
    await world.post('/v1/clusters/a/refuse-rollup', {});
    for (let times = 0; times < 4; times++) {
      const acked = world.operator('a').counts.rollupsAcked;
      world.operator('a').setDemand([]);
      await world.until('it was handled', () => world.operator('a').counts.rollupsAcked > acked);
    }
    await world.cycles(5);
    expect((await world.clusterOf('a'))?.reports?.held).toMatchObject({ isRefused: true });
    expect(await world.needs('a')).toHaveLength(12);
    expect(world.calls.slice(before)).toEqual([]);
  });
});
