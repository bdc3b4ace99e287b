// Machines that are withdrawn: by shrinking demand, by a cluster of higher priority, and not by a roll-up that
// collapses implausibly. Over real gRPC. Guardrails admit no Reclaim in the first ten seconds of a shard, so these
// tests wait together.

import { describe, expect, it } from 'vitest';
import { offering } from './shard-cloud.ts';
import { need, PATIENT, World } from './shard-world.ts';

describe.concurrent('demand that shrinks', PATIENT, () => {
  it('given a third of the demand left, then exactly the excess is drained with its grace, held for a while, and released', async (test) => {
    // Long enough that even a slow machine requests one again before the hold ends.
    const holdMs = 15_000;
    const world = await World.open(test, {
      clouds: { cloud: [offering('small', { count: 12 })] },
      settings: { 'releaseHold.onDemand': `${holdMs}ms` },
    });
    world.join('a', need('a', 24));
    world.join('b', need('b', 12));
    await world.served();
    const others = world.nodesOf('b');
    const before = world.calls.length;
    world.operator('a').setDemand([need('a', 8)]);
    await world.until('four nodes are asked for', () => world.reclaims.length === 4);
    await world.until('four machines are Idle', async () => {
      return (await world.machines('?state=idle')).length === 4;
    });
    // A machine that is needed again within the hold is not bought again.
    world.operator('a').setDemand([need('a', 12)]);
    await world.served('a');
    await world.until('the rest is given back', async () => {
      return (await world.cloud().machines()).filter(({ host }) => host !== undefined).length === 6;
    });
    await world.cycles(10);
    const calls = world.calls.slice(before);
    const drains = calls.filter(({ command }) => command === 'drain');
    expect(drains.map(({ graceSeconds }) => graceSeconds)).toEqual([600, 600, 600, 600]);
    expect(new Set(drains.map(({ machine }) => machine)).size).toBe(4);
    expect(
      world.reclaims.map(({ cluster, instruction: { gracePeriodSeconds } }) => [cluster, gracePeriodSeconds]),
    ).toEqual(Array(4).fill(['a', 600n]));
    const deletes = calls.filter(({ command }) => command === 'delete');
    expect(deletes).toHaveLength(3);
    const drainedMs = new Map(drains.map(({ machine, atMs }) => [machine, atMs]));
    for (const { machine, atMs } of deletes)
      expect(atMs - drainedMs.get(machine)!).toBeGreaterThanOrEqual(holdMs);
    expect(calls.filter(({ command }) => command === 'create')).toEqual([]);
    expect(calls.filter(({ command }) => command === 'configure')).toHaveLength(1);
    expect(world.nodesOf('a')).toHaveLength(3);
    expect(world.nodesOf('b')).toEqual(others);
    expect(await world.metric('bigfleet_shard_idle_releases_total')).toBe(3);
  });

  it('given a freeze of Reclaim in one cluster, then that cluster keeps its excess, and the other one does not', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small')] } });
    world.join('a', need('a', 12));
    world.join('b', need('b', 12));
    await world.served();
    await world.post('/v1/freezes', { cluster: 'a', action: 'Reclaim', why: 'a migration' });
    for (const cluster of ['a', 'b']) world.operator(cluster).setDemand([need(cluster, 4)]);
    await world.until('two machines of the other are back', () => world.callsOf('delete').length === 2);
    expect(world.reclaims.map(({ cluster }) => cluster)).toEqual(['b', 'b']);
    const { waiting } = await world.actions();
    expect(waiting.map(({ kind, cluster, why }) => `${kind} ${cluster} ${why}`)).toEqual(
      Array(2).fill('Reclaim a frozen'),
    );
    expect(world.nodesOf('a')).toHaveLength(3);
    // Only Reclaims are frozen: the cluster may still grow.
    world.operator('a').setDemand([need('a', 16)]);
    await world.served();
    expect(world.nodesOf('a')).toHaveLength(4);
  });
});

describe.concurrent('a priority that spikes', PATIENT, () => {
  it('given a full cloud, then the grace of each preemption follows the gap in priority, and each happens once', async (test) => {
    const graces = new Map([
      ['now', 10],
      ['soon', 30],
      ['later', 120],
      ['whenever', 600],
    ]);
    const priorities = [1_000_000, 600_000, 200_000, 50_000];
    const world = await World.open(test, {
      clouds: { cloud: [offering('small', { count: 5 })] },
      cloudSettings: { cloud: { latency: { drain: { medianMs: 600 } } } },
    });
    world.join('batch', need('batch', 20));
    await world.served();
    const before = world.calls.length;
    for (const [i, cluster] of [...graces.keys()].entries())
      world.join(cluster, need(cluster, 4, { priority: priorities[i]! }));
    await world.served(...graces.keys());
    await world.cycles(10);
    const calls = world.calls.slice(before);
    const drains = new Map(
      calls.filter(({ command }) => command === 'drain').map((call) => [call.machine, call]),
    );
    const bound = calls.filter(({ command }) => command === 'configure');
    // As many calls as machines: no action was repeated.
    expect([drains.size, bound.length, calls.length]).toEqual([4, 4, 8]);
    for (const { machine, cluster } of bound)
      expect({ cluster, grace: drains.get(machine)?.graceSeconds }).toEqual({
        cluster,
        grace: graces.get(cluster),
      });
    const received = world.reclaims.map(({ cluster, instruction }) => {
      const { nodes, gracePeriodSeconds, preemptorPriority } = instruction;
      expect(nodes).toHaveLength(1);
      return { cluster, grace: Number(gracePeriodSeconds), priority: preemptorPriority };
    });
    expect(received.sort((x, y) => x.grace - y.grace)).toEqual(
      [...graces.values()].map((grace, i) => ({ cluster: 'batch', grace, priority: priorities[i] })),
    );
    expect(await world.clusterOf('batch')).toMatchObject({ unmet: 1, machinesByState: { CONFIGURED: 1 } });
  });
});

describe.concurrent('an empty roll-up', PATIENT, () => {
  const rows = Array.from({ length: 12 }, (_, i) => need('a', 4, { priority: i }));
  const isQuarantined = 'bigfleet_shard_rollup_quarantined{cluster="a"}';
  /** Repeats its roll-up so rarely that a collapsed one is never confirmed. */
  const seldom = { rollupMs: 600_000 };

  async function heldWorld(test: Parameters<typeof World.open>[0]): Promise<World> {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 16 })] } });
    world.join('a', ...rows);
    world.join('b', need('b', 4));
    await world.served();
    // The same cluster, with an operator that has lost its cache.
    world.operator('a').stop();
    world.joinWith(seldom, 'a');
    await world.until('it is held', async () => (await world.metric(isQuarantined)) === 1);
    return world;
  }

  it('given no order to accept it, then it stays quarantined, also after a restart, until the demand returns', async (test) => {
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
    await world.until('it is held again', async () => (await world.metric(isQuarantined)) === 1);
    await world.served('b');
    await world.cycles(10);
    world.operator('a').setDemand(rows);
    await world.served();
    await world.cycles(5);
    expect(await world.metric(isQuarantined)).toBe(0);
    expect(world.calls.slice(before)).toEqual([]);
    expect(world.reclaims).toEqual([]);
  });

  it('given an order to accept it, then the machines of the cluster are released', async (test) => {
    const world = await heldWorld(test);
    expect(await world.post('/v1/clusters/a/accept-rollup', {})).toBe('The roll-up of a counts from now on.');
    await world.until('all are asked for', () => world.reclaims.length === 12);
    await world.until('all are given back', async () => {
      return (await world.cloud().machines()).filter(({ host }) => host !== undefined).length === 1;
    });
    expect(await world.needs('a')).toEqual([]);
    expect(await world.metric(isQuarantined)).toBe(0);
    expect(world.callsOf('drain')).toHaveLength(12);
    expect(await world.isServed('b')).toBe(true);
  });

  it('given an order to refuse it, then it is not accepted however often it is repeated', async (test) => {
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
