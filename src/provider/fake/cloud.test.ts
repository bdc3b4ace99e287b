// Latencies, supply, errors, losses and clean-ups of the cloud, and changing settings while it runs.

import { describe, expect, it } from 'vitest';
import {
  type FakeScene,
  fakeScene,
  HOUR_MS,
  inventory,
  MINUTE_MS,
  machine,
  numbered,
  raise,
} from '../../../testing/support/fake-provider.ts';
import {
  configureOf,
  createOf,
  deleteOf,
  drainOf,
  filter,
  refusedWith,
  token,
} from '../../../testing/support/provider-kit.ts';
import { CapacityType, MachineState } from '../../model/index.ts';
import { MemoryStore } from '../kit/memory-store.ts';
import type { SettingsPatch } from './settings.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Failed } = MachineState;
const GENERAL = 'fake-general-zone-a-0';
const SPOT = 'fake-general-spot-zone-a-0';
const METAL = 'fake-metal-zone-a-0';

describe('the inventory of the fake cloud', () => {
  it('given the built-in catalogue, then machines have types, zones, racks and prices of every capacity type', async () => {
    const all = await inventory(await fakeScene());
    expect(all).toHaveLength(64);
    expect(new Set(all.map(({ zone }) => zone))).toEqual(new Set(['zone-a', 'zone-b', 'zone-c']));
    expect(new Set(all.map(({ capacityType }) => capacityType))).toEqual(new Set([1, 2, 3, 4]));
    for (const {
      state,
      host,
      capacityType,
      interruptionProbability,
      resources,
      allocatable,
      labels,
    } of all) {
      expect(state).toBe(capacityType === CapacityType.BareMetal ? Idle : Speculative);
      expect(host === undefined).toBe(state === Speculative);
      expect(interruptionProbability > 0).toBe(capacityType === CapacityType.Spot);
      expect(resources?.resources.size).toBeGreaterThanOrEqual(2);
      expect(allocatable?.resources.size).toBe(resources?.resources.size);
      expect(labels.get('topology.bigfleet/rack')).toMatch(/^zone-[abc]-rack-\d$/);
    }
  });

  it('given price swings, when an hour passes, then spot records change and others do not', async () => {
    const scene = await fakeScene({ set: { market: { priceSwing: 0.4, rateSwing: 0.6 } } });
    const { revision } = await scene.fake.kit.list(filter());
    const before = new Map((await inventory(scene)).map((each) => [each.id, each]));
    await scene.clock.advance(HOUR_MS);
    const { machines } = await scene.fake.kit.list(filter({ sinceRevision: revision }));
    expect(machines.length).toBeGreaterThan(10);
    for (const each of machines) {
      expect(each.capacityType).toBe(CapacityType.Spot);
      expect(each.pricePerHour).not.toBe(before.get(each.id)!.pricePerHour);
    }
  });

  it('given no price swings, when a day passes, then the revision is unchanged', async () => {
    const scene = await fakeScene();
    const { revision } = await scene.fake.kit.list(filter());
    await scene.clock.advance(24 * HOUR_MS);
    expect((await scene.fake.kit.list(filter())).revision).toEqual(revision);
  });
});

describe('the life cycle in the calm cloud', () => {
  it('given a quota slot, when it passes through every state, then each transition ends within milliseconds', async () => {
    const scene = await fakeScene();
    const { fake, clock } = scene;
    await fake.create(createOf(GENERAL));
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Creating });
    await clock.advance(50);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Idle, host: { provider: 'fake' } });
    await fake.configure(configureOf(GENERAL));
    await clock.advance(50);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Configured });
    await fake.drain(drainOf(GENERAL, token(), 30n));
    await clock.advance(50);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Idle, cluster: '' });
    const before = fake.cloud.hostCount;
    await fake.delete(deleteOf(GENERAL));
    await clock.advance(50);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Speculative, host: undefined });
    expect(fake.cloud.hostCount).toBe(before - 1);
  });

  it('given a grace period shorter than the latency, then the drain ends with the grace period', async () => {
    const scene = await fakeScene({ set: { latency: { drain: { medianMs: HOUR_MS } } } });
    await raise(scene, [GENERAL], 'c');
    await scene.fake.drain(drainOf(GENERAL, token(), 30n));
    await scene.clock.advance(29_000);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: MachineState.Draining });
    await scene.clock.advance(1500);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Idle });
  });

  it('given 200 concurrent creates, then they end in a different order', async () => {
    const scene = await fakeScene({
      machines: 400,
      set: { latency: { create: { medianMs: 40_000, spread: 0.5 } } },
    });
    const slots = (await inventory(scene, Speculative)).slice(0, 200).map(({ id }) => id);
    for (const id of slots) await scene.fake.create(createOf(id));
    const ended: string[] = [];
    while (ended.length < 200) {
      await scene.clock.advance(1000);
      for (const { id } of await inventory(scene, Idle)) {
        if (slots.includes(id) && !ended.includes(id)) ended.push(id);
      }
    }
    expect(ended).not.toEqual(slots);
    expect(new Set(ended)).toEqual(new Set(slots));
  });
});

describe('supply of the fake cloud', () => {
  it('given a quota that is used up, then Create fails until a host is deleted', async () => {
    const scene = await fakeScene({ set: { quotas: { 'general/zone-a': 1 } } });
    const { fake, clock } = scene;
    const [first, second] = numbered('general', 'zone-a', 2) as [string, string];
    await raise(scene, [first, second, 'fake-general-zone-b-0']);
    expect(await machine(scene, second)).toMatchObject({
      state: Failed,
      lastError: expect.stringMatching(/quota exceeded/),
    });
    expect(await machine(scene, 'fake-general-zone-b-0')).toMatchObject({ state: Idle });
    await fake.delete(deleteOf(first));
    await clock.advance(11 * MINUTE_MS);
    expect(await machine(scene, second)).toMatchObject({ state: Speculative, lastError: '' });
    await raise(scene, [second]);
    expect(await machine(scene, second)).toMatchObject({ state: Idle });
  });

  it('given a quota per offering, then it applies to each zone and counts in-flight creates', async () => {
    const scene = await fakeScene({ set: { quotas: { general: 1 } } });
    const ids = ['zone-a', 'zone-b'].flatMap((zone) => numbered('general', zone, 3));
    await raise(scene, ids);
    expect(await inventory(scene, Failed)).toHaveLength(4);
  });

  it('given a stock-out, then Create fails in that pool only, until it ends', async () => {
    const scene = await fakeScene({ set: { losses: { cleanupMs: MINUTE_MS } } });
    scene.fake.cloud.stockOut('general/zone-a', 5 * MINUTE_MS);
    await raise(scene, [GENERAL, 'fake-general-zone-b-0']);
    expect(await machine(scene, GENERAL)).toMatchObject({
      state: Failed,
      lastError: expect.stringMatching(/^BF_OUT_OF_STOCK: insufficient capacity/),
    });
    expect(await machine(scene, 'fake-general-zone-b-0')).toMatchObject({ state: Idle });
    await scene.clock.advance(6 * MINUTE_MS);
    await raise(scene, [GENERAL]);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Idle });
  });

  it('given a probability of stock-outs, then creates fail at that rate', async () => {
    const scene = await fakeScene({ machines: 2000, set: { stock: { outChance: 0.3, outMs: 1 } } });
    let failed = 0;
    const slots = (await inventory(scene, Speculative)).map(({ id }) => id).slice(0, 1500);
    for (const id of slots) {
      await scene.fake.create(createOf(id));
      await scene.clock.advance(2);
    }
    await scene.clock.advance(1000);
    failed = (await inventory(scene, Failed)).length;
    expect(failed / slots.length).toBeGreaterThan(0.25);
    expect(failed / slots.length).toBeLessThan(0.35);
  });

  it('given unknown offerings or zones, then they are refused with the known ones', async () => {
    const { fake } = await fakeScene();
    expect(() => fake.cloud.stockOut('golden')).toThrow('general/zone-a');
    expect(() => fake.cloud.outage('zone-z')).toThrow('zone-b');
  });
});

/** The errors of those of up to 1500 transitions that fail. */
async function failuresOf(scene: FakeScene): Promise<readonly string[]> {
  const slots = (await inventory(scene, Speculative)).slice(0, 1500).map(({ id }) => id);
  for (const id of slots) await scene.fake.kit.create(createOf(id));
  await scene.clock.advance(6 * MINUTE_MS);
  return (await inventory(scene, Failed)).map(({ lastError }) => lastError);
}

describe('failed transitions, each at its rate', () => {
  const many = (operations: SettingsPatch['operations'] = {}) =>
    fakeScene({ machines: 2000, set: { operations } });

  it.each([
    ['permanentError', 'the cloud refused', 0.1, 0.1],
    ['hang', 'did not end within', 0.1, 0.1],
    ['transientError', 'failed 4 times', 0.5, 0.5 ** 4],
  ] as const)(
    'given the setting %s, then transitions fail at its rate',
    async (name, words, rate, expected) => {
      const failures = await failuresOf(await many({ [name]: rate }));
      expect(new Set(failures.map((reason) => reason.includes(words)))).toEqual(new Set([true]));
      const slack = 4 * Math.sqrt((expected * (1 - expected)) / 1500);
      expect(Math.abs(failures.length / 1500 - expected)).toBeLessThan(slack);
    },
  );

  it('given transient errors, then the transition succeeds after retries', async () => {
    const scene = await many({ transientError: 0.2 });
    expect((await failuresOf(scene)).length).toBeLessThan(15);
  });

  it('given a slow transition, then the machine is Failed at the timeout, and a late host does not change it', async () => {
    const scene = await fakeScene({
      set: { operations: { slow: 1, slowFactor: 100_000 }, losses: { cleanupMs: HOUR_MS } },
    });
    const hosts = scene.fake.cloud.hostCount;
    await scene.fake.create(createOf(GENERAL));
    await scene.clock.advance(5 * MINUTE_MS);
    expect(await machine(scene, GENERAL)).toMatchObject({
      state: Failed,
      lastError: expect.stringMatching(/did not end within 300 s/),
    });
    await scene.clock.advance(30 * MINUTE_MS);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Failed, host: undefined });
    // The host runs and is billed, but no record names it until the clean-up.
    expect(scene.fake.cloud.hostCount).toBe(hosts + 1);
    await scene.clock.advance(HOUR_MS);
    expect(scene.fake.cloud.hostCount).toBe(hosts);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Speculative });
  });

  it('given a node that never becomes Ready, then its machine stays Configuring until the timeout', async () => {
    const scene = await fakeScene({ set: { operations: { neverReady: 1 } } });
    await raise(scene, [GENERAL]);
    await scene.fake.configure(configureOf(GENERAL));
    await scene.clock.advance(299_000);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Configuring });
    await scene.clock.advance(2000);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Failed, cluster: 'cluster-1' });
  });
});

describe('losses of hosts', () => {
  const bound = async (set: SettingsPatch = {}) => {
    const scene = await fakeScene({ machines: 1200, set });
    const spots = numbered('general-spot', 'zone-a', 60);
    const owned = numbered('general', 'zone-a', 60);
    await raise(scene, [...spots, ...owned], 'prod');
    return { ...scene, spots, owned };
  };

  it('given a bound spot machine, when interrupted, then it is Failed in place with its binding and the reason', async () => {
    const scene = await fakeScene();
    await raise(scene, [SPOT], 'prod');
    const { revision } = await scene.fake.kit.list(filter());
    expect(scene.fake.cloud.interrupt({ machine: SPOT })).toEqual([SPOT]);
    await scene.clock.advance(0);
    expect(await machine(scene, SPOT)).toMatchObject({
      state: Failed,
      cluster: 'prod',
      // The cloud reclaimed the host, so it is not billed.
      host: undefined,
      lastError: expect.stringMatching(/taken back/),
    });
    const { machines } = await scene.fake.kit.list(filter({ sinceRevision: revision }));
    expect(machines.map(({ id }) => id)).toEqual([SPOT]);
    expect(await refusedWith(scene.fake.kit.configure(configureOf(SPOT)))).toBe(13);
    await scene.clock.advance(10 * MINUTE_MS);
    expect(await machine(scene, SPOT)).toMatchObject({ state: Speculative, cluster: '', host: undefined });
    expect(scene.events.map(({ what }) => what)).toEqual(['interrupted', 'cleaned up']);
  });

  it('given a machine that is Configuring, when interrupted, then it is Failed and stays Failed', async () => {
    const scene = await fakeScene();
    await raise(scene, [SPOT]);
    await scene.fake.configure(configureOf(SPOT));
    scene.fake.cloud.interrupt({ machine: SPOT });
    await scene.clock.advance(MINUTE_MS);
    expect(await machine(scene, SPOT)).toMatchObject({
      state: Failed,
      lastError: expect.stringMatching(/taken back/),
    });
  });

  it('given declared interruption rates, then only spot machines are lost, at these rates', async () => {
    // 3 % an hour, ten times over, for three hours: about 1 − 0.97^30.
    const scene = await bound({ losses: { interruptionFactor: 10, cleanupMs: 0 } });
    await scene.clock.advance(3 * HOUR_MS);
    const lost = (await inventory(scene, Failed)).map(({ id }) => id);
    expect(lost.every((id) => scene.spots.includes(id))).toBe(true);
    expect(lost.length / 60).toBeGreaterThan(0.4);
    expect(lost.length / 60).toBeLessThan(0.8);
  });

  it('given a death rate, then bound machines of any capacity type die', async () => {
    const scene = await bound({ losses: { deathsPerHour: 0.3, cleanupMs: 0 } });
    await scene.clock.advance(HOUR_MS);
    const lost = (await inventory(scene, Failed)).filter(({ cluster }) => cluster === 'prod');
    expect(lost.length / 120).toBeGreaterThan(0.15);
    expect(lost.length / 120).toBeLessThan(0.45);
    expect(new Set(lost.map(({ capacityType }) => capacityType)).size).toBe(2);
    expect(lost.every(({ lastError }) => lastError === 'the host died')).toBe(true);
  });

  it('given an owned host that dies, then after the clean-up its machine is Idle and unbound on the same host', async () => {
    const scene = await fakeScene();
    const { host } = await machine(scene, METAL);
    await scene.fake.configure(configureOf(METAL));
    // Also during a transition.
    scene.fake.cloud.kill({ machine: METAL });
    await scene.clock.advance(0);
    expect(await machine(scene, METAL)).toMatchObject({ state: Failed, host });
    await scene.clock.advance(10 * MINUTE_MS);
    expect(await machine(scene, METAL)).toMatchObject({ state: Idle, host, cluster: '' });
    expect(scene.fake.cloud.kill({ machine: METAL })).toEqual([METAL]);
  });

  it('given a selector with a count, then only matching hosts are lost, at most that many', async () => {
    const scene = await bound();
    expect(scene.fake.cloud.interrupt({ offering: 'general-spot', zone: 'zone-a', count: 3 })).toHaveLength(
      3,
    );
    expect(scene.fake.cloud.kill({ cluster: 'unknown' })).toEqual([]);
    expect(scene.fake.cloud.kill({ cluster: 'prod', offering: 'general/zone-a' })).toHaveLength(60);
  });

  it('given an outage of a zone, then its hosts are lost and transitions in it fail until it ends', async () => {
    const scene = await bound({ losses: { cleanupMs: 5 * MINUTE_MS } });
    await raise(scene, ['fake-general-zone-b-0'], 'prod');
    await scene.fake.create(createOf('fake-compute-zone-a-0'));
    expect(scene.fake.cloud.outage('zone-a', 20 * MINUTE_MS).length).toBeGreaterThanOrEqual(120);
    await scene.clock.advance(MINUTE_MS);
    expect(await machine(scene, 'fake-compute-zone-a-0')).toMatchObject({
      lastError: 'BF_BACKEND_FAILED: zone-a is unavailable',
    });
    expect(await machine(scene, 'fake-general-zone-b-0')).toMatchObject({ state: Configured });
    await scene.clock.advance(5 * MINUTE_MS);
    await raise(scene, [GENERAL]);
    expect(await machine(scene, GENERAL)).toMatchObject({
      state: Failed,
      lastError: 'BF_BACKEND_FAILED: zone-a is unavailable',
    });
    await scene.clock.advance(20 * MINUTE_MS);
    await raise(scene, [GENERAL]);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Idle });
  });
});

describe('settings changed at run time', () => {
  it('given a calm cloud, when settings are changed and restored, then each change takes effect', async () => {
    const scene = await fakeScene();
    const { fake, clock } = scene;
    fake.cloud.set({ transport: { unavailable: 1 } });
    expect(await refusedWith(fake.get({ id: GENERAL }))).toBe(14);
    fake.cloud.set({
      transport: { unavailable: 0 },
      operations: { permanentError: 1 },
      losses: { cleanupMs: 1000 },
    });
    await fake.create(createOf(GENERAL));
    await clock.advance(500);
    expect(await machine(scene, GENERAL)).toMatchObject({ state: Failed });
    fake.cloud.set({ operations: { permanentError: 0 } });
    await clock.advance(1000);
    await raise(scene, [SPOT], 'prod');
    fake.cloud.set({ losses: { interruptionFactor: 100_000 } });
    await clock.advance(20_000);
    expect(await machine(scene, SPOT)).not.toMatchObject({ state: Configured });
    fake.cloud.set({ market: { priceSwing: 0.5 } });
    const { pricePerHour } = await machine(scene, SPOT);
    await clock.advance(HOUR_MS);
    expect((await machine(scene, SPOT)).pricePerHour).not.toBe(pricePerHour);
  });

  it('given an invalid setting, then no setting changes', async () => {
    const { fake } = await fakeScene();
    const before = fake.cloud.settings;
    expect(() => fake.cloud.set({ operations: { hang: 0.5, slow: 7 } })).toThrow('operations.slow');
    expect(fake.cloud.settings).toBe(before);
  });
});

describe('a restart of the fake provider', () => {
  it('given bound, failed and in-flight machines, when restarted, then bindings, fences and quotas are kept', async () => {
    const store = new MemoryStore();
    const scene = await fakeScene({ store, set: { quotas: { general: 1 } } });
    const fence = token('shard-0', 3n, 7n);
    await scene.fake.create(createOf(SPOT, fence));
    await raise(scene, [SPOT, GENERAL], 'prod');
    scene.fake.cloud.interrupt({ machine: SPOT });
    await scene.fake.create(createOf('fake-compute-zone-a-0'));
    await scene.fake.close();
    expect(scene.clock.waiting).toBe(0);

    const again = await fakeScene({ store, clock: scene.clock, set: { quotas: { general: 1 } } });
    expect(await machine(again, GENERAL)).toMatchObject({ state: Configured, cluster: 'prod' });
    expect(await machine(again, 'fake-compute-zone-a-0')).toMatchObject({
      state: Failed,
      lastError: expect.stringMatching(/restarted/),
    });
    expect(await refusedWith(again.fake.create(createOf(SPOT, fence)))).toBe(9);
    // The cloud still knows its hosts: the quota is used up, and they can be lost.
    await raise(again, ['fake-general-zone-a-1']);
    expect(await machine(again, 'fake-general-zone-a-1')).toMatchObject({ state: Failed });
    await again.clock.advance(10 * MINUTE_MS);
    expect(await inventory(again, Failed)).toEqual([]);
    expect(again.fake.cloud.kill({ machine: GENERAL })).toEqual([GENERAL]);
  });

  it('given more machines after a restart, then they are added and the others are unchanged', async () => {
    const store = new MemoryStore();
    const scene = await fakeScene({ store });
    await raise(scene, [GENERAL], 'prod');
    await scene.fake.close();
    const again = await fakeScene({ store, clock: scene.clock, machines: 100 });
    expect(await inventory(again)).toHaveLength(100);
    expect(await machine(again, GENERAL)).toMatchObject({ state: Configured });
  });
});
