// Unclaimed machines on hold that short rows of other clusters take, and that their own cluster cannot drain.

import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { type Machine, MachineState } from '../../model/index.ts';

const MINUTE_MS = 60_000;
const FEATURES = { drainReport: true, verdicts: false };
const OWNER = aNeed({ cluster: 'c1', priority: 9 });

function bound(id: string): Machine {
  return record(id, MachineState.Configured, { cluster: 'c1', stamp: stampOf(OWNER) });
}

/** No row of c1 counts on its machines; c2 is short of one. */
function short(priority: number, ...machines: readonly Machine[]): ControllerScene {
  const row = aNeed({
    cluster: 'c2',
    priority,
    aggregate: resources({ cpu: 1 }),
    minUnit: resources({ cpu: 1 }),
  });
  return new ControllerScene()
    .openWith(FEATURES, 'c1')
    .openWith(FEATURES, 'c2')
    .list(machines)
    .demand('c1')
    .demand('c2', row)
    .tick();
}

function instructed(scene: ControllerScene): readonly string[] {
  return scene.of('instruct-reclaim').map(({ machine, drainKind }) => `${drainKind} ${machine}`);
}

/** The operator of c1 reports that a budget blocks the last drain. */
function blocked(scene: ControllerScene): void {
  const { machine, instruction } = scene.of('instruct-reclaim').at(-1)!;
  scene.controller.handle({
    ...{ kind: 'node-reported', cluster: 'c1', machine, what: 'drain-blocked', instruction },
    ...{ nodeName: 'n-1', providerId: '', reason: '', blockedBy: ['pdb/shop/web'] },
  });
}

function pass(scene: ControllerScene, ms: number): void {
  for (let left = ms; left > 0; left -= MINUTE_MS) scene.tick(MINUTE_MS);
}

describe('a machine on hold that its cluster cannot drain for a row of lower priority', () => {
  it('given no other machine, then it is not picked again before its protection ends', () => {
    const scene = short(5, bound('m'));
    expect(instructed(scene)).toEqual(['excess m']);
    blocked(scene);
    expect(scene.of('withdraw-reclaim')).toHaveLength(1);
    pass(scene, 29 * MINUTE_MS);
    expect(instructed(scene)).toEqual(['excess m']);
    expect(scene.calls('drain')).toEqual([]);
    pass(scene, 3 * MINUTE_MS);
    expect(instructed(scene)).toHaveLength(2);
  });

  it('given another machine on hold, then that one is picked next', () => {
    const scene = short(5, bound('m-1'), bound('m-2'));
    const [first] = instructed(scene);
    blocked(scene);
    scene.tick();
    expect(new Set(instructed(scene))).toEqual(new Set(['excess m-1', 'excess m-2']));
    expect(instructed(scene)[0]).toBe(first);
  });
});

describe('a machine on hold that a row of higher priority takes', () => {
  it('given a budget that blocks its drain, then it is preempted at the end of the grace', () => {
    const scene = short(50, bound('m'));
    expect(instructed(scene)).toEqual(['preemption m']);
    blocked(scene);
    pass(scene, 11 * MINUTE_MS);
    expect(scene.calls('drain')).toHaveLength(1);
    expect(scene.of('withdraw-reclaim')).toEqual([]);
  });
});
