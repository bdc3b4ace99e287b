// Node objects of machines that left the cluster without a drain.

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
  type BootstrapRequest,
  NodeReport_Kind,
  type NodeStateUpdate,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Node } from '../kube/objects.ts';
import { MACHINE_LABEL } from './contract.ts';
import { MACHINE_GONE } from './machines.ts';
import { NodeTable } from './node-table.ts';
import { Nodes } from './nodes.ts';

const { Speculative, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;
const MINUTE_MS = 60_000;
const FACTS = { providerId: 'cloud://i-1' };

class Scene {
  readonly clock = new VirtualClock(1_700_000_000_000);
  readonly cluster = new MemoryCluster(this.clock);
  readonly table = new NodeTable();
  readonly events = new RecordedEvents();
  readonly link = new RecordedLink();
  nodes: Nodes;
  #heartbeatMs = 0;
  /** Runs between a read of the operator and what it does next. */
  afterRead = () => {};

  constructor() {
    this.nodes = this.#operator();
    this.table.listing();
    this.table.listed();
  }

  #operator(): Nodes {
    const { clock, table, events } = this;
    return new Nodes({
      kube: this.cluster.client({ after: ({ verb }) => (verb === 'get' ? this.afterRead() : undefined) }),
      clock,
      table,
      events,
      link: this.link,
      log: noLog,
      metrics: new RecordedMetrics(),
    });
  }

  /** Machine m-1, Configured, with the node n-1. */
  static async open(): Promise<Scene> {
    const s = new Scene();
    await s.clock.until(s.nodes.start());
    s.nodes.connected();
    s.node('n-1', 'True');
    s.report(Configured, FACTS);
    return s;
  }

  /** The operator restarts, or another replica takes over: it knows what is in the cluster. */
  async restart(): Promise<void> {
    this.nodes.stop();
    this.nodes = this.#operator();
    await this.clock.until(this.nodes.start());
    this.nodes.connected();
  }

  node(name: string, ready: string, createdMs = 0): void {
    // The condition is Unknown because its kubelet is silent.
    if (ready !== 'Unknown') this.#heartbeatMs = this.clock.now();
    const metadata = {
      name,
      labels: { [MACHINE_LABEL]: 'm-1' },
      creationTimestamp: new Date(this.clock.now() + createdMs).toISOString(),
    };
    const lastHeartbeatTime = new Date(this.#heartbeatMs).toISOString();
    const status = { conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime }] };
    const object = this.cluster.addNode(name, { metadata, status } as never);
    this.table.set(object as unknown as Node);
  }

  report(state: NodeStateUpdate['state'], more: Partial<NodeStateUpdate> = {}, machine = 'm-1'): void {
    this.nodes.nodeStateUpdate(nodeStateUpdate(machine, state, more));
  }

  has(name: string): boolean {
    return this.cluster.get(`/api/v1/nodes/${name}`) !== undefined;
  }
}

describe('the Node of a machine that has left the cluster', () => {
  it.each([
    ['Idle', Idle, {}],
    ['Speculative', Speculative, {}],
    ['Deleting', Deleting, FACTS],
    ['Failed without a host', Failed, { lastError: 'the spot host was taken back' }],
    ['gone from its provider', Failed, { ...FACTS, lastError: MACHINE_GONE }],
  ])(
    'given a machine that is %s and a Node that is not Ready for 5 min, then it is removed',
    async (_, state, more) => {
      const s = await Scene.open();
      s.report(state, more);
      s.node('n-1', 'Unknown');
      await s.clock.advance(5 * MINUTE_MS);
      expect(s.has('n-1')).toBe(true);
      await s.clock.advance(2 * MINUTE_MS);
      expect(s.has('n-1')).toBe(false);
      expect(s.events.reasons()).toContain('NodeRemoved');
    },
  );

  it.each([
    ['Failed with a host', Failed, { ...FACTS, lastError: 'the drain timed out' }],
    ['Draining', Draining, FACTS],
    ['Configured', Configured, FACTS],
  ])('given a machine that is %s, then its Node stays', async (_, state, more) => {
    const s = await Scene.open();
    s.report(state, more);
    s.node('n-1', 'Unknown');
    await s.clock.advance(60 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
  });

  it('given a Ready Node, then it stays, and the time begins when it is no longer Ready', async () => {
    const s = await Scene.open();
    s.report(Idle);
    await s.clock.advance(60 * MINUTE_MS);
    s.node('n-1', 'False');
    await s.clock.advance(3 * MINUTE_MS);
    s.node('n-1', 'True');
    await s.clock.advance(60 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
    s.node('n-1', 'False');
    await s.clock.advance(5 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
    await s.clock.advance(2 * MINUTE_MS);
    expect(s.has('n-1')).toBe(false);
  });

  it('given a machine that comes back with the same Node, then the Node stays', async () => {
    const s = await Scene.open();
    s.report(Idle);
    s.node('n-1', 'Unknown');
    await s.clock.advance(3 * MINUTE_MS);
    s.report(Configuring, FACTS);
    await s.clock.advance(60 * MINUTE_MS);
    s.node('n-1', 'True');
    await s.clock.advance(MINUTE_MS);
    s.node('n-1', 'Unknown');
    await s.clock.advance(60 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
  });

  it('given a machine that comes back with another Node, then only the old one is removed', async () => {
    const s = await Scene.open();
    s.report(Failed, { lastError: 'interrupted' });
    s.node('n-1', 'Unknown');
    await s.clock.advance(MINUTE_MS);
    s.report(Configuring, { providerId: 'cloud://i-2' });
    await s.clock.advance(10 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
    s.node('n-2', 'False', 1_000);
    await s.clock.advance(7 * MINUTE_MS);
    expect(s.has('n-1')).toBe(false);
    expect(s.has('n-2')).toBe(true);
  });

  it('given a kubelet that reports just before the removal, then the Node stays', async () => {
    const s = await Scene.open();
    s.report(Idle);
    s.node('n-1', 'Unknown');
    await s.clock.advance(5.5 * MINUTE_MS);
    s.afterRead = () => s.node('n-1', 'True');
    await s.clock.advance(60 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
  });
});

describe('a Node whose machine left in an earlier term, or while no operator was connected', () => {
  it('given another machine that the shard reports, then it is removed once it has not been Ready for 5 min', async () => {
    const s = await Scene.open();
    s.node('n-1', 'Unknown');
    await s.restart();
    s.report(Configured, {}, 'm-2');
    await s.clock.advance(5 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
    await s.clock.advance(3 * MINUTE_MS);
    expect(s.has('n-1')).toBe(false);
  });

  it('given a leader that has lost the machine and then restarts, then it is removed by the next one', async () => {
    const s = await Scene.open();
    s.node('n-1', 'Unknown');
    s.report(Idle);
    await s.clock.advance(3 * MINUTE_MS);
    await s.restart();
    s.report(Configured, {}, 'm-2');
    await s.clock.advance(8 * MINUTE_MS);
    expect(s.has('n-1')).toBe(false);
  });

  it.each([
    ['that is Ready', 'True', ['m-2']],
    ['whose machine is reported', 'Unknown', ['m-2', 'm-1']],
  ])('given a Node %s, then it stays', async (_, ready, reported) => {
    const s = await Scene.open();
    s.node('n-1', ready);
    await s.restart();
    for (const machine of reported) s.report(Configured, {}, machine);
    await s.clock.advance(60 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
  });

  it('given a machine that is reported only after the resync, then its Node stays', async () => {
    const s = await Scene.open();
    s.node('n-1', 'Unknown');
    await s.restart();
    s.report(Configured, {}, 'm-2');
    await s.clock.advance(2 * MINUTE_MS);
    s.report(Configured, FACTS);
    await s.clock.advance(60 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
  });

  it('given a shard that reports nothing, then its silence does not count for half an hour', async () => {
    const s = await Scene.open();
    s.node('n-1', 'Unknown');
    s.cluster.objects.delete('/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes/un-m-1');
    await s.restart();
    await s.clock.advance(29 * MINUTE_MS);
    expect(s.has('n-1')).toBe(true);
    await s.clock.advance(9 * MINUTE_MS);
    expect(s.has('n-1')).toBe(false);
  });

  it('given a machine that came back with another Node in the meantime, then only the old one is removed', async () => {
    const s = await Scene.open();
    s.node('n-1', 'Unknown');
    s.node('n-2', 'False', 1_000);
    await s.restart();
    s.report(Configured, FACTS);
    await s.clock.advance(10 * MINUTE_MS);
    expect(s.has('n-1')).toBe(false);
    expect(s.has('n-2')).toBe(true);
  });
});

describe('a machine that is bought again while the Node of its earlier host is there', () => {
  const { KIND_JOINED, KIND_JOIN_TIMEOUT } = NodeReport_Kind;
  const bootstrap = { machineId: 'm-1', providerId: 'cloud://i-2' } as BootstrapRequest;
  const kinds = (s: Scene) => s.link.reports.map(({ kind }) => kind);

  async function boughtAgain(): Promise<Scene> {
    const s = await Scene.open();
    s.report(Failed, { lastError: 'interrupted' });
    s.node('n-1', 'Unknown');
    await s.clock.advance(2 * MINUTE_MS);
    return s;
  }

  it.each([
    ['before', [Configuring, 'bootstrap']],
    ['after', ['bootstrap', Configuring]],
  ] as const)(
    'given no new host and a report of Configuring %s the bootstrap, then the join times out',
    async (_, steps) => {
      const s = await boughtAgain();
      for (const step of steps)
        if (step === 'bootstrap') s.nodes.bootstrapRequested(bootstrap);
        else s.report(step, FACTS);
      await s.clock.advance(16 * MINUTE_MS);
      expect(kinds(s).at(-1)).toBe(KIND_JOIN_TIMEOUT);
      expect(s.link.reports.at(-1)?.nodeName).toBe('');
      s.node('n-1', 'Unknown', -18 * MINUTE_MS);
      expect(kinds(s).at(-1)).toBe(KIND_JOIN_TIMEOUT);
      s.node('n-2', 'False', 1_000);
      expect(kinds(s).at(-1)).toBe(KIND_JOINED);
    },
  );

  it('given an operator that restarts in the meantime, then the join still times out', async () => {
    const s = await boughtAgain();
    s.nodes.bootstrapRequested(bootstrap);
    s.report(Configuring, FACTS);
    await s.clock.advance(MINUTE_MS);
    await s.restart();
    s.report(Configuring, FACTS);
    await s.clock.advance(15 * MINUTE_MS);
    expect(kinds(s)).toEqual([KIND_JOIN_TIMEOUT]);
  });

  it('given a host that registers with the Node of the earlier one, then it has joined', async () => {
    const s = await boughtAgain();
    s.nodes.bootstrapRequested(bootstrap);
    s.report(Configuring, FACTS);
    await s.clock.advance(MINUTE_MS);
    expect(kinds(s)).toEqual([]);
    s.node('n-1', 'False', -3 * MINUTE_MS);
    expect(kinds(s)).toEqual([KIND_JOINED]);
  });
});
