// Routes node state frames to clusters: one for every change of what a frame contains, the last one to the cluster
// that the machine leaves, and a full set when an operator opens a session. node-state.ts builds the frames. Made by
// controller.ts.

import type { MachineChange, MachineStatus } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { NodeStateUpdate } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Effect } from '../events.ts';
import type { NodeNote } from '../inventory/machine-facts-store.ts';
import { type MachineLedger, type Portrait, particularsIn } from '../inventory/machine-ledger.ts';
import { type NodeRecord, nodeStateUpdate, nodeStateUpdates } from './node-state.ts';

export interface NodeStateSources {
  readonly ledger: MachineLedger;
  /** What the operator reported of the node of a machine; null before. */
  readonly nodeOf: (machine: string) => NodeNote | null;
}

export class NodeStateRouter {
  readonly #ledger: MachineLedger;
  readonly #nodeOf: (machine: string) => NodeNote | null;
  readonly #emit: (effect: Effect) => void;
  /** By cluster: machines that drain from it. The ledger indexes bound machines only. */
  readonly #leaving = new Map<string, Set<string>>();

  constructor({ ledger, nodeOf }: NodeStateSources, emit: (effect: Effect) => void) {
    this.#ledger = ledger;
    this.#nodeOf = nodeOf;
    this.#emit = emit;
    ledger.listen((change) => this.#moved(change));
  }

  /** Sends the state of one machine to its cluster, because its node is known by another name now. */
  send(id: string): void {
    const record = recordOf(id, this.#ledger.statusOf(id), this.#ledger.portraitOf(id));
    if (record !== null && record.cluster !== '') this.#send(nodeStateUpdate(record));
  }

  /** Sends a cluster the state of all its machines, draining ones included. */
  sendAll(cluster: string): void {
    for (const id of [...this.#ledger.boundTo(cluster), ...(this.#leaving.get(cluster) ?? [])]) {
      const record = recordOf(id, this.#ledger.statusOf(id), this.#ledger.portraitOf(id));
      if (record !== null) this.#send(nodeStateUpdate(record));
    }
  }

  #moved({ id, before, after, factsBefore, seen }: MachineChange): void {
    const was = before?.cluster ?? '';
    const is = after?.cluster ?? '';
    if (was === '' && is === '') return;
    if (before?.state === MachineState.Draining) this.#left(was, id);
    if (after?.state === MachineState.Draining) this.#leave(is, id);
    const known = factsBefore === null ? null : { ...factsBefore, ...this.#ledger.particularsOf(id) };
    const now = seen === null ? known : { ...seen, ...particularsIn(seen) };
    const updates = nodeStateUpdates(recordOf(id, before, known), recordOf(id, after, now));
    for (const update of updates) this.#send(update);
  }

  #leave(cluster: string, id: string): void {
    const leaving = this.#leaving.get(cluster);
    if (leaving === undefined) this.#leaving.set(cluster, new Set([id]));
    else leaving.add(id);
  }

  #left(cluster: string, id: string): void {
    const leaving = this.#leaving.get(cluster);
    leaving?.delete(id);
    if (leaving?.size === 0) this.#leaving.delete(cluster);
  }

  #send(update: NodeStateUpdate): void {
    const node = this.#nodeOf(update.machineId);
    this.#emit({ kind: 'node-state', cluster: update.clusterId, update: named(update, node) });
  }
}

/** The name and provider id that the operator reported replace those that the provider's record suggests. */
function named(update: NodeStateUpdate, node: NodeNote | null): NodeStateUpdate {
  if (node === null || update.nodeName === '') return update;
  return {
    ...update,
    nodeName: node.name || update.nodeName,
    providerId: node.providerId || update.providerId,
  };
}

function recordOf(id: string, status: MachineStatus | null, portrait: Portrait | null): NodeRecord | null {
  if (status === null || portrait === null) return null;
  const { state, cluster } = status;
  return { ...portrait, id, state, cluster };
}
