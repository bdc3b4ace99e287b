// A shard that stops or dies while transitions are in flight: its successor recovers everything and repeats no action.
// Over real gRPC; tests that kill it run it as a separate process.

import { describe, expect, it } from 'vitest';
import { CapacityType, MachineState } from '../../src/model/index.ts';
import { offering } from './shard-cloud.ts';
import { need, ofType, PATIENT, World, type WorldGiven } from './shard-world.ts';

const { Configuring, Creating, Draining } = MachineState;
const SLOW_MS = 2000;
const SLOW = {
  latency: Object.fromEntries(
    (['create', 'configure', 'drain'] as const).map((kind) => [kind, { medianMs: SLOW_MS, spread: 0 }]),
  ),
};
const CLOUDS = {
  metal: [
    offering('bare', { capacityType: CapacityType.BareMetal, pricePerHour: 0, isOwned: true, count: 3 }),
  ],
  cloud: [offering('small', { count: 8 })],
};

/** Machines of one cluster are preempted for another, and the first cluster gets replacements: everything moves at once. */
async function moving(
  test: Parameters<typeof World.open>[0],
  given: Partial<WorldGiven> = {},
): Promise<World> {
  const world = await World.open(test, { clouds: CLOUDS, ...given });
  world.join('batch', need('batch', 12));
  await world.served();
  world.cloud('metal').set(SLOW);
  world.cloud('cloud').set(SLOW);
  world.joinWith(
    { blobMs: [300, 600] },
    'web',
    need('web', 8, { priority: 1_000_000, requirements: ofType('bare') }),
  );
  return world;
}

/** Every call that the whole scenario needs, exactly once. */
async function expectDoneOnce(world: World): Promise<void> {
  await world.served();
  await world.cycles(10);
  const counts: Record<string, number> = {};
  for (const { command, cluster } of world.calls) {
    const name = `${command} ${cluster}`.trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts).toEqual({ 'configure batch': 5, 'configure web': 2, create: 2, drain: 2 });
  expect((await world.machines('?cluster=web')).map(({ provider }) => provider)).toEqual(['metal', 'metal']);
  expect((await world.machines('?cluster=batch')).map(({ provider }) => provider).toSorted()).toEqual([
    'cloud',
    'cloud',
    'metal',
  ]);
  const hosts = (await world.cloud('cloud').machines()).filter(({ host }) => host !== undefined);
  expect(hosts).toHaveLength(2);
  expect(world.logged('shard-failed')).toEqual([]);
}

async function isAny(world: World, cloud: string, state: MachineState): Promise<boolean> {
  return (await world.cloud(cloud).machines(state)).length > 0;
}

describe.concurrent('a shard that is restarted', PATIENT, () => {
  it('given machines that drain and are created, then both reach their targets', async (test) => {
    const world = await moving(test);
    await world.until('one drains while another is created', async () => {
      return (await isAny(world, 'metal', Draining)) && (await isAny(world, 'cloud', Creating));
    });
    await world.restart();
    await expectDoneOnce(world);
    // The instruction is repeated if the first process ended before the acknowledgement; the grace period is unchanged.
    expect(new Set(world.reclaims.map(({ instruction }) => Number(instruction.gracePeriodSeconds)))).toEqual(
      new Set([10]),
    );
  });

  it('given machines that are being configured, then each is configured once', async (test) => {
    const world = await moving(test);
    await world.until('one joins', () => isAny(world, 'metal', Configuring));
    await world.restart();
    await expectDoneOnce(world);
  });
});

describe.concurrent('a shard that is killed', PATIENT, () => {
  it.for([1, 3, 6])(
    'given a kill at change %i of the scenario, then nothing is lost or repeated',
    async (change, test) => {
      const world = await moving(test, { isProcess: true });
      const before = world.calls.length;
      const { epoch } = await world.status();
      await world.until(`change ${change}`, () => world.calls.length >= before + change);
      await world.kill();
      await world.start();
      await expectDoneOnce(world);
      expect((await world.status()).epoch).toBe(epoch + 1);
    },
  );
});
