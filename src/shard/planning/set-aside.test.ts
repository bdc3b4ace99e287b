// A cluster with rows set aside: it keeps its machines, other clusters are served, and a person can lift the stop.

import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { stampOf } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';

const { cluster } = NEED;
const kept = record('kept', MachineState.Configured, { cluster, stamp: stampOf(NEED) });
const metricOf = (scene: ControllerScene, name: string): string | undefined =>
  scene.controller
    .ask('metrics', {})
    .split('\n')
    .find((line) => line.startsWith(`bigfleet_shard_${name}{cluster="${cluster}"}`));

/** Reclaim instructions sent to operators so far. */
function reclaims(scene: ControllerScene): number {
  return scene.tick(SETTLED_MS).of('instruct-reclaim').length;
}

describe('a cluster with rows set aside', () => {
  it('given a machine that no row counts on, then it is kept and counted, and reclaimed when the demand is complete', () => {
    const scene = new ControllerScene(NO_HOLD).list([kept]).open(cluster).demandWithRowsSetAside(cluster, 2);
    expect(reclaims(scene)).toBe(0);
    expect(metricOf(scene, 'rows_set_aside')).toMatch(/ 2$/);
    expect(metricOf(scene, 'machines_kept_set_aside')).toMatch(/ 1$/);
    const [view] = scene.controller.ask('clusters', { limit: 9 }).items;
    expect(view).toMatchObject({ setAside: { rows: 2, machinesKept: 1, isLifted: false } });
    scene.demand(cluster);
    expect(reclaims(scene)).toBe(1);
    expect(metricOf(scene, 'rows_set_aside')).toBeUndefined();
    expect(scene.controller.ask('clusters', { limit: 9 }).items[0]).toMatchObject({ setAside: null });
  });

  it('given an order to lift the stop, then machines are reclaimed, and the order is logged with its author', () => {
    const scene = new ControllerScene(NO_HOLD).list([kept]).open(cluster).demandWithRowsSetAside(cluster, 2);
    expect(scene.order({ kind: 'lift-set-aside', cluster: 'other', who: 'ada' }).isDone).toBe(false);
    expect(reclaims(scene)).toBe(0);
    expect(scene.order({ kind: 'lift-set-aside', cluster, who: 'ada' }).isDone).toBe(true);
    expect(reclaims(scene)).toBe(1);
    expect(scene.logged('order').at(-1)).toMatchObject({ order: 'lift-set-aside', cluster, who: 'ada' });
    expect(scene.controller.ask('clusters', { limit: 9 }).items[0]).toMatchObject({
      setAside: { isLifted: true, machinesKept: 0 },
    });
  });

  it('given a row of higher priority elsewhere, then it can still preempt by the stamp', () => {
    const urgent = { ...NEED, cluster: 'urgent', profile: { ...NEED.profile, priority: 900_000 } };
    const scene = new ControllerScene()
      .list([kept])
      .open(cluster, 'urgent')
      .demandWithRowsSetAside(cluster, 1);
    scene.demand('urgent', urgent);
    expect(reclaims(scene)).toBe(1);
    expect(scene.of('instruct-reclaim')[0]).toMatchObject({ machine: 'kept', preemptorPriority: 900_000 });
  });
});
