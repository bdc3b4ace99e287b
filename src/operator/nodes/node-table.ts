// The nodes of the cluster, as few facts each, and the machine of each node. A node is tied to its machine by its label,
// then by provider id, then by the node name that the shard knows, and at last by a name equal to the machine id, which
// is what a Go shard counts on. Fed by the reflector of nodes and by machines.ts; read by every other part for nodes.

import type { Node } from '../kube/objects.ts';
import type { ObjectConsumer } from '../kube/reflector.ts';
import { isNodeProtected } from '../pods/disruption.ts';
import { MACHINE_LABEL, type ManagedNodes } from './contract.ts';

/** State of a drain, written by drain/. */
export const DRAIN_ANNOTATION = 'bigfleet.lucy.sh/drain';
/** The last drain that failed, written by drain/. */
export const DRAIN_FAILED_ANNOTATION = 'bigfleet.lucy.sh/drain-failed';

/** What is kept of a node. */
export interface TrackedNode {
  readonly name: string;
  readonly uid: string;
  readonly createdMs: number;
  /** When its kubelet last reported, as far as is known: without another change the table notifies of no heartbeat. */
  readonly heartbeatMs: number;
  /** Status of the condition Ready; '' if absent. */
  readonly ready: string;
  readonly providerId: string;
  /** Machine that the node itself names, by label or annotation; '' if none. */
  readonly claimedMachine: string;
  readonly isLabelled: boolean;
  readonly isUnschedulable: boolean;
  /** It has an annotation against disruption. */
  readonly isProtected: boolean;
  /** Texts of the annotations of a drain; '' if absent. */
  readonly drain: string;
  readonly drainFailed: string;
}

/** What the shard says about a machine, as far as it identifies the node. */
export interface MachineIdentity {
  readonly machine: string;
  readonly providerId: string;
  readonly nodeName: string;
}

export class NodeTable implements ObjectConsumer<Node>, ManagedNodes {
  readonly #nodes = new Map<string, TrackedNode>();
  readonly #machineByNode = new Map<string, string>();
  readonly #nodesByMachine = new Map<string, Set<string>>();
  /** By provider id, in full and its last path segment. */
  readonly #nodesByProviderId = new Map<string, Set<string>>();
  readonly #identities = new Map<string, MachineIdentity>();
  readonly #machineByProviderId = new Map<string, string>();
  readonly #machineByNodeName = new Map<string, string>();
  readonly #managedListeners = new Set<(nodeName: string) => void>();
  readonly #nodeListeners = new Set<(name: string) => void>();
  /** Names set since `listing`; null outside a list. */
  #listed: Set<string> | null = null;
  #hasListed = false;

  /** Whether all nodes have been listed once. */
  get hasListed(): boolean {
    return this.#hasListed;
  }

  listing(): void {
    this.#listed = new Set();
  }

  listed(): void {
    const seen = this.#listed;
    this.#listed = null;
    this.#hasListed = true;
    if (seen !== null) for (const name of [...this.#nodes.keys()]) if (!seen.has(name)) this.#drop(name);
    for (const name of seen ?? []) this.#notify(this.#nodeListeners, name);
  }

  set(object: Node): void {
    const node = trackedNode(object);
    const old = this.#nodes.get(node.name);
    this.#listed?.add(node.name);
    if (old !== undefined && isEqual(old, node)) {
      this.#nodes.set(node.name, node);
      return;
    }
    if (old !== undefined) this.#unindex(old);
    this.#nodes.set(node.name, node);
    for (const id of providerIdForms(node.providerId)) addTo(this.#nodesByProviderId, id, node.name);
    this.#tie(node.name);
    this.#notify(this.#nodeListeners, node.name);
  }

  remove(object: Node): void {
    this.#drop(object.metadata.name);
  }

  /** Records what the shard knows of a machine. Empty fields do not replace what it said before. */
  learn(identity: MachineIdentity): void {
    const { machine } = identity;
    const old = this.#identities.get(machine);
    const providerId = identity.providerId || (old?.providerId ?? '');
    const nodeName = identity.nodeName || (old?.nodeName ?? '');
    if (old !== undefined && old.providerId === providerId && old.nodeName === nodeName) return;
    if (old !== undefined) this.#unlearn(old);
    this.#identities.set(machine, { machine, providerId, nodeName });
    if (providerId !== '') this.#machineByProviderId.set(providerId, machine);
    if (nodeName !== '') this.#machineByNodeName.set(nodeName, machine);
    this.#tieAll(this.#possibleNodes({ machine, providerId, nodeName }));
  }

  /** The shard no longer reports a machine. A node that names the machine itself stays tied to it. */
  forget(machine: string): void {
    const old = this.#identities.get(machine);
    if (old === undefined) return;
    this.#identities.delete(machine);
    this.#unlearn(old);
    this.#tieAll(this.#possibleNodes(old));
  }

  /** Machines that the shard has named and that it has not given up, as far as this table was told. */
  learned(): Iterable<string> {
    return this.#identities.keys();
  }

  get(name: string): TrackedNode | undefined {
    return this.#nodes.get(name);
  }

  all(): Iterable<TrackedNode> {
    return this.#nodes.values();
  }

  machineOf(nodeName: string): string | null {
    return this.#machineByNode.get(nodeName) ?? null;
  }

  /** The node of a machine; the youngest if several claim to be it. */
  nodeOf(machine: string): TrackedNode | undefined {
    let best: TrackedNode | undefined;
    for (const name of this.#nodesByMachine.get(machine) ?? []) {
      const node = this.#nodes.get(name)!;
      if (best === undefined || isYounger(node, best)) best = node;
    }
    return best;
  }

  /** Machines that have a node, each with its node. */
  *managed(): Iterable<readonly [machine: string, node: TrackedNode]> {
    for (const machine of this.#nodesByMachine.keys()) yield [machine, this.nodeOf(machine)!];
  }

  /** The node that an instruction means: by node name, else by machine id. */
  resolve(nameOrMachine: string): TrackedNode | undefined {
    const byMachine = this.nodeOf(nameOrMachine);
    return byMachine ?? this.#nodes.get(nameOrMachine);
  }

  onManagedChange(listener: (nodeName: string) => void): () => void {
    this.#managedListeners.add(listener);
    return () => this.#managedListeners.delete(listener);
  }

  /** Calls the listener when a node appears, changes or disappears. */
  onNodeChange(listener: (name: string) => void): () => void {
    this.#nodeListeners.add(listener);
    return () => this.#nodeListeners.delete(listener);
  }

  #drop(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    this.#unindex(node);
    this.#nodes.delete(name);
    this.#tie(name);
    this.#notify(this.#nodeListeners, name);
  }

  #unindex(node: TrackedNode): void {
    for (const id of providerIdForms(node.providerId)) removeFrom(this.#nodesByProviderId, id, node.name);
  }

  #unlearn({ machine, providerId, nodeName }: MachineIdentity): void {
    if (this.#machineByProviderId.get(providerId) === machine) this.#machineByProviderId.delete(providerId);
    if (this.#machineByNodeName.get(nodeName) === machine) this.#machineByNodeName.delete(nodeName);
  }

  #possibleNodes({ machine, providerId, nodeName }: MachineIdentity): ReadonlySet<string> {
    return new Set([
      ...(this.#nodesByMachine.get(machine) ?? []),
      ...(this.#nodesByProviderId.get(providerId) ?? []),
      nodeName,
      machine,
    ]);
  }

  #tieAll(names: ReadonlySet<string>): void {
    for (const name of names) {
      if (!this.#nodes.has(name)) continue;
      this.#tie(name);
      this.#notify(this.#nodeListeners, name);
    }
  }

  /** Finds the machine of a node again and notifies if it changed. */
  #tie(name: string): void {
    const node = this.#nodes.get(name);
    const before = this.#machineByNode.get(name);
    const now = node === undefined ? undefined : this.#machineFor(node);
    if (before === now) return;
    if (before !== undefined) removeFrom(this.#nodesByMachine, before, name);
    if (now === undefined) this.#machineByNode.delete(name);
    else {
      this.#machineByNode.set(name, now);
      addTo(this.#nodesByMachine, now, name);
    }
    this.#notify(this.#managedListeners, name);
  }

  #machineFor(node: TrackedNode): string | undefined {
    if (node.claimedMachine !== '') return node.claimedMachine;
    for (const id of providerIdForms(node.providerId)) {
      const machine = this.#machineByProviderId.get(id);
      if (machine !== undefined) return machine;
    }
    return (
      this.#machineByNodeName.get(node.name) ?? (this.#identities.has(node.name) ? node.name : undefined)
    );
  }

  #notify(listeners: ReadonlySet<(name: string) => void>, name: string): void {
    for (const listener of listeners) listener(name);
  }
}

function trackedNode({ metadata, spec, status }: Node): TrackedNode {
  const { labels = {}, annotations = {} } = metadata;
  const label = labels[MACHINE_LABEL] ?? '';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    createdMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
    heartbeatMs: Date.parse(ready?.lastHeartbeatTime ?? '') || 0,
    ready: ready?.status ?? '',
    providerId: spec?.providerID ?? '',
    claimedMachine: label || (annotations[MACHINE_LABEL] ?? ''),
    isLabelled: label !== '' || (annotations[MACHINE_LABEL] ?? '') !== '',
    isUnschedulable: spec?.unschedulable === true,
    isProtected: isNodeProtected(annotations),
    drain: annotations[DRAIN_ANNOTATION] ?? '',
    drainFailed: annotations[DRAIN_FAILED_ANNOTATION] ?? '',
  };
}

function isEqual(a: TrackedNode, b: TrackedNode): boolean {
  return (Object.keys(a) as (keyof TrackedNode)[]).every((key) => key === 'heartbeatMs' || a[key] === b[key]);
}

function isYounger(a: TrackedNode, b: TrackedNode): boolean {
  return a.createdMs === b.createdMs ? a.name > b.name : a.createdMs > b.createdMs;
}

/** `aws:///eu-1a/i-0abc` is known to some providers as `i-0abc`. */
function providerIdForms(providerId: string): readonly string[] {
  if (providerId === '') return [];
  const last = providerId.slice(providerId.lastIndexOf('/') + 1);
  return last === providerId || last === '' ? [providerId] : [providerId, last];
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}

function removeFrom(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key);
  if (known?.delete(value) === true && known.size === 0) map.delete(key);
}
