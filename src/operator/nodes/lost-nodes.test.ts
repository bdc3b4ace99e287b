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
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
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
  readonly nodes: Nodes;
  /** Runs between a read of the operator and what it does next. */
  afterRead = () => {};

  constructor() {
    const { clock, table, events } = this;
    this.nodes = new Nodes({
      kube: this.cluster.client({ after: ({ verb }) => (verb === 'get' ? this.afterRead() : undefined) }),
      clock,
      table,
      events,
      link: new RecordedLink(),
      log: noLog,
      metrics: new RecordedMetrics(),
    });
    table.listing();
    table.listed();
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

  node(name: string, ready: string, createdMs = 0): void {
    const metadata = {
      name,
      labels: { [MACHINE_LABEL]: 'm-1' },
      creationTimestamp: new Date(this.clock.now() + createdMs).toISOString(),
    };
    const status = { conditions: [{ type: 'Ready', status: ready }] };
    const object = this.cluster.addNode(name, { metadata, status } as never);
    this.table.set(object as unknown as Node);
  }

  report(state: NodeStateUpdate['state'], more: Partial<NodeStateUpdate> = {}): void {
    this.nodes.nodeStateUpdate(nodeStateUpdate('m-1', state, more));
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
