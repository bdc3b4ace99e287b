// Keeps one UpcomingNode object per machine of the cluster: written only if it changed, the latest state of a machine
// only, and removed when the machine has left. What was written is remembered, so a quiet resync writes nothing.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import { FIELD_MANAGER } from '../kube/writes.ts';
import type { TaintRule } from '../pods/settings.ts';
import { nodeReference, type OperatorMetrics } from './contract.ts';
import type { KeyedWrites } from './keyed-writes.ts';
import type { NodeTable } from './node-table.ts';
import { BIGFLEET_API, listAll, UPCOMING_NODES } from './paths.ts';
import {
  isInClusterPhase,
  JOIN_DEADLINE_ANNOTATION,
  MACHINE_ANNOTATION,
  machineOfUpcomingNode,
  type Phase,
  phaseOf,
  specOf,
  statusOf,
  type UpcomingNode,
  type UpcomingNodeStatus,
  upcomingNodeName,
} from './upcoming-node.ts';

/** What the API server has of an object. */
interface Stored {
  readonly spec: string;
  readonly annotations: string;
  readonly status: UpcomingNodeStatus | undefined;
}

export interface UpcomingNodesDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly writes: KeyedWrites;
  readonly nodes: NodeTable;
  readonly metrics: OperatorMetrics;
  /** Taints that nodes with matching labels register with. */
  readonly taintRules?: readonly TaintRule[];
}

export class UpcomingNodes {
  readonly #deps: UpcomingNodesDeps;
  readonly #stored = new Map<string, Stored>();
  readonly #updates = new Map<string, NodeStateUpdate>();
  readonly #draining = new Set<string>();
  readonly #joinDeadlines = new Map<string, number>();
  /** When the latest update of a machine was received, until its object shows it. */
  readonly #receivedMs = new Map<string, number>();

  constructor(deps: UpcomingNodesDeps) {
    this.#deps = deps;
  }

  /** Reads the objects that exist. Must be done before the first update is applied. */
  async load(): Promise<void> {
    for (const object of await listAll<UpcomingNode>(this.#deps.kube, UPCOMING_NODES)) {
      const machine = machineOfUpcomingNode(object);
      const { labels = {}, resources = {}, taints = [] } = object.spec ?? {};
      const { annotations = {} } = object.metadata;
      this.#stored.set(machine, {
        spec: JSON.stringify({ labels: byKey(labels), resources: byKey(resources), taints }),
        annotations: JSON.stringify(ownAnnotations(machine, annotations[JOIN_DEADLINE_ANNOTATION])),
        status: object.status,
      });
      const deadlineMs = Date.parse(annotations[JOIN_DEADLINE_ANNOTATION] ?? '');
      if (!Number.isNaN(deadlineMs)) this.#joinDeadlines.set(machine, deadlineMs);
    }
  }

  /** Machines with an object, of which some may have left while the operator did not run. */
  machines(): Iterable<string> {
    return this.#stored.keys();
  }

  get isEmpty(): boolean {
    return this.#stored.size === 0;
  }

  /** Whether the object says that the machine was in the cluster, not on its way to it. */
  wasInCluster(machine: string): boolean {
    return isInClusterPhase(this.#stored.get(machine)?.status?.phase);
  }

  /** When the node of a machine must have registered; kept on the object, so that a restart does not extend it. */
  joinDeadlineMs(machine: string): number | undefined {
    return this.#joinDeadlines.get(machine);
  }

  setJoinDeadline(machine: string, deadlineMs: number | null): void {
    if (deadlineMs === null) {
      if (!this.#joinDeadlines.delete(machine)) return;
    } else {
      if (this.#joinDeadlines.get(machine) === deadlineMs) return;
      this.#joinDeadlines.set(machine, deadlineMs);
    }
    this.#write(machine);
  }

  apply(update: NodeStateUpdate): void {
    this.#updates.set(update.machineId, update);
    if (update.state !== MachineState.Configured) this.#draining.delete(update.machineId);
    if (this.#write(update.machineId)) this.#receivedMs.set(update.machineId, this.#deps.clock.now());
  }

  /** The operator drains the node of a machine that the shard still reports as Configured. */
  setDraining(machine: string, isDraining: boolean): void {
    if (isDraining === this.#draining.has(machine)) return;
    if (isDraining) this.#draining.add(machine);
    else this.#draining.delete(machine);
    this.#write(machine);
  }

  /** The node of a machine appeared or changed. */
  nodeChanged(machine: string): void {
    this.#write(machine);
  }

  /** The machine is no longer one of this cluster. */
  drop(machine: string): void {
    const wasKnown = this.#updates.delete(machine);
    this.#draining.delete(machine);
    this.#joinDeadlines.delete(machine);
    this.#receivedMs.delete(machine);
    // Without a stored object its creation may be in flight.
    if (wasKnown || this.#stored.has(machine)) this.#submit(machine);
  }

  /** Returns false if the object is as it should be, or not known yet. */
  #write(machine: string): boolean {
    const update = this.#updates.get(machine);
    if (update === undefined || !this.#needsWrite(update)) return false;
    this.#submit(machine);
    return true;
  }

  #submit(machine: string): void {
    this.#deps.writes.submit(`un/${machine}`, () => this.#sync(machine));
  }

  #needsWrite(update: NodeStateUpdate): boolean {
    const stored = this.#stored.get(update.machineId);
    const wanted = this.#wanted(update, stored);
    return (
      wanted.spec !== stored?.spec ||
      wanted.annotations !== stored.annotations ||
      !isSameStatus(wanted.status, stored.status)
    );
  }

  #wanted(
    update: NodeStateUpdate,
    stored: Stored | undefined,
  ): Stored & { readonly status: UpcomingNodeStatus } {
    const { machineId: machine, state, providerId, lastError } = update;
    const node = this.#deps.nodes.nodeOf(machine);
    const mapped = phaseOf(state as MachineState);
    const deadlineMs = this.#joinDeadlines.get(machine);
    return {
      spec: JSON.stringify(specOf(update, this.#deps.taintRules)),
      annotations: JSON.stringify(
        ownAnnotations(machine, deadlineMs === undefined ? undefined : new Date(deadlineMs).toISOString()),
      ),
      status: statusOf(
        mapped === 'Ready' && this.#draining.has(machine) ? 'Draining' : mapped,
        {
          nodeRef: node === undefined ? undefined : nodeReference(node.name, node.uid),
          providerId: node?.providerId || providerId,
          lastError,
          now: this.#deps.clock.now(),
        },
        stored?.status,
      ),
    };
  }

  async #sync(machine: string): Promise<void> {
    const update = this.#updates.get(machine);
    const stored = this.#stored.get(machine);
    if (update === undefined) {
      await this.#remove(machine);
      return;
    }
    const { spec, annotations, status } = this.#wanted(update, stored);
    if (spec !== stored?.spec || annotations !== stored.annotations) {
      await this.#apply(machine, stored === undefined ? 'create' : 'spec_update', {
        metadata: { annotations: JSON.parse(annotations) as unknown },
        spec: JSON.parse(spec) as unknown,
      });
      this.#stored.set(machine, { spec, annotations, status: stored?.status });
    }
    if (!isSameStatus(status, stored?.status)) await this.#syncStatus(machine, { spec, annotations, status });
    this.#shown(update, status.phase);
  }

  async #syncStatus(machine: string, wanted: Stored): Promise<void> {
    try {
      await this.#apply(machine, 'status_update', { status: wanted.status });
    } catch (error) {
      // The object was deleted by another client: the retry creates it again.
      if (error instanceof KubeError && error.isNotFound) this.#stored.delete(machine);
      throw error;
    }
    this.#stored.set(machine, wanted);
  }

  /** The object shows an update, unless a later one came meanwhile. */
  #shown(update: NodeStateUpdate, phase: Phase): void {
    const { machineId: machine } = update;
    const receivedMs = this.#receivedMs.get(machine);
    if (receivedMs === undefined || this.#updates.get(machine) !== update) return;
    this.#receivedMs.delete(machine);
    const seconds = (this.#deps.clock.now() - receivedMs) / 1000;
    this.#deps.metrics.observe('bigfleet_operator_node_state_update_duration_seconds', seconds, { phase });
  }

  async #apply(
    machine: string,
    op: 'create' | 'spec_update' | 'status_update',
    content: { readonly metadata?: object; readonly spec?: unknown; readonly status?: unknown },
  ): Promise<void> {
    const name = upcomingNodeName(machine);
    const body = {
      apiVersion: BIGFLEET_API,
      kind: 'UpcomingNode',
      ...content,
      metadata: { name, ...content.metadata },
    };
    const path = `${UPCOMING_NODES}/${encodeURIComponent(name)}${op === 'status_update' ? '/status' : ''}`;
    const options = { fieldManager: FIELD_MANAGER, force: true };
    await this.#counted(op, () => this.#deps.kube.patch(path, 'apply', body, options));
  }

  async #remove(machine: string): Promise<void> {
    const path = `${UPCOMING_NODES}/${encodeURIComponent(upcomingNodeName(machine))}`;
    await this.#counted('delete', async () => {
      try {
        await this.#deps.kube.delete(path);
      } catch (error) {
        if (!(error instanceof KubeError && error.isNotFound)) throw error;
      }
    });
    this.#stored.delete(machine);
  }

  async #counted(op: string, write: () => Promise<unknown>): Promise<void> {
    let outcome = 'success';
    try {
      await write();
    } catch (error) {
      outcome = error instanceof KubeError && error.isConflict ? 'conflict' : 'error';
      throw error;
    } finally {
      this.#deps.metrics.count('bigfleet_operator_upcoming_node_writes_total', { op, outcome });
    }
  }
}

function ownAnnotations(machine: string, joinDeadline: string | undefined): object {
  return {
    [MACHINE_ANNOTATION]: machine,
    ...(joinDeadline === undefined ? {} : { [JOIN_DEADLINE_ANNOTATION]: joinDeadline }),
  };
}

function byKey<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isSameStatus(a: UpcomingNodeStatus, b: UpcomingNodeStatus | undefined): boolean {
  return (
    b !== undefined &&
    a.phase === b.phase &&
    a.nodeRef?.name === b.nodeRef?.name &&
    a.nodeRef?.uid === b.nodeRef?.uid &&
    a.providerID === b.providerID &&
    a.lastError === b.lastError &&
    b.provisioningStartTime !== undefined
  );
}
