import { describe, expect, it } from 'vitest';
import { MemoryCluster } from '../../../testing/support/memory-kube.ts';
import { nodesScene, UPCOMING } from '../../../testing/support/nodes-scene.ts';
import { nodeStateUpdate } from '../../../testing/support/operator-parts.ts';
import { MachineState } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { KubeError } from '../kube/client.ts';
import { upcomingNodeName } from './upcoming-node.ts';

const { Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

describe('UpcomingNode objects', () => {
  it('given the updates of a machine, then the object has spec, phase, node and start time', async () => {
    const { cluster, clock, register, nodes } = await nodesScene();
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
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({
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
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({
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
    [Deleting, 'Provisioning'],
  ])('given state %i, then the phase is %s', async (state, phase) => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', state, { lastError: state === Failed ? 'no stock' : '' }));
    await clock.advance(100);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({ status: { phase } });
  });

  it('given the same update again, then nothing is written; given many in a burst, then only the latest', async () => {
    const { clock, nodes, calls } = await nodesScene();
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

  it('given a drain by the operator of a Configured machine, then the phase is Draining until it ends', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    nodes.upcoming.setDraining('m-1', true);
    await clock.advance(100);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({ status: { phase: 'Draining' } });
    nodes.upcoming.setDraining('m-1', false);
    await clock.advance(100);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({ status: { phase: 'Ready' } });
  });

  it('given taints of the settings for labels of the machine, then the spec has them, as the node registers with them', async () => {
    const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' as const };
    const taintRules = [{ selector: { matchLabels: { pool: 'gpu' } }, taints: [taint] }];
    const { cluster, clock, nodes } = await nodesScene({ taintRules });
    const labels = new Map([['pool', 'gpu']]);
    const own = { key: 'own', value: '', effect: 'NoExecute' };
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring, { labels, taints: [own] }));
    nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configuring));
    await clock.advance(100);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({
      spec: { taints: [{ key: 'own', effect: 'NoExecute' }, taint] },
    });
    expect(cluster.get(`${UPCOMING}/un-m-2`)).toMatchObject({ spec: { taints: [] } });
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
    const { nodes, metrics } = await nodesScene({ kube }, clock);
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

  it('given updates of 200 machines at once, then at most 32 writes are in flight', async () => {
    const { clock, nodes, mostInFlight, cluster } = await nodesScene();
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
    const { nodes } = await nodesScene({ kube }, clock);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(30_000);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({ status: { phase: 'Ready' } });
  });

  it('given an object deleted by hand, then the next change creates it again', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    await clock.advance(100);
    cluster.remove(`${UPCOMING}/un-m-1`);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(5_000);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({ spec: {}, status: { phase: 'Ready' } });
  });

  it('given ids that are no part of an object name, then a hash names the object', () => {
    expect(upcomingNodeName('m-1')).toBe('un-m-1');
    expect(upcomingNodeName('zone/M 1')).toMatch(/^un-[0-9a-f]{32}$/);
    expect(upcomingNodeName('m'.repeat(300))).toMatch(/^un-[0-9a-f]{32}$/);
  });
});
