// A fleet whose demand is met, over real gRPC.

import { describe, expect, it } from 'vitest';
import { CapacityType } from '../../src/model/index.ts';
import { offering } from './shard-cloud.ts';
import { need, ofType, PATIENT, RACK_KEY, same, World } from './shard-world.ts';

describe.concurrent('cold start', PATIENT, () => {
  it('given clusters and two empty clouds, then all demand is met, and no machine is bought twice', async (test) => {
    const world = await World.open(test, {
      clouds: {
        metal: [
          offering('bare', {
            capacityType: CapacityType.BareMetal,
            pricePerHour: 0,
            isOwned: true,
            count: 2,
          }),
        ],
        cloud: [offering('small', { count: 6 }), offering('big', { cpu: 16, pricePerHour: 3.9, count: 4 })],
      },
    });
    world.join('a', need('a', 8), need('a', 32, { unit: 16, priority: 50 }));
    world.join('b', need('b', 12, { priority: 10 }));
    world.join('c', need('c', 16, { unit: 16, requirements: ofType('big') }));
    await world.served();
    await world.cycles(5);
    expect(await world.isServed()).toBe(true);
    const configured = world.callsOf('configure').map(({ machine }) => machine);
    expect(new Set(configured).size).toBe(configured.length);
    // Owned machines are used first, and no cluster has more machines than its demand needs.
    expect(await world.machines('?provider=metal&state=configured')).toHaveLength(2);
    expect(
      world
        .callsOf('create')
        .map(({ machine }) => machine.slice(0, -2))
        .sort(),
    ).toEqual([
      'cloud-big-za',
      'cloud-big-za',
      'cloud-big-za',
      'cloud-small-za',
      'cloud-small-za',
      'cloud-small-za',
    ]);
    const { supply, shortfalls, sessions } = await world.status();
    expect({ supply, shortfalls, sessions }).toEqual({
      supply: { cpu: { wanted: 68, configured: 68 } },
      shortfalls: 0,
      sessions: 3,
    });
  });
});

describe.concurrent('a gang', PATIENT, () => {
  it('given racks that are partly in use, then it is bound whole in one rack', async (test) => {
    const world = await World.open(test, {
      clouds: { cloud: [offering('small', { count: 12, racksPerZone: 3 })] },
    });
    world.join('busy', need('busy', 8));
    await world.served();
    world.join('train', need('train', 16, { group: 'job-1', requirements: [same(RACK_KEY)], priority: 10 }));
    await world.served();
    const machines = await world.machines('?cluster=train');
    expect(machines.map(({ state }) => state)).toEqual(Array(4).fill('CONFIGURED'));
    const racks = new Set(machines.map(({ labels }) => labels[RACK_KEY]));
    expect(racks.size).toBe(1);
    expect((await world.explain('train')).need).toMatchObject({ isMet: true, domain: [...racks][0] });
    // No machine was drained, and none was bought before the right rack was found.
    expect(world.callsOf('drain')).toEqual([]);
    expect(world.callsOf('create')).toHaveLength(6);
  });
});

const SPOT = { capacityType: CapacityType.Spot, interruptionProbability: 0.001 };

describe.concurrent('a spot interruption', PATIENT, () => {
  it('given a host that is interrupted, then it is replaced by exactly one machine', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('spot', { ...SPOT, count: 6 })] } });
    world.join('a', need('a', 12));
    await world.served();
    const before = world.calls.length;
    const [lost] = world.nodesOf('a');
    world.cloud().provider.cloud.interrupt({ machine: lost! });
    await world.until('a third node that is not the lost one', async () => {
      const nodes = world.nodesOf('a');
      return nodes.length === 3 && !nodes.includes(lost!) && (await world.isServed());
    });
    await world.cycles(10);
    const after = world.calls.slice(before);
    expect(after.map(({ command }) => command)).toEqual(['create', 'configure']);
    expect(after[0]!.machine).not.toBe(lost);
    // The operator knows that the node is gone, and the API shows why.
    expect(world.operator('a').nodes.has(lost!)).toBe(false);
    expect(await world.get(`/v1/machines/${lost}`)).toMatchObject({
      state: 'FAILED',
      lastError: expect.stringContaining('taken back'),
    });
  });
});

describe.concurrent('constant demand', PATIENT, () => {
  it('given spot prices that change by a tenth, then there is no action, and met Needs keep their machines', async (test) => {
    const world = await World.open(test, {
      clouds: {
        cloud: [
          offering('spot-1', { ...SPOT, pricePerHour: 0.4, zones: ['za', 'zb'] }),
          offering('spot-2', { ...SPOT, pricePerHour: 0.41, zones: ['za', 'zb'] }),
          offering('small'),
        ],
      },
    });
    world.join('a', need('a', 20), need('a', 8, { priority: 10 }));
    world.join('b', need('b', 12, { priority: 5 }), need('b', 4, { requirements: ofType('small') }));
    await world.served();
    const before = world.calls.length;
    const prices = new Set<number>();
    world.cloud().set({ market: { priceSwing: 0.1, rateSwing: 0.1, stepMs: 200, refreshMs: 100 } });
    const spot = (await world.machines()).find(({ instanceType }) => instanceType === 'spot-1')!;
    // Calm clouds update their market once a minute; settings apply from the next update on.
    await world.cloud().provider.kit.refresh();
    for (let round = 0; round < 10; round++) {
      await world.cycles(3);
      await world.cloud().provider.kit.refresh();
      prices.add((await world.get<{ pricePerHour: number }>(`/v1/machines/${spot.id}`)).pricePerHour);
    }
    expect(prices.size).toBeGreaterThan(3);
    expect(world.calls.slice(before)).toEqual([]);
    expect(await world.metric('bigfleet_shard_met_claim_changes_total')).toBe(0);
    expect(await world.isServed()).toBe(true);
  });
});
