// Removes the Node objects of machines that have left the cluster without a drain: interrupted, died, removed behind the
// shard's back. Clouds have a controller for that, bare metal has not. A Node goes only if the shard has said that its
// machine left, or has not reported the machine after a hello, and it has not been Ready for a while; a Ready one stays,
// whatever the shard says. Used by nodes.ts.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import type { Node } from '../kube/objects.ts';
import { type EventSink, nodeReference, type OperatorLog } from './contract.ts';
import type { KeyedWrites } from './keyed-writes.ts';
import { MACHINE_GONE } from './machines.ts';
import type { NodeTable } from './node-table.ts';
import { nodePath } from './paths.ts';

/**
 * How long the Node must not have been Ready. Shorter: pods of a host that only lost its network for a moment are given up.
 * Longer: StatefulSets wait longer for their pods, which Kubernetes does not replace while the Node exists.
 */
const NOT_READY_MS = 5 * 60_000;

const { Speculative, Idle, Deleting, Failed } = MachineState;

interface Candidate {
  readonly machine: string;
  readonly uid: string;
  /** The shard has not reported the machine in the cluster again. */
  hasLeft: boolean;
  /** Since when each look has found the Node not Ready; null: the last one found it Ready, or there was none. */
  notReadySinceMs: number | null;
}

export interface LostNodesDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly table: NodeTable;
  readonly events: EventSink;
  readonly log: OperatorLog;
  readonly writes: KeyedWrites;
}

export class LostNodes {
  readonly #deps: LostNodesDeps;
  /** By node name. */
  readonly #candidates = new Map<string, Candidate>();

  constructor(deps: LostNodesDeps) {
    this.#deps = deps;
  }

  stateChanged(update: NodeStateUpdate): void {
    const { machineId: machine } = update;
    const hasLeft = isOver(update);
    for (const candidate of this.#candidates.values())
      if (candidate.machine === machine) candidate.hasLeft = hasLeft;
    const node = hasLeft ? this.#deps.table.nodeOf(machine) : undefined;
    if (node === undefined || this.#candidates.get(node.name)?.uid === node.uid) return;
    this.#candidates.set(node.name, { machine, uid: node.uid, hasLeft, notReadySinceMs: null });
  }

  /**
   * The shard has reported all its machines after a hello. Which machines left before is not kept anywhere: a Node that names
   * a machine which was not reported may have been lost in an earlier term, or while no operator was connected. So may one
   * that is not the only Node of its machine, or that an earlier host of a joining machine has left.
   */
  resynced(reported: ReadonlySet<string>, isJoining: (machine: string) => boolean): void {
    const { table } = this.#deps;
    for (const { name, uid, claimedMachine: machine } of table.all()) {
      if (machine === '' || this.#candidates.get(name)?.uid === uid) continue;
      const hasLeft = !reported.has(machine);
      if (!hasLeft && table.nodeOf(machine)?.name === name && !isJoining(machine)) continue;
      this.#candidates.set(name, { machine, uid, hasLeft, notReadySinceMs: null });
    }
  }

  /** Looks at the nodes of machines that have left. Call every minute or so. */
  sweep(): void {
    const { table, writes } = this.#deps;
    for (const [name, candidate] of this.#candidates) {
      if (table.get(name)?.uid !== candidate.uid) this.#candidates.delete(name);
      else writes.submit(`lost/${name}`, () => this.#look(name, candidate));
    }
  }

  async #look(name: string, candidate: Candidate): Promise<void> {
    const { kube, clock, log, events } = this.#deps;
    const { machine, uid } = candidate;
    try {
      const node = await kube.get<Node>(nodePath(name));
      if (!this.#mayGo(node, candidate)) return;
      const now = clock.now();
      candidate.notReadySinceMs ??= now;
      if (now - candidate.notReadySinceMs < NOT_READY_MS) return;
      // With the version that was read, so that a kubelet which reports in the meantime keeps its Node.
      const { resourceVersion } = node.metadata;
      const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      await kube.delete(nodePath(name), { apiVersion: 'v1', kind: 'DeleteOptions', preconditions });
      log('info', 'node.removed', { node: name, machine, why: 'lost' });
      events.event(nodeReference(name, uid), 'Normal', 'NodeRemoved', `Machine ${machine} has left.`);
      this.#candidates.delete(name);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      // Changed since it was read: the next sweep decides.
      if (error.isConflict) return;
      if (error.isNotFound) this.#candidates.delete(name);
      else throw error;
    }
  }

  #mayGo(node: Node, candidate: Candidate): boolean {
    const { machine, uid, hasLeft } = candidate;
    const { name } = node.metadata;
    // A machine that came back has another Node, or uses this one again.
    const isUsed = !hasLeft && this.#deps.table.nodeOf(machine)?.name === name;
    const isReady = node.status?.conditions?.some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    );
    if (node.metadata.uid === uid && !isUsed && isReady !== true) return true;
    candidate.notReadySinceMs = null;
    if (isUsed && isReady === true) this.#candidates.delete(name);
    return false;
  }
}

/** Whether the machine is in no cluster, or has no host any more. A Failed machine with a host may still run pods. */
function isOver({ state, providerId, lastError }: NodeStateUpdate): boolean {
  if (state === Failed) return providerId === '' || lastError === MACHINE_GONE;
  return state === Speculative || state === Idle || state === Deleting;
}
