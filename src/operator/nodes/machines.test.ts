import { describe, expect, it } from 'vitest';
import { MemoryCluster } from '../../../testing/support/memory-kube.ts';
import { nodesOn, nodesScene, UPCOMING } from '../../../testing/support/nodes-scene.ts';
import {
  nodeStateUpdate,
  noLog,
  RecordedEvents,
  RecordedLink,
  RecordedMetrics,
} from '../../../testing/support/operator-parts.ts';
import { MachineState } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { MACHINE_LABEL } from './contract.ts';
import { NodeTable } from './node-table.ts';
import { Nodes } from './nodes.ts';

const { Idle, Configuring, Configured, Draining, Deleting, Failed, Speculative } = MachineState;
/** The last error of a machine that its provider does not list any more. */
const GONE = 'The provider no longer has this machine.';

describe('machines that leave the cluster', () => {
  it('given Idle after Draining, then the object is deleted and a repetition does not bring it back', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Draining));
    await clock.advance(100);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Idle));
    await clock.advance(100);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toBeUndefined();
  });

  it('given a resync that leaves machines out, then their objects go, those of an earlier process and Failed ones too', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Failed, { lastError: 'x' }));
    nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configured));
    await clock.advance(100);
    nodes.disconnected();
    cluster.put(`${UPCOMING}/un-m-3`, {
      metadata: { name: 'un-m-3' },
      spec: {},
      status: { phase: 'Failed' },
    });
    const again = await nodesOn(cluster, clock);
    again.nodes.nodeStateUpdate(nodeStateUpdate('m-2', Configured));
    await clock.advance(20_000);
    expect(cluster.get(`${UPCOMING}/un-m-3`)).toBeDefined();
    await clock.advance(20_000);
    expect([...cluster.objects.keys()]).toEqual([`${UPCOMING}/un-m-2`]);
    // What the earlier process wrote is known, so a resync without changes writes nothing.
    expect(again.calls.filter((call) => call.includes('m-2'))).toEqual([]);
  });

  it('given a machine that leaves between two hellos, then its tie to an unlabelled node ends', async () => {
    const { table, clock, register, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-5', Configured));
    register('m-5');
    expect(table.machineOf('m-5')).toBe('m-5');
    nodes.connected();
    nodes.nodeStateUpdate(nodeStateUpdate('m-6', Configured));
    await clock.advance(60_000);
    expect(table.machineOf('m-5')).toBeNull();
  });

  it('given a machine that leaves while another replica leads, then its tie ends with the resync of the next term', async () => {
    const { cluster, clock, table, register, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-5', Configured));
    register('m-5');
    nodes.stop();
    cluster.objects.clear();
    const again = await nodesOn(cluster, clock, { table });
    again.nodes.nodeStateUpdate(nodeStateUpdate('m-6', Configured));
    await clock.advance(29_000);
    expect(table.machineOf('m-5')).toBe('m-5');
    await clock.advance(2_000);
    expect(table.machineOf('m-5')).toBeNull();
  });

  it('given a shard that reports none of the machines known before, then they stay until it has had half an hour', async () => {
    const { cluster, clock, nodes } = await nodesScene({ joinTimeoutMs: 120_000 });
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
    expect([...cluster.objects.keys()]).toEqual([`${UPCOMING}/un-m-1`, `${UPCOMING}/un-m-2`]);
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    await clock.advance(29_000);
    expect(gone).toEqual([]);
    await clock.advance(32_000);
    expect(gone).toEqual(['m-2']);
    expect(resynced).toHaveLength(1);

    nodes.stop();
    const again = await nodesOn(cluster, clock);
    await clock.advance(29 * 60_000);
    expect([...cluster.objects.keys()]).toEqual([`${UPCOMING}/un-m-1`]);
    await clock.advance(2 * 60_000);
    expect([...cluster.objects.keys()]).toEqual([]);
    again.nodes.stop();
  });

  it('given a shard that reports the machines of one provider late, then those with a Ready Node stay until it has', async () => {
    const { cluster, clock, nodes, register } = await nodesScene();
    const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
    for (const machine of ['fast', 'slow', 'left']) {
      nodes.nodeStateUpdate(nodeStateUpdate(machine, Configured));
      register(machine, ready('True') as never);
    }
    await clock.advance(1_000);
    const gone: string[] = [];
    nodes.onMachineGone((machine) => gone.push(machine));
    nodes.connected();
    nodes.nodeStateUpdate(nodeStateUpdate('fast', Configured));
    await clock.advance(10 * 60_000);
    expect(gone).toEqual([]);
    expect(cluster.get(`${UPCOMING}/un-slow`)).toBeDefined();
    // Its provider has answered; the host of the other one has ended.
    nodes.nodeStateUpdate(nodeStateUpdate('slow', Configured));
    register('left', ready('Unknown') as never);
    await clock.advance(61_000);
    expect(gone).toEqual(['left']);

    nodes.connected();
    nodes.nodeStateUpdate(nodeStateUpdate('fast', Configured));
    await clock.advance(29 * 60_000);
    expect(gone).toEqual(['left']);
    await clock.advance(2 * 60_000);
    expect(gone).toEqual(['left', 'slow']);
  });

  it('given an update that a machine has left with, then its object and its tie go at once, and a repetition changes nothing', async () => {
    const { cluster, clock, table, register, nodes, calls } = await nodesScene();
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
    expect([...cluster.objects.keys()].filter((path) => path.startsWith(UPCOMING))).toEqual([]);
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
    expect(cluster.get(`${UPCOMING}/un-drained`)).toMatchObject({ status: { phase: 'Registered' } });
  });

  it('given a machine that stays Failed, then its object shows why for ten minutes', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configured));
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Failed, { lastError: 'interrupted' }));
    await clock.advance(9 * 60_000);
    expect(cluster.get(`${UPCOMING}/un-m-1`)).toMatchObject({ status: { lastError: 'interrupted' } });
    await clock.advance(3 * 60_000);
    expect(cluster.objects.size).toBe(0);
    expect(nodes.machines.size).toBe(0);
  });

  it('given a machine that leaves while its object is being created, then the object goes', async () => {
    const { cluster, clock, nodes } = await nodesScene();
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Configuring));
    nodes.nodeStateUpdate(nodeStateUpdate('m-1', Idle));
    await clock.advance(100);
    expect(cluster.objects.size).toBe(0);
  });

  it('given more machines in a long session than are kept at a time, then new ones are still followed', async () => {
    const { cluster, clock, nodes } = await nodesScene();
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
});
