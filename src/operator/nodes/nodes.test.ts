import { describe, expect, it } from 'vitest';
import { MemoryCluster } from '../../../testing/support/memory-kube.ts';
import {
  nodeStateUpdate,
  noLog,
  RecordedEvents,
  RecordedLink,
  RecordedMetrics,
} from '../../../testing/support/operator-parts.ts';
import { MachineState } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import {
  AvailableCapacityUpdate_Confidence,
  NodeReport_Kind,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { KubeError } from '../kube/client.ts';
import type { Node } from '../kube/objects.ts';
import { availableCapacityName, costText } from './available-capacity.ts';
import { MACHINE_LABEL } from './contract.ts';
import { NodeTable } from './node-table.ts';
import { Nodes, type NodesDeps } from './nodes.ts';
import { upcomingNodeName } from './upcoming-node.ts';

const { Creating, Idle, Configuring, Configured, Draining, Deleting, Failed, Speculative } = MachineState;
const UN = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
/** The last error of a machine that its provider does not list any more. */
const GONE = 'The provider no longer has this machine.';
const AC = '/apis/bigfleet.lucy.sh/v1alpha1/availablecapacities';

async function scene(more: Partial<NodesDeps> = {}, clock = new VirtualClock(1_700_000_000_000)) {
  const cluster = new MemoryCluster(clock);
  return await started(cluster, clock, more);
}

async function started(cluster: MemoryCluster, clock: VirtualClock, more: Partial<NodesDeps> = {}) {
  const calls: string[] = [];
  let inFlight = 0;
  let most = 0;
  const kube = cluster.client({
    before: async ({ verb, path }) => {
      if (verb === 'list') return;
      calls.push(`${verb} ${path}`);
      most = Math.max(most, ++inFlight);
      await new Promise<void>((resolve) => clock.after(1, resolve));
      inFlight--;
    },
  });
  const events = new RecordedEvents();
  const link = new RecordedLink();
  const metrics = new RecordedMetrics();
  const table = new NodeTable();
  const nodes = new Nodes({ kube, clock, link, table, events, log: noLog, metrics, ...more });
  table.listing();
  table.listed();
  await clock.until(nodes.start());
  nodes.connected();
  const register = (name: string, node: Partial<Node> = {}) => {
    const object = cluster.addNode(name, node as never);
    table.set(object as unknown as Node);
  };
  return { cluster, clock, events, link, metrics, table, nodes, calls, register, mostInFlight: () => most };
}

describe('the tie between a node and its machine', () => {
  it('given a label, a provider id in full or in part, a node name of the shard or an equal name, then the node is tied', async () => {
    const { table, register, nodes } = await scene();
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
    const { table, register, nodes } = await scene();
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
    const { cluster, clock, register, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured, { providerId: 'i-1' }));
    register('node-1', { spec: { providerID: 'cloud://i-1' } });
    await clock.advance(100);
    expect(cluster.get('/api/v1/nodes/node-1')?.metadata.labels).toEqual({ [MACHINE_LABEL]: 'm-1' });
  });

  it('given a machine id that is not a legal label value, then an annotation keeps the tie', async () => {
    const { cluster, clock, register, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('zone a/m 1', Configured, { providerId: 'i-1' }));
    register('node-1', { spec: { providerID: 'cloud://i-1' } });
    await clock.advance(100);
    expect(cluster.get('/api/v1/nodes/node-1')?.metadata.annotations).toEqual({
      [MACHINE_LABEL]: 'zone a/m 1',
    });
  });

  it('given a list without a node that was there, then the node is gone', async () => {
    const { table, register } = await scene();
    register('node-1', { metadata: { name: 'node-1', labels: { [MACHINE_LABEL]: 'm-1' } } });
    table.listing();
    table.listed();
    expect(table.machineOf('node-1')).toBeNull();
    expect(table.nodeOf('m-1')).toBeUndefined();
  });
});

describe('UpcomingNode objects', () => {
  it('given the updates of a machine, then the object has spec, phase, node and start time', async () => {
    const { cluster, clock, register, nodes } = await scene();
    const facts = {
      providerId: 'i-1',
      labels: new Map([['zone', 'a']]),
      resources: {
        resources: new Map([
          ['cpu', '4'],
          ['memory', 'rubbish'],
        ]),
      },
      taints: [
        { key: 'gpu', value: '', effect: 'NoSchedule' },
        { key: 'x', value: 'y', effect: 'Never' },
      ],
    };
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Creating, facts));
    await clock.advance(100);
    const start = '2023-11-14T22:13:20Z';
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({
      spec: {
        labels: { zone: 'a' },
        resources: { cpu: '4' },
        taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      },
      status: { phase: 'Provisioning', providerID: 'i-1', provisioningStartTime: start },
    });
    await clock.advance(60_000);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured, facts));
    register('node-1', { spec: { providerID: 'cloud:///i-1' } });
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({
      status: {
        phase: 'Ready',
        nodeRef: { kind: 'Node', name: 'node-1' },
        providerID: 'cloud:///i-1',
        provisioningStartTime: start,
      },
    });
  });

  it.each([
    [Creating, 'Provisioning'],
    [Idle, 'Launched'],
    [Configuring, 'Registered'],
    [Configured, 'Ready'],
    [Draining, 'Draining'],
    [Failed, 'Failed'],
    [MachineState.Deleting, 'Provisioning'],
  ])('given state %i, then the phase is %s', async (state, phase) => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', state, { lastError: state === Failed ? 'no stock' : '' }));
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({ status: { phase } });
  });

  it('given the same update again, then nothing is written; given many in a burst, then only the latest', async () => {
    const { clock, nodes, calls } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(100);
    const written = calls.length;
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(100);
    expect(calls.length).toBe(written);
    for (const state of [Creating, Idle, Configuring, Configured, Failed])
      nodes.nodeStateUpdate(nodeStateUpdate('m-2', state));
    await clock.advance(100);
    // The first one starts at once, with spec and status; of the others only the last is written, its status alone.
    expect(calls.filter((call) => call.includes('un-m-2'))).toHaveLength(3);
  });

  it('given Idle after Draining, then the object is deleted and a repetition does not bring it back', async () => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Draining));
    await clock.advance(100);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Idle));
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-m-1`)).toBeUndefined();
  });

  it('given a drain by the operator of a Configured machine, then the phase is Draining until it ends', async () => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    nodes.upcoming.setDraining('m-1', true);
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({ status: { phase: 'Draining' } });
    nodes.upcoming.setDraining('m-1', false);
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({ status: { phase: 'Ready' } });
  });

  it('given a resync that leaves machines out, then their objects go, those of an earlier process and Failed ones too', async () => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Failed, { lastError: 'x' }));
    nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configured));
    await clock.advance(100);
    nodes.disconnected();
    cluster.put(`${UN}/un-m-3`, { metadata: { name: 'un-m-3' }, spec: {}, status: { phase: 'Failed' } });
    const again = await started(cluster, clock);
    again.nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configured));
    await clock.advance(20_000);
    expect(cluster.get(`${UN}/un-m-3`)).toBeDefined();
    await clock.advance(20_000);
    expect([...cluster.objects.keys()]).toEqual([`${UN}/un-m-2`]);
    // What the earlier process wrote is known, so a resync without changes writes nothing.
    expect(again.calls.filter((call) => call.includes('m-2'))).toEqual([]);
  });

  it('given a machine that leaves between two hellos, then its tie to an unlabelled node ends', async () => {
    const { table, clock, register, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-5', Configured));
    register('m-5');
    expect(table.machineOf('m-5')).toBe('m-5');
    nodes.connected();
    nodes.nodeStateUpdate(nodeStateUpdate('m-6', Configured));
    await clock.advance(60_000);
    expect(table.machineOf('m-5')).toBeNull();
  });

  it('given a shard that reports none of the machines known before, then they stay until it has had half an hour', async () => {
    const { cluster, clock, nodes } = await scene({ joinTimeoutMs: 120_000 });
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configuring));
    await clock.advance(1_000);
    nodes.disconnected();
    const resynced: number[] = [];
    nodes.onResynced(() => resynced.push(clock.now()));
    const gone: string[] = [];
    nodes.onMachineGone((machine) => gone.push(machine));
    nodes.connected();
    // The List of its provider takes minutes; then it reports what it has, in a burst.
    await clock.advance(10 * 60_000);
    expect([gone, resynced]).toEqual([[], []]);
    expect([...cluster.objects.keys()]).toEqual([`${UN}/un-m-1`, `${UN}/un-m-2`]);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(29_000);
    expect(gone).toEqual([]);
    await clock.advance(32_000);
    expect(gone).toEqual(['m-2']);
    expect(resynced).toHaveLength(1);

    nodes.stop();
    const again = await started(cluster, clock);
    await clock.advance(29 * 60_000);
    expect([...cluster.objects.keys()]).toEqual([`${UN}/un-m-1`]);
    await clock.advance(2 * 60_000);
    expect([...cluster.objects.keys()]).toEqual([]);
    again.nodes.stop();
  });

  it('given an update that a machine has left with, then its object and its tie go at once, and a repetition changes nothing', async () => {
    const { cluster, clock, table, register, nodes, calls } = await scene();
    const gone = { lastError: GONE };
    const farewells = [
      ['abandoned', Configuring, Idle, {}],
      ['drained', Draining, Idle, {}],
      ['given-back', Configured, Speculative, {}],
      ['deleted', Failed, Deleting, { lastError: '' }],
      ['lost', Configured, Failed, gone],
    ] as const;
    for (const [machine, state] of farewells) {
      nodes.nodeStateUpdate(nodeStateUpdate(machine, state, { lastError: state === Failed ? 'x' : '' }));
      register(machine);
    }
    await clock.advance(100);
    expect(cluster.objects.size).toBe(2 * farewells.length);
    for (const [machine, , state, more] of farewells)
      nodes.nodeStateUpdate(nodeStateUpdate(machine, state, more));
    expect(nodes.machines.size).toBe(0);
    await clock.advance(100);
    expect([...cluster.objects.keys()].filter((path) => path.startsWith(UN))).toEqual([]);
    for (const node of cluster.objects.values()) table.set({ metadata: { name: node.metadata.name } });
    expect(farewells.map(([machine]) => table.machineOf(machine))).toEqual([null, null, null, null, null]);
    const written = calls.length;
    for (const [machine, , state, more] of farewells)
      nodes.nodeStateUpdate(nodeStateUpdate(machine, state, more));
    nodes.nodeStateUpdate(nodeStateUpdate('drained', Deleting));
    await clock.advance(100);
    expect(calls.length).toBe(written);
    // It may be given to the cluster again.
    nodes.nodeStateUpdate(nodeStateUpdate('drained', Configuring));
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-drained`)).toMatchObject({ status: { phase: 'Registered' } });
  });

  it('given a machine that stays Failed, then its object shows why for ten minutes', async () => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Failed, { lastError: 'interrupted' }));
    await clock.advance(9 * 60_000);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({ status: { lastError: 'interrupted' } });
    await clock.advance(3 * 60_000);
    expect(cluster.objects.size).toBe(0);
    expect(nodes.machines.size).toBe(0);
  });

  it('given a machine that leaves while its object is being created, then the object goes', async () => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Idle));
    await clock.advance(100);
    expect(cluster.objects.size).toBe(0);
  });

  it('given more machines in a long session than are kept at a time, then new ones are still followed', async () => {
    const { cluster, clock, nodes } = await scene();
    for (let i = 0; i < 100_001; i++) {
      nodes.nodeStateUpdate(nodeStateUpdate(`m-${i}`, Configured));
      nodes.nodeStateUpdate(nodeStateUpdate(`m-${i}`, Failed, { lastError: GONE }));
    }
    nodes.nodeStateUpdate(nodeStateUpdate('new', Configured));
    expect(nodes.machines.size).toBe(1);
    expect(nodes.machines.currentState('new')).toBe(Configured);
    nodes.stop();
    await clock.advance(0);
    expect(cluster.objects.size).toBe(0);
  });

  it('given taints of the settings for labels of the machine, then the spec has them, as the node registers with them', async () => {
    const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' as const };
    const taintRules = [{ selector: { matchLabels: { pool: 'gpu' } }, taints: [taint] }];
    const { cluster, clock, nodes } = await scene({ taintRules });
    const labels = new Map([['pool', 'gpu']]);
    const own = { key: 'own', value: '', effect: 'NoExecute' };
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring, { labels, taints: [own] }));
    nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configuring));
    await clock.advance(100);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({
      spec: { taints: [{ key: 'own', effect: 'NoExecute' }, taint] },
    });
    expect(cluster.get(`${UN}/un-m-2`)).toMatchObject({ spec: { taints: [] } });
  });

  it('given writes, then each is counted by kind and outcome, and the time from the update to its object by phase', async () => {
    const clock = new VirtualClock(0);
    const cluster = new MemoryCluster(clock);
    const statuses = [409, 503];
    const kube = cluster.client({
      before: async ({ verb }) => {
        if (verb === 'list') return;
        await new Promise<void>((resolve) => clock.after(250, resolve));
        const status = statuses.shift();
        if (status !== undefined) throw new KubeError('no', { status, reason: 'Conflict' });
      },
    });
    const { nodes, metrics } = await scene({ kube }, clock);
    const writesOf = (op: string, outcome: string) =>
      metrics.values.get(`bigfleet_operator_upcoming_node_writes_total ${op} ${outcome}`);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(60_000);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured, { labels: new Map([['a', 'b']]) }));
    await clock.advance(60_000);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Idle));
    expect(nodes.pendingWrites).toBe(1);
    await clock.advance(60_000);
    expect(nodes.pendingWrites).toBe(0);
    expect([writesOf('create', 'conflict'), writesOf('create', 'error')]).toEqual([1, 1]);
    expect(['create', 'spec_update', 'status_update', 'delete'].map((op) => writesOf(op, 'success'))).toEqual(
      [1, 1, 2, 1],
    );
    const secondsOf = (phase: string) =>
      metrics.values.get(`bigfleet_operator_node_state_update_duration_seconds ${phase}`);
    expect(secondsOf('Registered')).toBeGreaterThan(1);
    expect(secondsOf('Ready')).toBe(0.5);
  });

  it('given a loss of the Lease while objects are still being read, then nothing is left that runs', async () => {
    const clock = new VirtualClock(0);
    const cluster = new MemoryCluster(clock);
    const kube = cluster.client({
      before: () => new Promise<void>((resolve) => clock.after(1_000, resolve)),
    });
    const table = new NodeTable();
    const nodes = new Nodes({
      kube,
      clock,
      table,
      link: new RecordedLink(),
      events: new RecordedEvents(),
      log: noLog,
      metrics: new RecordedMetrics(),
    });
    const start = nodes.start();
    nodes.stop();
    await clock.until(start);
    expect(clock.waiting).toBe(0);
    const machines: string[] = [];
    nodes.upcoming.nodeChanged = (machine) => void machines.push(machine);
    table.set({ metadata: { name: 'n', labels: { [MACHINE_LABEL]: 'm-1' } } });
    expect(machines).toEqual([]);
  });

  it('given updates of 200 machines at once, then at most 32 writes are in flight', async () => {
    const { clock, nodes, mostInFlight, cluster } = await scene();
    for (let i = 0; i < 200; i++) nodes.nodeStateUpdate(nodeStateUpdate(`m-${i}`, Configured));
    await clock.advance(1_000);
    expect(cluster.objects.size).toBe(200);
    expect(mostInFlight()).toBe(32);
  });

  it('given an API server that fails, then the write is repeated until it succeeds', async () => {
    const clock = new VirtualClock(0);
    const cluster = new MemoryCluster(clock);
    let failures = 3;
    const kube = cluster.client({
      before: ({ verb }) => {
        if (verb === 'patch' && failures-- > 0) throw new KubeError('down', { status: 503 });
      },
    });
    const { nodes } = await scene({ kube }, clock);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(30_000);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({ status: { phase: 'Ready' } });
  });

  it('given an object deleted by hand, then the next change creates it again', async () => {
    const { cluster, clock, nodes } = await scene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(100);
    cluster.remove(`${UN}/un-m-1`);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(5_000);
    expect(cluster.get(`${UN}/un-m-1`)).toMatchObject({ spec: {}, status: { phase: 'Ready' } });
  });

  it('given ids that are no part of an object name, then a hash names the object', () => {
    expect(upcomingNodeName('m-1')).toBe('un-m-1');
    expect(upcomingNodeName('zone/M 1')).toMatch(/^un-[0-9a-f]{32}$/);
    expect(upcomingNodeName('m'.repeat(300))).toMatch(/^un-[0-9a-f]{32}$/);
  });
});

describe('joins', () => {
  it('given a node that registers in time, then JOINED is reported once, and again after a hello until it is confirmed', async () => {
    const { clock, nodes, link, register, events } = await scene();
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
    const { clock, nodes, link, register, events } = await scene({ joinTimeoutMs: 300_000 });
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
    const { cluster, clock, nodes } = await scene({ joinTimeoutMs: 300_000 });
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(200_000);
    nodes.stop();
    const again = await started(cluster, clock, { joinTimeoutMs: 300_000 });
    again.nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(101_000);
    expect(again.link.reports).toMatchObject([{ kind: NodeReport_Kind.KIND_JOIN_TIMEOUT }]);
  });

  it('given a machine that fails or is Configured from the start, then no timeout is reported', async () => {
    const { clock, nodes, link } = await scene();
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
    const { cluster, clock, nodes, calls } = await scene();
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
    const { cluster, clock, nodes } = await scene();
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
    const { cluster, clock, nodes } = await scene({ isDemanded: (fingerprint) => fingerprint === 'f2' });
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
