// A machine drains for a row that disappears: the first unmet row of that cluster takes it over, also across a restart.

import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { type Machine, MachineState, SHARED_OPTIONS } from '../../model/index.ts';
import { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import type { ControllerOptions } from './options.ts';

const { Configured, Draining, Idle } = MachineState;
const SHARED: Partial<ControllerOptions> = { economy: SHARED_OPTIONS };

const POOR = aNeed({
  cluster: 'poor',
  priority: 10,
  aggregate: resources({ cpu: 8 }),
});
const FIRST = aNeed({
  cluster: 'rich',
  priority: 900,
  aggregate: resources({ cpu: 4 }),
});
const HEIR = aNeed({
  cluster: 'rich',
  priority: 500,
  aggregate: resources({ cpu: 4 }),
});

const BOUND = { cluster: 'poor', stamp: stampOf(POOR) };

function serving(...ids: readonly string[]): readonly Machine[] {
  return ids.map((id) => record(id, Configured, BOUND));
}

/** The machines that were told to drain. */
function drained(scene: ControllerScene): readonly string[] {
  return scene.of('instruct-reclaim').map(({ machine }) => machine);
}

/** One of the machines of `poor` drains for the row `FIRST` of `rich`, which has been replaced by `HEIR` since. */
function inherited(store = new MemoryControllerStore()): ControllerScene {
  const scene = new ControllerScene(SHARED, store).open('poor', 'rich').list(serving('a', 'b'));
  scene.demand('poor', POOR).demand('rich', FIRST).tick(2000);
  expect(drained(scene)).toEqual(['a']);
  expect(scene.machine('a')?.need?.priority).toBe(900);
  return scene.demand('rich', HEIR).tick(3000);
}

/** The shard after a restart, once both clusters have reported. */
function restarted(store: MemoryControllerStore, state: MachineState): ControllerScene {
  const machine = state === Draining ? record('a', state, BOUND) : record('a', state);
  const scene = new ControllerScene({ ...SHARED, epoch: 2n }, store).open('poor', 'rich');
  scene.list([machine, ...serving('b')]).demand('poor', POOR);
  return scene.demand('rich', HEIR).tick(2000);
}

describe('a machine that drains for a row that is gone', () => {
  it('given another unmet row of that cluster, then it drains for that row, and no second machine is preempted', () => {
    const scene = inherited();
    expect(scene.machine('a')).toMatchObject({ state: 'DRAINING', need: { cluster: 'rich', priority: 500 } });
    scene.tick(5000);
    expect(drained(scene)).toEqual(['a']);
  });

  it('given the end of the drain, then it is bound for that row', () => {
    const scene = inherited();
    // The List in flight may be older than the drain, so only the next one counts.
    scene.accept('drain', Draining, BOUND).list([]);
    scene.list([record('a', Idle)]).tick(2000);
    expect(drained(scene)).toEqual(['a']);
    expect(scene.of('ask-bootstrap').map(({ cluster, machine }) => [cluster, machine])).toEqual([
      ['rich', 'a'],
    ]);
    expect(scene.machine('a')?.need?.priority).toBe(500);
  });

  it('given a restart while it drains, then its target is the new row, and no second machine is preempted', () => {
    const store = new MemoryControllerStore();
    inherited(store);
    const scene = restarted(store, Draining);
    expect(scene.machine('a')).toMatchObject({ state: 'DRAINING', need: { cluster: 'rich', priority: 500 } });
    expect(drained(scene)).toEqual([]);
  });

  it('given a restart and no report of the cluster yet, then the stored target is the new row', () => {
    const store = new MemoryControllerStore();
    const need = inherited(store).machine('a')?.need;
    expect(need).toMatchObject({ cluster: 'rich', priority: 500 });
    const scene = new ControllerScene({ ...SHARED, epoch: 2n }, store).open('poor');
    scene
      .list([record('a', Draining, BOUND)])
      .demand('poor', POOR)
      .tick(2000);
    expect(scene.machine('a')).toMatchObject({ state: 'DRAINING', need: { id: need?.id } });
  });

  it('given no unmet row of that cluster, then it drains for no row', () => {
    const scene = new ControllerScene(SHARED).open('poor', 'rich').list(serving('a', 'b'));
    scene.demand('poor', POOR).demand('rich', FIRST).tick(2000).demand('rich').tick(3000);
    expect(scene.machine('a')).toMatchObject({ state: 'DRAINING', need: { cluster: 'poor' } });
  });
});
