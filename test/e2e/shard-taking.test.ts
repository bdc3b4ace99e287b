// Machines that are taken away: by a demand that shrinks, and by somebody who is more important. Over real gRPC.

import { describe, expect, it } from 'vitest';
import { offering } from './shard-cloud.ts';
import { need, PATIENT, World } from './shard-world.ts';

describe.concurrent('a demand that shrinks', PATIENT, () => {
  it('given two thirds gone, then exactly the excess leaves with its grace, is kept for a while, and given back', async (test) => {
    const world = await World.open(test, {
      clouds: { cloud: [offering('small', { count: 12 })] },
      settings: { 'releaseHold.onDemand': '2s' },
    });
    world.join('a', need('a', 24));
    world.join('b', need('b', 12));
    await world.served();
    const others = world.nodesOf('b');
    const before = world.calls.length;
    world.operator('a').setDemand([need('a', 8)]);
    // The rails admit none in the first ten seconds of a shard.
    await world.until('four nodes are asked for', () => world.told.length === 4);
    await world.until('four machines are Idle', async () => {
      return (await world.machines('?state=idle')).length === 4;
    });
    const idleAtMs = Date.now();
    // A machine that is needed again within the hold is not bought anew.
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
      world.told.map(({ cluster, instruction: { gracePeriodSeconds } }) => [cluster, gracePeriodSeconds]),
    ).toEqual(Array(4).fill(['a', 600n]));
    const deletes = calls.filter(({ command }) => command === 'delete');
    expect(deletes).toHaveLength(3);
    for (const { atMs } of deletes) expect(atMs - idleAtMs).toBeGreaterThan(1000);
    expect(calls.filter(({ command }) => command === 'create')).toEqual([]);
    expect(calls.filter(({ command }) => command === 'configure')).toHaveLength(1);
    expect(world.nodesOf('a')).toHaveLength(3);
    expect(world.nodesOf('b')).toEqual(others);
    expect(await world.metric('bigfleet_shard_idle_releases_total')).toBe(3);
  });
});

describe.concurrent('a priority that spikes', PATIENT, () => {
  it('given a full cloud, then each preemption has the grace of its distance, and happens once', async (test) => {
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
    // As many changes as machines: nothing was done twice.
    expect([drains.size, bound.length, calls.length]).toEqual([4, 4, 8]);
    for (const { machine, cluster } of bound)
      expect({ cluster, grace: drains.get(machine)?.graceSeconds }).toEqual({
        cluster,
        grace: graces.get(cluster),
      });
    const told = world.told.map(({ cluster, instruction }) => {
      const { nodes, gracePeriodSeconds, preemptorPriority } = instruction;
      expect(nodes).toHaveLength(1);
      return { cluster, grace: Number(gracePeriodSeconds), priority: preemptorPriority };
    });
    expect(told.sort((x, y) => x.grace - y.grace)).toEqual(
      [...graces.values()].map((grace, i) => ({ cluster: 'batch', grace, priority: priorities[i] })),
    );
    expect(await world.clusterOf('batch')).toMatchObject({ unmet: 1, machinesByState: { CONFIGURED: 1 } });
  });
});
