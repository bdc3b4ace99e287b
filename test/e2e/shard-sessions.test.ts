// Operators that disconnect and reconnect. Over real gRPC.

import { describe, expect, it } from 'vitest';
import { offering } from './shard-cloud.ts';
import { need, PATIENT, World } from './shard-world.ts';

describe.concurrent('an operator that disconnects', PATIENT, () => {
  it('given its return, then no action was taken meanwhile, and it receives the state of all its nodes', async (test) => {
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
    // Without an operator to bootstrap a replacement, a lost machine is not replaced, so nothing is bought either.
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
    // A new operator process knows nothing but its demand.
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

  it('given a connection that breaks repeatedly, then no machine changes', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small')] } });
    const operator = world.join('a', need('a', 12));
    await world.served();
    const before = world.calls.length;
    for (let times = 0; times < 5; times++) {
      const { sessions } = operator.counts;
      operator.drop();
      await world.until('it is back', () => operator.counts.sessions > sessions);
    }
    // The shard reports all of its nodes again on each session.
    await world.served();
    await world.cycles(5);
    expect(world.calls.slice(before)).toEqual([]);
    expect(world.reclaims).toEqual([]);
    expect(await world.isServed()).toBe(true);
    expect(await world.metric('bigfleet_shard_active_sessions')).toBe(1);
  });
});
