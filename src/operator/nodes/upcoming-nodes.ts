// Keeps one UpcomingNode object per machine of the cluster: written only if it changed, the latest state of a machine
// only, and removed when the machine has left. What was written is remembered, so a quiet resync writes nothing.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import { FIELD_MANAGER } from '../kube/writes.ts';
import { nodeReference, type OperatorMetrics } from './contract.ts';
import type { KeyedWrites } from './keyed-writes.ts';
import type { NodeTable } from './node-table.ts';
import { BIGFLEET_API, listAll, UPCOMING_NODES } from './paths.ts';
import {
  JOIN_DEADLINE_ANNOTATION,
  MACHINE_ANNOTATION,
  machineOfUpcomingNode,
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
}

export class UpcomingNodes {
  readonly #deps: UpcomingNodesDeps;
  readonly #stored = new Map<string, Stored>();
  readonly #updates = new Map<string, NodeStateUpdate>();
  readonly #draining = new Set<string>();
  readonly #joinDeadlines = new Map<string, number>();

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
    this.#write(update.machineId);
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
    if (this.#updates.has(machine)) this.#write(machine);
  }

  /** The machine is no longer one of this cluster. */
  drop(machine: string): void {
    this.#updates.delete(machine);
    this.#draining.delete(machine);
    this.#joinDeadlines.delete(machine);
    if (this.#stored.has(machine)) this.#write(machine);
  }

  #write(machine: string): void {
    if (this.#needsWrite(machine)) this.#deps.writes.submit(`un/${machine}`, () => this.#sync(machine));
  }

  #needsWrite(machine: string): boolean {
    const update = this.#updates.get(machine);
    const stored = this.#stored.get(machine);
    if (update === undefined) return stored !== undefined;
    if (this.#hasDrained(update, stored)) return true;
    const wanted = this.#wanted(update, stored);
    return (
      wanted.spec !== stored?.spec ||
      wanted.annotations !== stored.annotations ||
      !isSameStatus(wanted.status, stored.status)
    );
  }

  /** Launched after Draining: the machine has left the cluster. */
  #hasDrained(update: NodeStateUpdate, stored: Stored | undefined): boolean {
    return (
      phaseOf(update.state as MachineState) === 'Launched' &&
      (stored?.status?.phase === 'Draining' || stored?.status?.phase === 'Drained')
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
      spec: JSON.stringify(specOf(update)),
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
    if (update === undefined || this.#hasDrained(update, stored)) {
      await this.#remove(machine);
      return;
    }
    const { spec, annotations, status } = this.#wanted(update, stored);
    if (spec !== stored?.spec || annotations !== stored.annotations) {
      await this.#apply(machine, '', {
        metadata: { annotations: JSON.parse(annotations) as unknown },
        spec: JSON.parse(spec) as unknown,
      });
      this.#stored.set(machine, { spec, annotations, status: stored?.status });
    }
    if (isSameStatus(status, stored?.status)) return;
    try {
      await this.#apply(machine, '/status', { status });
    } catch (error) {
      // The object was deleted by another client: the retry creates it again.
      if (error instanceof KubeError && error.isNotFound) this.#stored.delete(machine);
      throw error;
    }
    this.#stored.set(machine, { spec, annotations, status });
  }

  async #apply(
    machine: string,
    subresource: '' | '/status',
    content: { readonly metadata?: object; readonly spec?: unknown; readonly status?: unknown },
  ): Promise<void> {
    const name = upcomingNodeName(machine);
    const body = {
      apiVersion: BIGFLEET_API,
      kind: 'UpcomingNode',
      ...content,
      metadata: { name, ...content.metadata },
    };
    await this.#deps.kube.patch(
      `${UPCOMING_NODES}/${encodeURIComponent(name)}${subresource}`,
      'apply',
      body,
      {
        fieldManager: FIELD_MANAGER,
        force: true,
      },
    );
    this.#deps.metrics.count('bigfleet_operator_upcoming_node_writes_total', {
      op: subresource === '' ? 'spec' : 'status',
    });
  }

  async #remove(machine: string): Promise<void> {
    try {
      await this.#deps.kube.delete(`${UPCOMING_NODES}/${encodeURIComponent(upcomingNodeName(machine))}`);
    } catch (error) {
      if (!(error instanceof KubeError && error.isNotFound)) throw error;
    }
    this.#stored.delete(machine);
    this.#joinDeadlines.delete(machine);
    // A later update of a machine that has drained, such as its Delete, must not create the object again.
    const update = this.#updates.get(machine);
    if (update !== undefined && phaseOf(update.state as MachineState) === 'Launched')
      this.#updates.delete(machine);
    this.#deps.metrics.count('bigfleet_operator_upcoming_node_writes_total', { op: 'delete' });
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
