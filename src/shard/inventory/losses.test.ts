import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { stampOf } from '../../../testing/support/fleets.ts';
import { CapacityType, keyOf, type Machine, MachineState } from '../../model/index.ts';
import { needId } from '../planning/queries/need-names.ts';
import type { LossesView, LossView, ProviderHealth } from '../views.ts';

const { Speculative, Creating, Idle, Configured, Failed } = MachineState;

const stamp = stampOf(NEED);
const bound = (id: string, given: Partial<Machine> = {}): Machine =>
  record(id, Configured, { cluster: 'c1', stamp, ...given });

/** A controller with the machines of one provider. No cluster has reported, so it reclaims none of them. */
function running(machines: readonly Machine[]): ControllerScene {
  return new ControllerScene().list(machines).open('c1').tick().list([]);
}

/** Delivers the new state of machines in a List and in the Gets that follow. */
function becomes(scene: ControllerScene, machines: readonly Machine[], gone: readonly string[] = []): void {
  scene.list(machines, 'p', gone);
  const byId = new Map(machines.map((machine) => [machine.id, machine]));
  for (let [call] = scene.calls('get'); call !== undefined; [call] = scene.calls('get')) {
    const machine = byId.get(call.machine);
    scene.answer('get', machine === undefined ? { kind: 'unknown-machine' } : { kind: 'found', machine });
  }
}

function losses(scene: ControllerScene): readonly LossView[] {
  return scene.events.flatMap((event) => (event.kind === 'loss' ? [event.loss] : []));
}

function manyLosses(scene: ControllerScene): readonly LossesView[] {
  return scene.events.flatMap((event) => (event.kind === 'losses' ? [event.losses] : []));
}

function health(scene: ControllerScene): ProviderHealth {
  return scene.controller.ask('status', {}).providers[0]!.health;
}

/** `count` bound machines of a zone. */
function zoneOf(count: number, zone: string): Machine[] {
  return Array.from({ length: count }, (_, i) => bound(`${zone}-${i}`, { zone }));
}

const dead = (machine: Machine): Machine => ({
  ...machine,
  ...{ state: Failed, cluster: '', stamp: null, lastError: 'the host died' },
});

describe('a loss', () => {
  it('given a host that fails, then one event has machine, cluster, row and error, and it is counted', () => {
    const scene = running([bound('m'), bound('n')]);
    becomes(scene, [dead(bound('m'))]);
    scene.tick(5000);

    expect(losses(scene)).toMatchObject([
      {
        ...{ loss: 'failed', machine: 'm', provider: 'p', zone: 'za', was: 'CONFIGURED', cluster: 'c1' },
        ...{ need: { id: needId(keyOf(NEED)) }, errorClass: 'host-failed', error: 'the host died' },
      },
    ]);
    expect(scene.logged('machine-lost')).toMatchObject([
      { machine: 'm', cluster: 'c1', need: needId(keyOf(NEED)), error: 'the host died' },
    ]);
    const labels = 'provider="p",capacity_type="OnDemand",loss="failed",error_class="host-failed"';
    expect(scene.metric(`machines_lost_total{${labels}}`)).toBe(1);
  });

  it('given a spot host that the cloud reclaims, then the loss is an interruption', () => {
    const spot = { capacityType: CapacityType.Spot };
    const scene = running([bound('m', spot)]);
    becomes(scene, [{ ...dead(bound('m', spot)), lastError: 'the spot host was taken back by the cloud' }]);
    scene.tick(5000);
    expect(losses(scene)).toMatchObject([{ loss: 'interrupted', errorClass: 'interrupted' }]);
  });

  it('given a machine that its provider no longer lists, then the loss is vanished', () => {
    const machines = zoneOf(20, 'za');
    const scene = running(machines);
    becomes(scene, [], ['za-3']);
    scene.tick(5000);
    expect(losses(scene)).toMatchObject([{ loss: 'vanished', machine: 'za-3', errorClass: 'vanished' }]);
  });

  it('given a machine that another process removes from its cluster, then the loss is unbound', () => {
    const scene = running([bound('m')]);
    becomes(scene, [record('m', Idle)]);
    scene.tick(5000);
    expect(losses(scene)).toMatchObject([{ loss: 'unbound', cluster: 'c1' }]);
  });

  it('given a machine without a host, or first observed as Failed, then there is no loss', () => {
    const scene = running([record('s', Speculative), record('f', Failed, { lastError: 'x' })]);
    becomes(scene, [record('s', Failed, { lastError: 'no longer sold' })], ['f']);
    scene.tick(5000);
    expect(losses(scene)).toEqual([]);
  });

  it('given a purchase that fails, then the action has failed, and there is no loss', () => {
    const scene = new ControllerScene()
      .list([record('m', Speculative)])
      .open('c1')
      .demand('c1', NEED)
      .tick();
    scene.accept('create', Creating).list([]);
    becomes(scene, [record('m', Failed, { lastError: 'za is unavailable' })]);
    scene.tick(70_000);

    expect(losses(scene)).toEqual([]);
    expect(scene.events.filter(({ kind }) => kind === 'action-ended')).toHaveLength(1);
    expect(scene.logged('action-failed')).toMatchObject([
      { action: 'buy', machine: 'm', errorClass: 'zone-outage', message: 'za is unavailable' },
    ]);
    const labels = 'kind="Provision",provider="p",capacity_type="OnDemand"';
    expect(scene.metric(`action_results_total{${labels},error_class="zone-outage"}`)).toBe(1);
    expect(scene.metric('action_execute_outcomes_total{kind="Provision",outcome="machine_failed"}')).toBe(1);
    expect(scene.metric('action_execute_outcomes_total{kind="Provision",outcome="success"}')).toBe(0);
  });

  it('given a transition from before a restart without a stored action, then its failure is a loss', () => {
    const scene = running([record('m', Creating)]);
    becomes(scene, [record('m', Failed, { lastError: 'quota exceeded' })]);
    scene.tick(5000);
    expect(losses(scene)).toMatchObject([{ was: 'CREATING', errorClass: 'quota' }]);
  });
});

describe('a machine that was lost while the shard was down', () => {
  it.each([
    ['is Failed', [dead(bound('m'))], 'failed', 'the host died'],
    ['has no host', [record('m', Speculative)], 'vanished', ''],
    ['is not listed', [record('n', Idle)], 'vanished', ''],
  ] as const)('given one that %s, then the event has its cluster and row', (_how, listed, loss, error) => {
    const before = running([bound('m')]);
    before.controller.stop();
    const after = new ControllerScene({ epoch: 2n }, before.store).list(listed);
    // A List that lacks all known machines is accepted once it is repeated often enough.
    after.list(listed).list(listed).tick(70_000);
    expect(losses(after)).toMatchObject([
      { machine: 'm', loss, error, cluster: 'c1', need: { id: needId(keyOf(NEED)), priority: 100 } },
    ]);
  });

  it('given one that is unchanged, or has drained, then there is no loss', () => {
    const before = running([bound('m'), bound('n')]);
    before.controller.stop();
    const after = new ControllerScene({ epoch: 2n }, before.store).list([bound('m'), record('n', Idle)]);
    after.tick(5000);
    expect(losses(after)).toEqual([]);
  });
});

describe('many losses in one zone', () => {
  it('given a zone that goes dark, then one event has the count, and each machine is counted', () => {
    const scene = running([...zoneOf(40, 'za'), ...zoneOf(40, 'zb')]);
    becomes(scene, zoneOf(38, 'za').map(dead));
    scene.tick(5000);

    expect(losses(scene)).toEqual([]);
    expect(manyLosses(scene)).toMatchObject([
      {
        ...{ provider: 'p', zone: 'za', isDark: true, count: 38, of: 40 },
        ...{ clusters: [{ cluster: 'c1', count: 38 }], error: 'the host died' },
      },
    ]);
    expect(scene.logged('zone-dark')).toHaveLength(1);
    expect(scene.logged('machine-lost')).toEqual([]);
    const labels = 'provider="p",capacity_type="OnDemand",loss="failed",error_class="host-failed"';
    expect(scene.metric(`machines_lost_total{${labels}}`)).toBe(38);
  });

  it('given further losses in the same minute, then one event follows when the zone is dark, and one for the rest', () => {
    const scene = running(zoneOf(40, 'za'));
    const failed = zoneOf(40, 'za').map(dead);
    for (let from = 0; from < 40; from += 10) {
      becomes(scene, failed.slice(from, from + 10));
      scene.tick(5000);
    }
    scene.tick(60_000);
    // The zone becomes dark with the second ten.
    expect(manyLosses(scene).map(({ count }) => count)).toEqual([10, 10, 20]);
  });

  it('given a zone that goes dark soon after smaller losses, then the event follows at once', () => {
    const scene = running(zoneOf(40, 'za'));
    const failed = zoneOf(40, 'za').map(dead);
    becomes(scene, failed.slice(0, 6));
    scene.tick(5000);
    becomes(scene, failed.slice(6));
    scene.tick(5000);
    expect(manyLosses(scene).map(({ count, isDark }) => [count, isDark])).toEqual([
      [6, false],
      [34, true],
    ]);
  });

  it('given few losses among many machines, then the zone is not dark', () => {
    const scene = running(zoneOf(100, 'za'));
    becomes(scene, zoneOf(8, 'za').map(dead));
    scene.tick(5000);
    expect(manyLosses(scene)).toMatchObject([{ isDark: false, count: 8 }]);
    expect(scene.logged('machines-lost')).toHaveLength(1);
  });

  it.each([
    ['one after the other', 50],
    ['all at once', 300],
  ])(
    'given hundreds of zones with a loss each, %s, then the number of events per minute is bounded',
    (_, step) => {
      const machines = Array.from({ length: 300 }, (_, i) => bound(`m-${i}`, { zone: `z${i}` }));
      const scene = running(machines);
      for (let from = 0; from < 300; from += step) {
        becomes(scene, machines.slice(from, from + step).map(dead));
        scene.tick(2000);
      }
      scene.tick(70_000);
      const events = losses(scene).length + manyLosses(scene).length;
      expect(events).toBeLessThan(130);
      expect(losses(scene).length + manyLosses(scene).reduce((sum, { count }) => sum + count, 0)).toBe(300);
    },
  );
});

describe('machines that another process removes from their cluster', () => {
  it('given all machines of a zone, then one event has them, and the zone is neither dark nor failing', () => {
    const scene = running(zoneOf(10, 'za'));
    becomes(
      scene,
      zoneOf(10, 'za').map(({ id }) => record(id, Idle)),
    );
    scene.tick(5000);
    expect(manyLosses(scene)).toMatchObject([{ zone: 'za', count: 10, of: 10, isDark: false }]);
    expect(scene.logged('zone-dark')).toEqual([]);
    expect(health(scene)).toMatchObject({ state: 'fine', machines: 10, failing: 0 });
  });
});

describe('the health of a provider', () => {
  it('given a dark zone, then the provider is failing, with zone and error, until the machines are Configured again', () => {
    const scene = running([...zoneOf(10, 'za'), ...zoneOf(10, 'zb')]);
    expect(health(scene)).toMatchObject({ state: 'fine', machines: 20, failing: 0, zones: [] });

    becomes(scene, zoneOf(10, 'za').map(dead));
    scene.tick();

    expect(health(scene)).toMatchObject({ state: 'failing', machines: 20, failing: 10 });
    expect(health(scene).zones).toMatchObject([
      { zone: 'za', state: 'failing', machines: 10, failing: 10, error: 'the host died' },
    ]);
    expect(scene.metric('provider_failing_share{provider="p"}')).toBe(0.5);
    expect(scene.metric('zone_failing_share{provider="p",zone="za"}')).toBe(1);

    // The cloud removes the failed hosts: no machine is Failed, but the hosts are still lost.
    becomes(
      scene,
      zoneOf(10, 'za').map((machine) => record(machine.id, Speculative, { zone: 'za' })),
    );
    expect(health(scene).state).toBe('failing');

    becomes(scene, zoneOf(10, 'za'));
    expect(health(scene)).toMatchObject({ state: 'fine', machines: 20, failing: 0 });
  });

  it('given losses of more than five minutes ago, then the provider is fine again', () => {
    const scene = running([...zoneOf(10, 'za'), ...zoneOf(2, 'zb')]);
    becomes(scene, zoneOf(10, 'za').map(dead));
    becomes(
      scene,
      zoneOf(10, 'za').map((machine) => record(machine.id, Speculative, { zone: 'za' })),
    );
    scene.tick(6 * 60_000);
    expect(health(scene)).toMatchObject({ state: 'fine', machines: 2 });
  });

  it('given only purchases that fail, then their zone is failing', () => {
    const big = { ...NEED, aggregate: new Map([['cpu', 12]]) };
    const scene = new ControllerScene()
      .list(['a', 'b', 'c'].map((id) => record(id, Speculative)))
      .open('c1')
      .demand('c1', big)
      .tick();
    const bought = scene.calls('create').map(({ machine }) => machine);
    for (const _ of bought) scene.accept('create', Creating);
    scene.list([]);
    becomes(
      scene,
      bought.map((id) => record(id, Failed, { lastError: 'za is unavailable' })),
    );
    expect(bought).toHaveLength(3);
    expect(health(scene)).toMatchObject({
      ...{ state: 'failing', failing: 3, failedPurchases: 3 },
      zones: [{ zone: 'za', errorClass: 'zone-outage' }],
    });
  });
});
