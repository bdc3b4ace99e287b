import { describe, expect, it } from 'vitest';
import { record, Scene } from '../../../testing/support/actuation-scene.ts';
import { resources } from '../../../testing/support/fleets.ts';
import { compareText, type Machine, MachineState } from '../../model/index.ts';
import { MACHINE_GONE } from './node-state.ts';

const { Idle, Configuring, Configured, Draining, Failed } = MachineState;

function sceneWith(...machines: readonly Machine[]): Scene {
  const scene = new Scene().open('c1', 'c2');
  scene.list(machines);
  scene.effects.length = 0;
  return scene;
}

/** The states that `sendAll` sends to a cluster, by machine. */
function replayed(scene: Scene, cluster: string): readonly [string, number][] {
  scene.effects.length = 0;
  scene.nodeStates.sendAll(cluster);
  return scene
    .updatesTo(cluster)
    .map(({ machineId, state }): [string, number] => [machineId, state])
    .sort(([a], [b]) => compareText(a, b));
}

describe('node states of a cluster', () => {
  it('given each step of a machine, then its cluster gets a frame that is ready to be sent', () => {
    const host = { provider: 'fake', ref: 'host-7' };
    const scene = sceneWith(record('m', Idle, { host, labels: new Map([['rack', 'r1']]) }));
    scene.decide('Bootstrap', 'm');
    scene.blob();
    scene.accept('configure', Configured, { host, labels: new Map([['rack', 'r1']]) });
    expect(scene.effects.filter(({ kind }) => kind === 'node-state')).toMatchObject([
      {
        cluster: 'c1',
        update: { machineId: 'm', clusterId: 'c1', state: Configuring, providerId: 'host-7' },
      },
      { cluster: 'c1', update: { machineId: 'm', state: Configured, nodeName: 'm', providerId: 'host-7' } },
    ]);
    expect(scene.updatesTo('c1').at(-1)?.labels.get('rack')).toBe('r1');
  });

  it.each([
    ['its host', { host: { provider: 'fake', ref: 'other' } }],
    ['labels', { labels: new Map([['rack', 'r9']]) }],
    ['what it offers', { allocatable: resources({ cpu: 3 }) }],
  ])('given that only this changed, then the cluster gets a frame: %s', (_, change) => {
    const scene = sceneWith(record('m', Configured));
    scene.list([record('m', Configured, change)]);
    scene.list([record('m', Configured, { ...change, pricePerHour: 9 })]);
    expect(scene.heardBy('c1')).toEqual([Configured]);
    scene.list([record('m', Configured)]);
    expect(scene.heardBy('c1')).toEqual([Configured, Configured]);
    scene.ledger.commitMachines().writeRows();
    scene.list([record('m', Configured, { pricePerHour: 2 })]);
    expect(scene.heardBy('c1')).toHaveLength(2);
    scene.list([record('m', Configured, change)]);
    expect(scene.heardBy('c1')).toHaveLength(3);
  });

  it('given a machine that leaves, then the cluster gets its last state with the reason', () => {
    const scene = sceneWith(record('a', Draining), record('b', Configured), record('c', Configured));
    scene.list([record('a', Idle), record('b', Failed, { lastError: 'burnt' })]);
    scene.find(Failed, { lastError: 'burnt' });
    scene.list([], { gone: ['c'] });
    scene.answer('get', { kind: 'unknown-machine' });
    expect(scene.updatesTo('c1')).toMatchObject([
      { machineId: 'a', state: Idle },
      { machineId: 'b', state: Failed, lastError: 'burnt' },
      { machineId: 'c', state: Failed, lastError: MACHINE_GONE },
    ]);
    expect(replayed(scene, 'c1')).toEqual([]);
  });

  it('given a machine that another process bound to another cluster, then both clusters get a frame', () => {
    const scene = sceneWith(record('m', Configured));
    scene.list([record('m', Configured, { cluster: 'c2' })]);
    scene.find(Configured, { cluster: 'c2' });
    expect(scene.updatesTo('c1')).toMatchObject([{ state: Failed, lastError: MACHINE_GONE }]);
    expect(scene.updatesTo('c2')).toMatchObject([{ state: Configured, clusterId: 'c2' }]);
  });

  it('given machines that are unbound, then the cluster gets none', () => {
    const scene = sceneWith(record('m', Idle));
    scene.decide('Delete', 'm');
    scene.list([record('other', Idle)]);
    expect(scene.effects.filter(({ kind }) => kind === 'node-state')).toEqual([]);
  });
});

describe('an operator that reconnects', () => {
  const machines = [
    record('a', Configured),
    record('b', Configuring),
    record('c', Draining),
    record('d', Idle),
    record('e', Configured, { cluster: 'c2' }),
  ];

  it.each([false, true])(
    'given its machines, then its cluster gets the state of all of them (after a commit: %s)',
    (isFrozen) => {
      const scene = sceneWith(...machines);
      if (isFrozen) scene.ledger.commitMachines().writeRows();
      const all = [
        ['a', Configured],
        ['b', Configuring],
        ['c', Draining],
      ];
      expect(replayed(scene, 'c1')).toEqual(all);
      expect(replayed(scene, 'c2')).toEqual([['e', Configured]]);
      expect(replayed(scene, 'unknown')).toEqual([]);
    },
  );

  it('given moves that no cycle has seen yet, then it gets them', () => {
    const scene = sceneWith(...machines);
    scene.decide('Bootstrap', 'd');
    scene.list([record('a', Configured, { labels: new Map([['rack', 'r9']]) }), record('c', Idle)]);
    expect(replayed(scene, 'c1')).toEqual([
      ['a', Configured],
      ['b', Configuring],
      ['d', Configuring],
    ]);
    const { labels } = scene.updatesTo('c1').find(({ machineId }) => machineId === 'a')!;
    expect(labels.get('rack')).toBe('r9');
  });

  it('given a restart of the shard, then it gets all states, with hosts', () => {
    const before = sceneWith(...machines);
    before.committed('a');
    const after = new Scene({ store: before.store });
    after.list(machines);
    after.ledger.commitMachines().writeRows();
    expect(replayed(after, 'c1').map(([id]) => id)).toEqual(['a', 'b', 'c']);
    expect(after.updatesTo('c1').map(({ providerId }) => providerId)).toEqual(['a', 'b', 'c']);
  });
});
