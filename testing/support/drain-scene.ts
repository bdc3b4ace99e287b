// A cluster in memory with an operator's drains over it, for the tests of drain/: the node table follows the objects as a
// watch would, and the operator can be killed and started again at any call.

import { Drains, type DrainsDeps } from '../../src/operator/drain/drains.ts';
import type { KubeClient } from '../../src/operator/kube/client.ts';
import type { Node } from '../../src/operator/kube/objects.ts';
import { MACHINE_LABEL } from '../../src/operator/nodes/contract.ts';
import { NodeTable } from '../../src/operator/nodes/node-table.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import {
  type NodeStateUpdate,
  type ReclaimInstruction,
  ReclaimInstruction_Kind,
} from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { type KubeHooks, MemoryCluster } from './memory-kube.ts';
import { noLog, RecordedEvents, RecordedLink, RecordedMetrics } from './operator-parts.ts';

/** Milliseconds until a change of a Node reaches the table. */
const WATCH_LAG_MS = 250;

export const { KIND_RECLAIM, KIND_PREEMPTION, KIND_EXCESS, KIND_UNSPECIFIED } = ReclaimInstruction_Kind;

export class DrainScene {
  readonly clock = new VirtualClock(1_700_000_000_000);
  readonly cluster = new MemoryCluster(this.clock);
  readonly events = new RecordedEvents();
  readonly metrics = new RecordedMetrics();
  readonly states = new Map<string, NodeStateUpdate['state']>();
  link = new RecordedLink();
  table = new NodeTable();
  drains!: Drains;
  #stopWatch: () => void = () => {};

  /** Starts an operator; the one before, if any, is gone. */
  start(hooks: KubeHooks = {}, more: Partial<DrainsDeps> = {}): void {
    this.#stopWatch();
    this.table = new NodeTable();
    this.#follow();
    const kube: KubeClient = this.cluster.client(hooks);
    this.drains = new Drains({
      kube,
      clock: this.clock,
      link: this.link,
      table: this.table,
      events: this.events,
      log: noLog,
      metrics: this.metrics,
      stateOf: (machine) => this.states.get(machine),
      ...more,
    });
    this.drains.start();
  }

  stopWatch(): void {
    this.#stopWatch();
  }

  /** A node of machine `m-<name>`. */
  node(
    name: string,
    node: { readonly annotations?: Record<string, string>; readonly spec?: object } = {},
  ): void {
    this.cluster.addNode(name, {
      metadata: { name, labels: { [MACHINE_LABEL]: `m-${name}` }, annotations: node.annotations ?? {} },
      spec: node.spec ?? {},
    } as never);
    this.states.set(`m-${name}`, 5);
  }

  getNode(name: string): Node {
    return this.cluster.get(`/api/v1/nodes/${name}`) as unknown as Node;
  }

  isCordoned(name: string): boolean {
    return this.getNode(name).spec?.unschedulable === true;
  }

  instruct(id: string, nodes: readonly string[], more: Partial<ReclaimInstruction> = {}): void {
    this.drains.reclaimInstruction({
      instructionId: id,
      nodes,
      gracePeriodSeconds: 600n,
      preemptorPriority: 0,
      kind: KIND_RECLAIM,
      ...more,
    });
  }

  evicted(): readonly string[] {
    return this.cluster.evictions.map(({ pod }) => pod);
  }

  #follow(): void {
    const { table } = this;
    const list = () => {
      table.listing();
      for (const [path, object] of this.cluster.objects)
        if (path.startsWith('/api/v1/nodes/')) table.set(object as unknown as Node);
      table.listed();
    };
    list();
    let cancel = () => {};
    const again = () => {
      list();
      cancel = this.clock.after(WATCH_LAG_MS, again);
    };
    cancel = this.clock.after(WATCH_LAG_MS, again);
    this.#stopWatch = () => cancel();
  }
}
