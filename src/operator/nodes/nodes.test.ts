import { describe, expect, it } from 'vitest';
import { nodesOn, nodesScene } from '../../../testing/support/nodes-scene.ts';
import { nodeStateUpdate } from '../../../testing/support/operator-parts.ts';
import { MachineState } from '../../model/index.ts';
import {
  AvailableCapacityUpdate_Confidence,
  NodeReport_Kind,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { availableCapacityName, costText } from './available-capacity.ts';
import { MACHINE_LABEL } from './contract.ts';

const { Configuring, Configured, Failed } = MachineState;
const AC = '/apis/bigfleet.lucy.sh/v1alpha1/availablecapacities';

describe('the tie between a node and its machine', () => {
  it('given a label, a provider id in full or in part, a node name of the shard or an equal name, then the node is tied', async () => {
    const { table, register, nodes } = await nodesScene();
    for (const [machine, providerId, nodeName] of [
      ['m-2', 'aws:///eu/i-2', ''],
      ['m-3', 'i-3', ''],
      ['m-4', '', 'node-4'],
      ['m-5', '', ''],
    ] as const)
      nodes.nodeStateUpdate(nodeStateUpdate(machine, Configuring, { providerId, nodeName }));
    register('node-1', { metadata: { name: 'node-1', labels: { [MACHINE_LABEL]: 'm-1' } } });
    register('node-2', { spec: { providerID: 'aws:///eu/i-2' } });
    register('node-3', { spec: { providerID: 'aws:///eu/i-3' } });
    register('node-4');
    register('m-5');
    register('other', { spec: { providerID: 'aws:///eu/i-9' } });
    expect(
      ['node-1', 'node-2', 'node-3', 'node-4', 'm-5', 'other'].map((name) => table.machineOf(name)),
    ).toEqual(['m-1', 'm-2', 'm-3', 'm-4', 'm-5', null]);
    expect(table.resolve('m-3')?.name).toBe('node-3');
    expect(table.resolve('other')?.name).toBe('other');
  });

  it('given a node that registers before the shard names its provider id, then the tie comes later and is announced', async () => {
    const { table, register, nodes } = await nodesScene();
    const changed: string[] = [];
    table.onManagedChange((name) => changed.push(name));
    register('node-1', { spec: { providerID: 'cloud://i-1' } });
    expect(table.machineOf('node-1')).toBeNull();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured, { providerId: 'i-1' }));
    expect(table.machineOf('node-1')).toBe('m-1');
    table.remove({ metadata: { name: 'node-1' } });
    expect(changed).toEqual(['node-1', 'node-1']);
  });

  it('given a node tied by provider id, then it is labelled, so that the tie outlives the session', async () => {
    const { cluster, clock, register, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured, { providerId: 'i-1' }));
    register('node-1', { spec: { providerID: 'cloud://i-1' } });
    await clock.advance(100);
    expect(cluster.get('/api/v1/nodes/node-1')?.metadata.labels).toEqual({ [MACHINE_LABEL]: 'm-1' });
  });

  it('given a machine id that is not a legal label value, then an annotation keeps the tie', async () => {
    const { cluster, clock, register, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('zone a/m 1', Configured, { providerId: 'i-1' }));
    register('node-1', { spec: { providerID: 'cloud://i-1' } });
    await clock.advance(100);
    expect(cluster.get('/api/v1/nodes/node-1')?.metadata.annotations).toEqual({
      [MACHINE_LABEL]: 'zone a/m 1',
    });
  });

  it('given a list without a node that was there, then the node is gone', async () => {
    const { table, register } = await nodesScene();
    register('node-1', { metadata: { name: 'node-1', labels: { [MACHINE_LABEL]: 'm-1' } } });
    table.listing();
    table.listed();
    expect(table.machineOf('node-1')).toBeNull();
    expect(table.nodeOf('m-1')).toBeUndefined();
  });
});

describe('joins', () => {
  it('given a node that registers in time, then JOINED is reported once, and again after a hello until it is confirmed', async () => {
    const { clock, nodes, link, register, events } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring, { providerId: 'i-1' }));
    await clock.advance(60_000);
    register('node-1', { spec: { providerID: 'i-1' } });
    await clock.advance(60 * 60_000);
    expect(link.reports).toMatchObject([
      { machineId: 'm-1', kind: NodeReport_Kind.KIND_JOINED, nodeName: 'node-1', providerId: 'i-1' },
    ]);
    expect(events.reasons()).toEqual(['Joined']);
    nodes.connected();
    expect(link.reports).toHaveLength(2);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    nodes.connected();
    expect(link.reports).toHaveLength(2);
  });

  it('given no node by the deadline, then JOIN_TIMEOUT and an Event; a late node is reported as joined', async () => {
    const { clock, nodes, link, register, events } = await nodesScene({ joinTimeoutMs: 300_000 });
    nodes.bootstrapRequested({ machineId: 'm-1', providerId: 'i-1' } as never);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(299_000);
    expect(link.reports).toEqual([]);
    await clock.advance(2_000);
    expect(link.reports).toMatchObject([{ machineId: 'm-1', kind: NodeReport_Kind.KIND_JOIN_TIMEOUT }]);
    expect(events.all).toMatchObject([{ on: 'UpcomingNode un-m-1', reason: 'JoinTimeout' }]);
    register('node-1', { spec: { providerID: 'cloud:///i-1' } });
    expect(link.reports.at(-1)).toMatchObject({ kind: NodeReport_Kind.KIND_JOINED });
  });

  it('given a restart during a join, then the deadline is not extended', async () => {
    const { cluster, clock, nodes } = await nodesScene({ joinTimeoutMs: 300_000 });
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(200_000);
    nodes.stop();
    const again = await nodesOn(cluster, clock, { joinTimeoutMs: 300_000 });
    again.nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(101_000);
    expect(again.link.reports).toMatchObject([{ kind: NodeReport_Kind.KIND_JOIN_TIMEOUT }]);
  });

  it('given a machine that fails or is Configured from the start, then no timeout is reported', async () => {
    const { clock, nodes, link } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Failed, { lastError: 'x' }));
    nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configured));
    await clock.advance(60 * 60_000);
    expect(link.reports).toEqual([]);
  });
});

describe('AvailableCapacity objects', () => {
  const update = (fingerprint: string, more = {}) => ({
    supersedesKey: `available:${fingerprint}`,
    requirements: [
      { key: 'zone', operator: 1 as const, values: ['a'] },
      { key: 'rack', operator: 5 as const, values: [] },
    ],
    resources: { resources: new Map([['cpu', '4']]) },
    availableCount: 3,
    confidence: AvailableCapacityUpdate_Confidence.CONFIDENCE_MEDIUM,
    costPerHour: 0.0312,
    ...more,
  });

  it('given an update, then the object has its figures and the price is known by requirements', async () => {
    const { cluster, clock, nodes, calls } = await nodesScene();
    nodes.availableCapacity(update('f1'));
    await clock.advance(100);
    expect(cluster.get(`${AC}/${availableCapacityName('available:f1')}`)).toMatchObject({
      spec: {
        requirements: [{ key: 'zone', operator: 'In', values: ['a'] }],
        resources: { cpu: '4' },
        availableCount: 3,
        availability: 'Medium',
        cost: '0.0312',
      },
    });
    expect(nodes.capacities.published([...update('f1').requirements].reverse())).toEqual({
      costPerHour: 0.0312,
      availableCount: 3,
    });
    expect(nodes.capacities.published([])).toBeNull();
    nodes.availableCapacity(update('f1'));
    await clock.advance(100);
    expect(calls).toHaveLength(1);
  });

  it('given a session that does not repeat a profile, then its object goes', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.availableCapacity(update('f1'));
    nodes.availableCapacity(update('f2', { requirements: [] }));
    await clock.advance(100);
    nodes.disconnected();
    nodes.connected();
    nodes.availableCapacity(update('f2', { requirements: [] }));
    await clock.advance(125_000);
    expect([...cluster.objects.keys()]).toEqual([`${AC}/${availableCapacityName('available:f2')}`]);
    expect(nodes.capacities.published(update('f1').requirements)).toBeNull();
  });

  it('given a profile that no row has, then its object goes after five minutes', async () => {
    const { cluster, clock, nodes } = await nodesScene({ isDemanded: (fingerprint) => fingerprint === 'f2' });
    nodes.availableCapacity(update('f1'));
    nodes.availableCapacity(update('f2', { requirements: [] }));
    await clock.advance(4 * 60_000);
    expect(cluster.objects.size).toBe(2);
    await clock.advance(4 * 60_000);
    expect([...cluster.objects.keys()]).toEqual([`${AC}/${availableCapacityName('available:f2')}`]);
  });

  it.each([
    [0, '0'],
    [1e-9, '0'],
    [12, '12'],
    [1e21, '1000000000000'],
    [Number.NaN, '0'],
    [1.5, '1.5'],
    [10, '10'],
  ])('given %d dollars, then the quantity is %s', (dollars, text) => {
    expect(costText(dollars)).toBe(text);
  });
});
