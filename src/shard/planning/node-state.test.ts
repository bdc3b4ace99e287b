import { describe, expect, it } from 'vitest';
import { aMachine, resources } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';
import { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { MACHINE_GONE, type NodeRecord, nodeStateUpdate, nodeStateUpdates } from './node-state.ts';

const { Idle, Speculative, Configuring, Configured, Draining, Failed } = MachineState;

/** The frames as pairs of cluster and state. */
function framesAfter(before: NodeRecord | null, after: NodeRecord | null): [string, number][] {
  return nodeStateUpdates(before, after).map(({ clusterId, state }) => [clusterId, state]);
}

describe('a node state', () => {
  it('given a machine, then it has every field of the contract', () => {
    const machine = aMachine('m1', Configured, {
      host: { provider: 'metal', ref: 'host-7' },
      labels: new Map([['rack', 'r1']]),
      allocatable: resources({ cpu: 3 }),
    });

    const update = nodeStateUpdate(machine);

    expect(update).toEqual({
      supersedesKey: 'node:m1',
      machineId: 'm1',
      clusterId: 'c1',
      state: Configured,
      nodeName: 'm1',
      providerId: 'host-7',
      lastError: '',
      labels: new Map([
        ['rack', 'r1'],
        ['node.kubernetes.io/instance-type', 'standard'],
        ['topology.kubernetes.io/zone', 'za'],
      ]),
      resources: { resources: new Map([['cpu', '3m']]) },
      taints: [],
    });
    expect(NodeStateUpdate.decode(NodeStateUpdate.encode(update).finish())).toEqual(update);
  });

  it('given a machine that has joined, then it names the node, by the label if there is one', () => {
    const labels = new Map([['kubernetes.io/hostname', 'node-9']]);

    expect(nodeStateUpdate(aMachine('m', Configuring)).nodeName).toBe('');
    expect(nodeStateUpdate(aMachine('m', Configured, { labels })).nodeName).toBe('node-9');
    expect(nodeStateUpdate(aMachine('m', Draining)).nodeName).toBe('m');
  });

  it('given no allocatable, then it has the base resources; given a failure, then its reason', () => {
    const update = nodeStateUpdate(aMachine('m', Failed, { cluster: 'c1', host: null }));

    expect(update.resources?.resources.get('cpu')).toBe('4m');
    expect(update).toMatchObject({ lastError: 'broken', providerId: '' });
  });

  it('given an unknown zone or type, then it is omitted', () => {
    const { labels } = nodeStateUpdate(aMachine('m', Configured, { zone: '', instanceType: '' }));

    expect(labels.size).toBe(0);
  });
});

describe('the recipients of a change', () => {
  it('given an unbound machine, then there are none', () => {
    expect(framesAfter(null, aMachine('m', Idle))).toEqual([]);
    expect(framesAfter(aMachine('m', Speculative), aMachine('m', Idle))).toEqual([]);
    expect(framesAfter(aMachine('m', Idle), null)).toEqual([]);
  });

  it('given a machine that joins, then it is its cluster, with every step', () => {
    expect(framesAfter(aMachine('m', Idle), aMachine('m', Configuring))).toEqual([['c1', Configuring]]);
    expect(framesAfter(aMachine('m', Configuring), aMachine('m', Configured))).toEqual([['c1', Configured]]);
    expect(framesAfter(null, aMachine('m', Configured))).toEqual([['c1', Configured]]);
  });

  it('given no change of what a node shows, then there are none', () => {
    const before = aMachine('m', Configured, { labels: new Map([['a', 'b']]) });
    const after = aMachine('m', Configured, { labels: new Map([['a', 'b']]), pricePerHour: 9 });

    expect(framesAfter(before, after)).toEqual([]);
  });

  it.each([
    ['labels', { labels: new Map([['a', 'c']]) }],
    [
      'one more label',
      {
        labels: new Map([
          ['a', 'b'],
          ['c', 'd'],
        ]),
      },
    ],
    ['the zone', { zone: 'zb' }],
    ['the type', { instanceType: 'large' }],
    ['what it offers', { allocatable: resources({ cpu: 2 }) }],
    ['its host', { host: { provider: 'fake', ref: 'other' } }],
  ])('given a change of this, then it is its cluster: %s', (_, change) => {
    const before = aMachine('m', Configured, { labels: new Map([['a', 'b']]) });

    expect(framesAfter(before, { ...before, ...change })).toEqual([['c1', Configured]]);
  });

  it('given a machine that leaves, then it is the cluster that it left', () => {
    expect(framesAfter(aMachine('m', Draining), aMachine('m', Idle))).toEqual([['c1', Idle]]);
    expect(framesAfter(aMachine('m', Configured), aMachine('m', Speculative))).toEqual([['c1', Speculative]]);
    expect(framesAfter(aMachine('m', Configured), aMachine('m', Failed))).toEqual([['c1', Failed]]);
  });

  it('given a machine that is gone, then it is its cluster: the machine is lost, unless it was leaving', () => {
    expect(nodeStateUpdates(aMachine('m', Configured), null)).toMatchObject([
      { clusterId: 'c1', state: Failed, lastError: MACHINE_GONE },
    ]);
    expect(nodeStateUpdates(aMachine('m', Draining), null)).toMatchObject([
      { clusterId: 'c1', state: Idle, lastError: '' },
    ]);
  });

  it('given a machine that another process moved, then they are both clusters', () => {
    const after = aMachine('m', Configured, { cluster: 'c2' });

    expect(framesAfter(aMachine('m', Configured), after)).toEqual([
      ['c1', Failed],
      ['c2', Configured],
    ]);
  });
});
