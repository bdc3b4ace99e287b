// The parts of the operator for nodes on a cluster in memory and a virtual clock, for their tests.

import type { Node } from '../../src/operator/kube/objects.ts';
import { NodeTable } from '../../src/operator/nodes/node-table.ts';
import { Nodes, type NodesDeps } from '../../src/operator/nodes/nodes.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { MemoryCluster } from './memory-kube.ts';
import { noLog, RecordedEvents, RecordedLink, RecordedMetrics } from './operator-parts.ts';

export const UPCOMING = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';

export async function nodesScene(more: Partial<NodesDeps> = {}, clock = new VirtualClock(1_700_000_000_000)) {
  const cluster = new MemoryCluster(clock);
  return await nodesOn(cluster, clock, more);
}

/** Another process on the objects of a cluster. */
export async function nodesOn(cluster: MemoryCluster, clock: VirtualClock, more: Partial<NodesDeps> = {}) {
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
