// One part of the fleet fails: the rest keeps working, and the cause appears in the log, the metrics and the API. Over
// real gRPC.

import { describe, expect, it } from 'vitest';
import { CapacityType, MachineState } from '../../src/model/index.ts';
import { offering } from './shard-cloud.ts';
import { need, ofType, PATIENT, World } from './shard-world.ts';

describe.concurrent('a cluster that cannot be served', PATIENT, () => {
  it('given demand that no machine can meet, then other clusters are served, and the missing resources are reported', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small')] } });
    world.join('odd', need('odd', 8, { priority: 1_000_000, requirements: ofType('gpu') }));
    world.join('a', need('a', 8));
    await world.served('a');
    await world.until(
      'it is known for good',
      () => world.logged('need-short', { cluster: 'odd' }).length > 0,
    );
    await world.cycles(10);
    const story = await world.explain('odd');
    expect(story.need).toMatchObject({ isMet: false, reason: 'no-matching-supply', missing: { cpu: '8' } });
    expect(story.matching).toEqual({ idle: 0, speculative: 0, configured: 0 });
    expect(world.logged('need-short')).toMatchObject([
      { level: 'warn', fields: { need: story.need.id, reason: 'no-matching-supply', missing: { cpu: '8' } } },
    ]);
    expect(await world.metric('bigfleet_shard_shortfalls_escalated')).toBe(1);
    expect(await world.metric('bigfleet_shard_shortfalls_by_priority{priority_class="critical"}')).toBe(1);
    expect(await world.clusterOf('odd')).toMatchObject({ unmet: 1, machinesByState: {} });
    expect(world.calls.map(({ cluster }) => cluster)).not.toContain('odd');
    expect(await world.isServed('a')).toBe(true);
  });

  it('given machines of a cluster that never reports, then they stay bound, and other clusters are served', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small', { count: 6 })] } });
    world.join('ghost', need('ghost', 8));
    await world.served('ghost');
    world.operator('ghost').stop();
    await world.stop();
    const before = world.calls.length;
    await world.start();
    world.join('a', need('a', 16));
    await world.served('a');
    await world.cycles(10);
    const ghost = await world.machines('?cluster=ghost');
    expect(ghost.map(({ state }) => state)).toEqual(['CONFIGURED', 'CONFIGURED']);
    expect(world.calls.slice(before).filter(({ machine }) => ghost.some(({ id }) => id === machine))).toEqual(
      [],
    );
    expect(await world.clusterOf('ghost')).toMatchObject({
      hasSession: false,
      hasReported: false,
      cannotBind: 'It has no session.',
    });
  });
});

describe.concurrent('a provider that hangs', PATIENT, () => {
  const CLOUDS = {
    good: [offering('small', { pricePerHour: 2 })],
    stuck: [offering('cheap', { pricePerHour: 1 })],
  };
  const settings = {
    'calls.timeout': '1s',
    'calls.attemptTimeout': '1s',
    'calls.listTimeout': '1s',
  } as const;
  const hang = { transport: { hang: 1 } };
  const isDown = 'bigfleet_shard_provider_down{provider="stuck"}';

  it('given a provider that works and then hangs, then the other one is used until it recovers', async (test) => {
    const world = await World.open(test, { clouds: CLOUDS, settings });
    // No other type will do, even if a slow machine misses the short deadlines.
    const cheap = { requirements: ofType('cheap') };
    world.join('a', need('a', 8, cheap));
    await world.served();
    world.cloud('stuck').set(hang);
    world.join('b', need('b', 8));
    await world.served('b');
    await world.until('the provider counts as down', async () => (await world.metric(isDown)) === 1);
    expect((await world.machines('?cluster=b')).map(({ provider }) => provider)).toEqual(['good', 'good']);
    // Its machines keep serving: an unreachable provider does not mean that they are lost.
    expect((await world.machines('?cluster=a&state=configured')).map(({ provider }) => provider)).toEqual([
      'stuck',
      'stuck',
    ]);
    expect(world.logged('provider-breaker', { provider: 'stuck', state: 'open' })).not.toEqual([]);
    expect(await world.metric('bigfleet_shard_lists_failed_total{provider="stuck"}')).toBeGreaterThan(0);
    expect((await world.explain('b')).obstacles).toContainEqual(
      expect.objectContaining({ cause: 'provider-unreachable', provider: 'stuck' }),
    );
    world.cloud('stuck').set({ transport: { hang: 0 } });
    await world.until('the provider is back', async () => (await world.metric(isDown)) === 0);
    world.join('c', need('c', 8, cheap));
    await world.served();
    expect((await world.machines('?cluster=c')).map(({ provider }) => provider)).toEqual(['stuck', 'stuck']);
    // Every machine that is paid for is in use.
    await world.until('nothing is left over', async () => {
      const { machinesByState } = await world.status();
      return machinesByState['CONFIGURED'] === 6 && machinesByState['SPECULATIVE'] === 10;
    });
  });

  it('given a provider that hangs from the start, then the shard waits for a bounded time and continues without it', async (test) => {
    const world = await World.open(test, {
      clouds: CLOUDS,
      cloudSettings: { stuck: hang },
      settings: { ...settings, 'cycle.readyWait': '5s' },
    });
    world.join('a', need('a', 8));
    await world.served();
    expect(world.logged('providers-not-read')).toMatchObject([
      { fields: { unread: expect.arrayContaining(['stuck']) } },
    ]);
    expect(world.logged('list-failed', { provider: 'stuck' })).not.toEqual([]);
    expect((await world.explain('a')).remarks).toContainEqual(
      expect.stringContaining('Provider stuck has not been read since the start'),
    );
    // A List of the healthy provider may be late now and then on a slow machine.
    await world.until('only the stuck one is in trouble', async () => {
      const { providers } = await world.status();
      const good = providers.find(({ name }) => name === 'good');
      const stuck = providers.find(({ name }) => name === 'stuck');
      const isWell = good!.hasListed && good!.lastError === '';
      return isWell && !stuck!.hasListed && stuck!.lastError.includes('BF_CALL_DEADLINE');
    });
  });
});

describe.concurrent('a bootstrap blob that never arrives', PATIENT, () => {
  it('given one silent cluster, then no shared machine becomes Failed, and the cluster is served once it answers', async (test) => {
    const metal = { capacityType: CapacityType.BareMetal, pricePerHour: 0, isOwned: true };
    const world = await World.open(test, {
      clouds: { metal: [offering('bare', { ...metal, count: 4 })] },
      settings: { 'actuation.bootstrapTimeout': '1s' },
    });
    const mute = world.join('mute', need('mute', 8, { priority: 100 }));
    mute.setBootstrap({ kind: 'ignore' });
    world.join('a', need('a', 8));
    await world.served('a');
    const failed = 'bigfleet_shard_action_execute_outcomes_total{kind="Bootstrap",outcome="blob_error"}';
    await world.until('its blobs have failed', async () => (await world.metric(failed)) >= 2);
    await world.until('it is logged', () => {
      const [line] = world.logged('action-failed', { cluster: 'mute', outcome: 'blob_error' });
      return line?.fields['message'] === 'There was no blob within 1 s.';
    });
    await world.until('it says so', async () => {
      const [story, view] = [await world.explain('mute'), await world.clusterOf('mute')];
      const isExplained = story.remarks.some((remark) => remark.includes('is asked for no bootstrap data'));
      return isExplained && view?.cannotBind === 'There was no blob within 1 s.';
    });
    expect(await world.cloud().machines(MachineState.Failed)).toEqual([]);
    expect(await world.machines('?state=failed')).toEqual([]);
    mute.setBootstrap({ kind: 'answer' });
    await world.served();
    expect(world.callsOf('configure')).toHaveLength(4);
  });

  it('given a cluster that refuses, then its reason is reported', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small')] } });
    world.join('a', need('a', 4)).setBootstrap({ kind: 'refuse', error: 'no token left' });
    world.join('b', need('b', 4));
    await world.served('b');
    await world.until('it says so', async () => (await world.clusterOf('a'))?.cannotBind === 'no token left');
    expect(world.logged('action-failed', { cluster: 'a', message: 'no token left' })).not.toEqual([]);
  });
});

describe.concurrent('a roll-up with one bad Need', PATIENT, () => {
  it('given a valid demand before it, then that stays in force, and the invalid Need is named', async (test) => {
    const world = await World.open(test, { clouds: { cloud: [offering('small')] } });
    const a = world.join('a', need('a', 8), need('a', 4, { priority: 7 }));
    world.join('b', need('b', 4));
    await world.served();
    const before = world.calls.length;
    a.setDemand([need('a', 40), need('a', 4, { priority: 7, interruptionBucket: 99 })]);
    const rejected = 'bigfleet_shard_rollups_rejected_total{cluster="a"}';
    await world.until('it is refused', async () => (await world.metric(rejected)) >= 1);
    world.operator('b').setDemand([need('b', 8)]);
    await world.served('b');
    await world.cycles(10);
    // None of its rows was accepted, and nothing was released because of it.
    expect((await world.needs('a')).map(({ wants }) => wants)).toEqual(
      expect.arrayContaining([{ cpu: '8' }, { cpu: '4' }]),
    );
    expect(world.calls.slice(before).map(({ command }) => command)).toEqual(['create', 'configure']);
    const [line] = world.logged('rollup-refused', { cluster: 'a' });
    expect(line).toMatchObject({ level: 'error', fields: { problems: [{ code: 'BF_BUCKET_RANGE' }] } });
    const [problem] = (await world.clusterOf('a'))!.reports!.problems;
    expect(problem).toMatch(/needs\[1\]\.interruption_penalty_bucket: Bucket 99/);
    expect((await world.explain('a')).remarks).toEqual([expect.stringContaining(problem!)]);
    a.setDemand([need('a', 12)]);
    await world.served();
    expect((await world.explain('a')).remarks).toEqual([]);
    expect((await world.clusterOf('a'))!.reports!.problems).toEqual([]);
  });
});
