// Everything the operator does with nodes apart from drains: ties them to machines, keeps UpcomingNode and
// AvailableCapacity objects, watches joins, and tracks the facts for the roll-up. The session's handlers call it.

import type { Clock } from '../../runtime/clock.ts';
import type {
  AvailableCapacityUpdate,
  BootstrapRequest,
  NodeStateUpdate,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { KubeClient } from '../kube/client.ts';
import type { TaintRule } from '../pods/settings.ts';
import type { ShardLink } from '../session/contract.ts';
import { AvailableCapacities } from './available-capacity.ts';
import { type EventSink, MACHINE_LABEL, type OperatorLog, type OperatorMetrics } from './contract.ts';
import { DEFAULT_JOIN_TIMEOUT_MS, Joins } from './joins.ts';
import { KeyedWrites } from './keyed-writes.ts';
import { LostNodes } from './lost-nodes.ts';
import { type KnownMachines, Machines, type ResyncSettings } from './machines.ts';
import type { NodeTable } from './node-table.ts';
import { BIGFLEET_API, nodePath } from './paths.ts';
import { upcomingNodeName } from './upcoming-node.ts';
import { UpcomingNodes } from './upcoming-nodes.ts';

const SWEEP_MS = 60_000;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const MAX_LABEL_LENGTH = 63;

export interface NodesDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly link: Pick<ShardLink, 'sendNodeReport'>;
  readonly table: NodeTable;
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly metrics: OperatorMetrics;
  readonly joinTimeoutMs?: number;
  readonly resync?: ResyncSettings;
  /** Taints that nodes with matching labels register with, besides those of the machine. */
  readonly taintRules?: readonly TaintRule[];
  /** Whether a row of the roll-up has a profile; see `AvailableCapacities`. */
  readonly isDemanded?: (fingerprint: string) => boolean | null;
}

export class Nodes {
  readonly upcoming: UpcomingNodes;
  readonly capacities: AvailableCapacities;
  readonly machines: Machines;
  readonly joins: Joins;
  readonly #lost: LostNodes;
  readonly #deps: NodesDeps;
  readonly #writes: KeyedWrites;
  readonly #resyncedListeners = new Set<() => void>();
  readonly #goneListeners = new Set<(machine: string) => void>();
  #stops: (() => void)[] = [];
  #isStopped = false;

  constructor(deps: NodesDeps) {
    this.#deps = deps;
    const { kube, clock, table, events, metrics, log } = deps;
    this.#writes = new KeyedWrites({ clock, log, metrics });
    this.#lost = new LostNodes({ kube, clock, table, events, log, writes: this.#writes });
    this.upcoming = new UpcomingNodes({
      kube,
      clock,
      writes: this.#writes,
      nodes: table,
      metrics,
      ...(deps.taintRules === undefined ? {} : { taintRules: deps.taintRules }),
    });
    this.capacities = new AvailableCapacities({
      kube,
      clock,
      writes: this.#writes,
      log,
      metrics,
      ...(deps.isDemanded === undefined ? {} : { isDemanded: deps.isDemanded }),
    });
    this.machines = new Machines({
      clock,
      ...(deps.resync === undefined ? {} : { settings: deps.resync }),
      before: this.#before(),
      gone: (machine) => this.#gone(machine),
      resynced: (reported) => this.#resynced(reported),
    });
    this.joins = new Joins({
      clock,
      link: deps.link,
      nodes: table,
      events: deps.events,
      log,
      metrics,
      joinTimeoutMs: deps.joinTimeoutMs ?? DEFAULT_JOIN_TIMEOUT_MS,
      deadlines: this.upcoming,
      eventObject: (machine) => ({
        apiVersion: BIGFLEET_API,
        kind: 'UpcomingNode',
        name: upcomingNodeName(machine),
      }),
    });
  }

  /** Writes to the API server that wait or are in flight. */
  get pendingWrites(): number {
    return this.#writes.pending;
  }

  /** Reads the objects that exist and starts to follow nodes. Rejects if the API server does not answer. */
  async start(): Promise<void> {
    await Promise.all([this.upcoming.load(), this.capacities.load()]);
    // The Lease may be lost during the reads, or another part of the term may have failed.
    if (this.#isStopped) return;
    const { table, clock } = this.#deps;
    this.#stops.push(table.onNodeChange((name) => this.#nodeChanged(name)));
    for (const { name } of [...table.all()]) this.#nodeChanged(name);
    this.#sweepLater(clock);
  }

  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.machines.disconnected();
    this.capacities.disconnected();
    this.joins.stop();
    this.#writes.stop();
  }

  connected(): void {
    this.machines.connected();
    this.capacities.connected();
    this.joins.connected();
  }

  disconnected(): void {
    this.machines.disconnected();
    this.capacities.disconnected();
  }

  nodeStateUpdate(update: NodeStateUpdate): void {
    const { machineId: machine, providerId, nodeName, state } = update;
    const applied = this.machines.apply(update);
    if (applied === 'refused') this.#deps.log('warn', 'node-state.ignored', { machine });
    if (applied === 'left') {
      this.#deps.log('info', 'machine.left', { machine, state });
      // While the table still knows its node.
      this.#lost.stateChanged(update);
      this.#forget(machine);
    }
    if (applied !== 'kept') return;
    this.#deps.table.learn({ machine, providerId, nodeName });
    this.upcoming.apply(update);
    this.joins.stateChanged(update);
    this.#lost.stateChanged(update);
  }

  /** The bootstrap of a machine is about to be answered. */
  bootstrapRequested({ machineId: machine, providerId }: BootstrapRequest): void {
    if (machine === '') return;
    this.#deps.table.learn({ machine, providerId, nodeName: '' });
    this.joins.expect(machine);
  }

  availableCapacity(update: AvailableCapacityUpdate): void {
    this.capacities.apply(update);
  }

  /** Calls the listener when the shard has reported all its machines after a hello. */
  onResynced(listener: () => void): void {
    this.#resyncedListeners.add(listener);
  }

  onMachineGone(listener: (machine: string) => void): void {
    this.#goneListeners.add(listener);
  }

  /** Objects and Nodes of an earlier process. */
  #before(): KnownMachines {
    const { upcoming } = this;
    const { table } = this.#deps;
    return {
      get isEmpty() {
        if (!upcoming.isEmpty) return false;
        for (const { claimedMachine } of table.all()) if (claimedMachine !== '') return false;
        return true;
      },
      wasInCluster: (machine) => upcoming.wasInCluster(machine),
      *ready() {
        for (const [machine, { ready }] of table.managed()) if (ready === 'True') yield machine;
      },
    };
  }

  #resynced(reported: ReadonlySet<string>): void {
    // Objects of an earlier process, whose machines left while no operator ran.
    for (const machine of [...this.upcoming.machines()])
      if (this.machines.get(machine) === undefined) this.upcoming.drop(machine);
    // The table outlives the terms of this replica, and with it what earlier sessions said.
    const { table } = this.#deps;
    for (const machine of [...table.learned()])
      if (this.machines.get(machine) === undefined && !this.joins.isJoining(machine)) table.forget(machine);
    this.#lost.resynced(reported, (machine) => this.joins.isJoining(machine));
    for (const listener of this.#resyncedListeners) listener();
  }

  #gone(machine: string): void {
    this.#deps.log('info', 'machine.gone', { machine });
    this.#forget(machine);
    for (const listener of this.#goneListeners) listener(machine);
  }

  #forget(machine: string): void {
    this.upcoming.drop(machine);
    this.joins.drop(machine);
    this.#deps.table.forget(machine);
  }

  #nodeChanged(name: string): void {
    const { table } = this.#deps;
    const machine = table.machineOf(name);
    if (machine === null) return;
    const node = table.get(name);
    if (node !== undefined && !node.isLabelled) this.#label(name, machine);
    this.upcoming.nodeChanged(machine);
    this.joins.nodeChanged(machine);
  }

  /** Writes the tie on the node, so that it outlives the session: an operator that starts without a shard knows it. */
  #label(name: string, machine: string): void {
    this.#writes.submit(`label/${name}`, async () => {
      const { table, kube } = this.#deps;
      const node = table.get(name);
      if (node === undefined || node.isLabelled || table.machineOf(name) !== machine) return;
      const tie = { [MACHINE_LABEL]: machine };
      const isLabel = machine.length <= MAX_LABEL_LENGTH && LABEL_VALUE.test(machine);
      await kube.patch(nodePath(name), 'merge', {
        metadata: {
          uid: node.uid === '' ? undefined : node.uid,
          ...(isLabel ? { labels: tie } : { annotations: tie }),
        },
      });
      this.#deps.log('info', 'node.tied', { node: name, machine });
    });
  }

  #sweepLater(clock: Clock): void {
    let cancel = () => {};
    const sweep = () => {
      this.capacities.sweep();
      this.machines.sweep();
      this.#lost.sweep();
      cancel = clock.after(SWEEP_MS, sweep);
    };
    cancel = clock.after(SWEEP_MS, sweep);
    this.#stops.push(() => cancel());
  }
}
