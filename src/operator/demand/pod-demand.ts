// The demand of the cluster, kept up to date by pod events: which pods count and for which row. Every event adjusts the sums
// of the rows concerned; what concerns many pods at once (namespaces, claims, values seen, nodes) is noted and applied
// before the next read, in `settle`. The reflectors feed it, rollup.ts and the views read it.

import { meetsAll, type ResourceVector } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import type { CapacityRequest, Namespace, Node, Pod, PriorityClass } from '../kube/objects.ts';
import { canonicalKey } from '../pods/node-terms.ts';
import type { TranslationSettings } from '../pods/settings.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { Alternatives } from './alternatives.ts';
import { Budgets } from './budgets.ts';
import { Claims } from './claims.ts';
import type {
  CountedRequest,
  NodeUse,
  PendingPod,
  RequestName,
  RowKey,
  UncountedObject,
} from './contract.ts';
import { CountedInterner } from './counted-interner.ts';
import { DaemonSets } from './daemon-sets.ts';
import { ListedObjects } from './listed-objects.ts';
import { NodeAccounts } from './node-accounts.ts';
import { attributesOf, type NodeEntry, Nodes } from './nodes.ts';
import { type PodReading, readPod, readRequest, uidOf } from './pod-reading.ts';
import { PodTable } from './pod-table.ts';
import { RequestNames } from './request-names.ts';
import { RequestOwners } from './request-owners.ts';
import { type Row, Rows } from './rows.ts';
import { SeenValues } from './seen-values.ts';
import { type Resolved, Shapes } from './shapes.ts';
import { Flag, type NamespacePolicy, NEVER_COUNTS, NO_POLICY, policyOf } from './standing.ts';
import { UnreadableObjects } from './unreadable.ts';

export interface DemandOptions {
  /** `opt-in`: pods that wait count only if they or their namespace have the label. */
  readonly mode: 'all' | 'opt-in';
  readonly translation: TranslationSettings;
  /** How long a row may stay short before its pods ask for the next alternative of their node affinity. */
  readonly alternativePatienceMs: number;
  /** How long a machine may take to join, which bounds the patience with a shard that does not say which rows are short. */
  readonly joinTimeoutMs: number;
  /** Whether a node is tied to a machine of BigFleet. Another part decides; it calls `nodeChanged` when that changes. */
  readonly isManaged: (nodeName: string) => boolean;
  /** A pod or request that waits has begun to count: the next roll-up should not wait for its interval. */
  readonly onWaiting?: () => void;
  readonly clock: Clock;
  /** For errors that no object should cause. */
  readonly log?: Log;
}

/** Names of the objects that other parts speak about: pods that wait, and what needs a word to its owner. */
interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly sinceMs: number;
  readonly remarks: readonly string[];
  readonly misread: readonly string[];
  readonly problem: string | null;
}

const NO_REMARKS: readonly string[] = [];
const NO_VOLUMES = { text: '', volumes: [] } as const;

export class PodDemand {
  readonly rows = new Rows();
  readonly claims = new Claims();
  readonly budgets = new Budgets();
  readonly daemonSets: DaemonSets;
  readonly alternatives: Alternatives;
  readonly namespaces = new ListedObjects<Namespace, NamespacePolicy>(policyOf, (name, policy, before) => {
    if (policy?.isIgnored !== before?.isIgnored || policy?.isOptedIn !== before?.isOptedIn)
      this.#dirtyNamespaces.add(name);
  });
  readonly priorityClasses = new ListedObjects<
    PriorityClass,
    { readonly value: number; readonly isDefault: boolean }
  >(
    (each) => ({ value: each.value, isDefault: each.globalDefault === true }),
    (_, kept, before) => {
      if (kept?.value !== before?.value || kept?.isDefault !== before?.isDefault)
        this.#arePrioritiesDirty = true;
    },
  );
  readonly #options: DemandOptions;
  readonly #table = new PodTable();
  readonly #nodes: Nodes;
  readonly #shapes: Shapes;
  readonly #vectors = new CountedInterner<ResourceVector>();
  readonly #namespaceNumbers = new CountedInterner<string>();
  readonly #seenValues = new SeenValues();
  readonly #accounts: NodeAccounts;
  readonly #named = new Map<number, Named>();
  readonly #requestNames = new RequestNames();
  readonly #owners = new RequestOwners(this.#table);
  readonly #dirtyNamespaces = new Set<string>();
  #areSeenValuesDirty = false;
  #arePrioritiesDirty = false;
  /** Whether claims are known; before, a pod is not said to wait for a claim that does not exist. */
  #areClaimsListed = false;
  readonly #acknowledgements = new Acknowledgements();
  readonly unreadable: UnreadableObjects;

  constructor(options: DemandOptions) {
    this.#options = options;
    const { translation } = options;
    this.#nodes = new Nodes(options.isManaged);
    this.#accounts = new NodeAccounts(this.#table, this.rows, this.#vectors, this.budgets);
    this.daemonSets = new DaemonSets(translation);
    this.unreadable = new UnreadableObjects(options.clock, options.log ?? (() => {}));
    const { alternativePatienceMs: patienceMs, joinTimeoutMs } = options;
    this.alternatives = new Alternatives({ patienceMs, joinTimeoutMs });
    for (const [key, values] of Object.entries(translation.knownValues))
      for (const value of values) this.#seenValues.add(canonicalKey(key), value);
    this.#shapes = new Shapes({
      settings: translation,
      seenValues: (key) => this.#seenValues.valuesOf(key),
      priorityOfClass: (name) => this.#priorityOf(name),
    });
  }

  // ---- events

  /** `mark` is the number of the list that contains the object. */
  setPod(pod: Pod, mark: number): void {
    const reading = this.#read('Pod', pod, mark, () => readPod(pod, this.#options.translation));
    if (reading !== null) this.#apply(reading, mark);
  }

  setRequest(request: CapacityRequest, mark: number): void {
    const read = () => readRequest(request, this.#options.translation);
    const reading = this.#read('CapacityRequest', request, mark, read);
    if (reading !== null) this.#apply(reading, mark);
  }

  removePod(pod: Pod): void {
    this.unreadable.forget(pod.metadata.uid);
    this.#removeUid(uidOf('Pod', pod));
  }

  removeRequest(request: CapacityRequest): void {
    this.unreadable.forget(request.metadata.uid);
    this.#removeUid(uidOf('CapacityRequest', request));
  }

  /** Removes the pods or requests that a complete list did not contain. */
  sweep(kind: 'Pod' | 'CapacityRequest', mark: number): void {
    this.unreadable.sweep(kind, mark);
    const wanted = kind === 'Pod' ? 0 : Flag.Request;
    for (let slot = 1; slot < this.#table.end; slot++) {
      const found = this.#table.mark[slot]!;
      if (found !== 0 && found !== mark && (this.#table.flags[slot]! & Flag.Request) === wanted)
        this.#remove(slot);
    }
  }

  setNode(node: Node): void {
    const entry = this.#nodes.entryFor(node.metadata.name);
    const labels = node.metadata.labels ?? {};
    const text = JSON.stringify(labels);
    if (entry.attributes === null || entry.labelsText !== text) {
      entry.attributes = attributesOf(labels);
      entry.labelsText = text;
      this.sawLabels(labels);
      this.#placeNode(entry);
    }
    this.#nodes.dirty.add(entry);
  }

  removeNode(name: string): void {
    const entry = this.#nodes.find(name);
    if (entry === undefined) return;
    entry.attributes = null;
    entry.labelsText = '';
    this.#placeNode(entry);
    this.#nodes.dirty.add(entry);
  }

  /** Names of the nodes that have a Node object. */
  nodeNames(): readonly string[] {
    return [...this.#nodes].filter(({ attributes }) => attributes !== null).map(({ name }) => name);
  }

  claimsListed(): void {
    if (!this.#areClaimsListed) this.claims.changeAll();
    this.#areClaimsListed = true;
  }

  /** The answer of `isManaged` for a node may have changed. */
  nodeChanged(name: string): void {
    const entry = this.#nodes.find(name);
    if (entry !== undefined) this.#nodes.dirty.add(entry);
  }

  /** Labels of a node or machine: their values are what `Gt` and `Lt` are compared with. */
  sawLabels(labels: Readonly<Record<string, string>>): void {
    for (const key of Object.keys(labels)) this.sawValue(key, labels[key]!);
  }

  sawValue(key: string, value: string): void {
    if (this.#seenValues.add(canonicalKey(key), value)) this.#areSeenValuesDirty = true;
  }

  // ---- reads

  /** Applies what was noted. Every reader calls it first. */
  settle(): void {
    this.#placeChanged();
    for (const entry of this.#nodes.dirty) {
      if (this.#nodes.askAgain(entry)) this.#placeNode(entry);
      this.#accounts.settleOverhead(entry);
    }
    // Placing pods of one node does not concern others, so nothing was added meanwhile that was not visited.
    for (const entry of this.#nodes.dirty) this.#nodes.removeIfUnused(entry);
    this.#nodes.dirty.clear();
  }

  /** Lets pending pods with several alternatives move on from one that stays short. Called before each roll-up. */
  reviewAlternatives(): void {
    if (this.alternatives.size === 0) return;
    const nowMs = this.#options.clock.now();
    const pending = new Map<string, number[]>();
    const sinceMs = new Map<string, number>();
    for (const [slot, named] of this.#named) {
      const row = this.#table.row[slot]!;
      if (row === 0 || this.#table.node[slot] !== 0) continue;
      const key = this.#resolved(slot).alternativesKey;
      if (key === null) continue;
      const slots = pending.get(key);
      if (slots === undefined) pending.set(key, [slot]);
      else slots.push(slot);
      sinceMs.set(key, Math.min(named.sinceMs, sinceMs.get(key) ?? Number.POSITIVE_INFINITY));
    }
    for (const key of this.alternatives.review(sinceMs, nowMs))
      for (const slot of pending.get(key)!) this.#place(slot);
  }

  get pods(): number {
    return this.#table.size;
  }

  *pendingPods(): Generator<PendingPod> {
    this.settle();
    for (const [slot, { namespace, name, sinceMs, remarks, misread }] of this.#named) {
      if (sinceMs === 0 || this.#table.row[slot] === 0) continue;
      const ofNamespace = this.#policyOf(this.#table.namespace[slot]!).misread;
      const row = this.rows.at(this.#table.row[slot]!);
      yield {
        namespace,
        name,
        uid: this.#table.uidOf(slot),
        unschedulableSinceMs: sinceMs,
        row: row.key,
        resources: this.#vectors.valueOf(this.#table.vector[slot]!),
        remarks: [...misread, ...ofNamespace, ...remarks, ...this.#resolved(slot).remarks],
      };
    }
  }

  /** Pods and requests that would count but for a problem of their own, and those that cannot be read. */
  *uncounted(): Generator<UncountedObject> {
    this.settle();
    yield* this.unreadable.values();
    for (const [slot, named] of this.#named) {
      const problem = this.#problemOf(slot);
      const reason = problem === null ? this.#misreadOptIn(slot, named) : problem;
      if (reason === null || (problem !== null && !this.#wouldCount(slot))) continue;
      const { namespace, name } = named;
      const isRequest = (this.#table.flags[slot]! & Flag.Request) !== 0;
      const uid = this.#table.uidOf(slot).replace(/^request:/, '');
      // One reason for each object, or its Events would take turns.
      if (this.unreadable.has(uid)) continue;
      const kind = isRequest ? 'CapacityRequest' : 'Pod';
      yield { kind, namespace, name, uid, problem: reason, isUnreadable: false };
    }
  }

  /** Why a pod that waits has not opted in, if that may be a slip of the pen. */
  #misreadOptIn(slot: number, { sinceMs, misread }: Named): string | null {
    if (sinceMs === 0 || this.#table.row[slot] !== 0) return null;
    const flags = this.#table.flags[slot]!;
    const policy = this.#policyOf(this.#table.namespace[slot]!);
    if ((flags & Flag.Ignored) !== 0 || policy.isIgnored || this.#isOptedIn(flags, policy)) return null;
    const remarks = [...misread, ...policy.misread];
    return remarks.length === 0 ? null : `${remarks.join(' ')} It is not counted.`;
  }

  *countedRequests(): Generator<CountedRequest> {
    this.settle();
    const table = this.#table;
    for (const slot of this.#requestNames.slots()) {
      const row = this.#rowOfRequest(slot);
      if (row === 0) continue;
      yield {
        namespace: this.#namespaceNumbers.valueOf(table.namespace[slot]!),
        name: this.#requestNames.nameOf(slot),
        uid: table.uidOf(slot).replace(/^request:/, ''),
        row: this.rows.at(row).key,
      };
    }
  }

  useOf(nodeName: string): NodeUse | null {
    const entry = this.#nodes.find(nodeName);
    if (entry === undefined || entry.attributes === null) return null;
    if (entry.use?.budgets !== this.budgets.version)
      entry.use = { counts: this.#accounts.useOf(entry), budgets: this.budgets.version };
    return entry.use!.counts;
  }

  podsIn(key: RowKey): number {
    this.settle();
    return this.rows.find(key)?.pods ?? 0;
  }

  /** CapacityRequests that are counted, themselves or through their pod, and whose acknowledgement is due. */
  takeUnacknowledged(): readonly RequestName[] {
    const taken: RequestName[] = [];
    const { flags } = this.#table;
    const nowMs = this.#options.clock.now();
    for (const [slot, { namespace, name }] of this.#named) {
      if ((flags[slot]! & (Flag.Request | Flag.Acknowledged)) !== Flag.Request) continue;
      if (this.#rowOfRequest(slot) === 0 || !this.#acknowledgements.take(slot, nowMs)) continue;
      taken.push({ namespace, name });
    }
    return taken;
  }

  /** This replica leads from now on; nothing that an earlier term returned is under way. */
  newTerm(): void {
    this.#acknowledgements.newTerm();
  }

  /** Row that a CapacityRequest counts for, itself or through its pod; 0: none. Slot 0, which is no pod, has none. */
  #rowOfRequest(slot: number): number {
    const { row, owner } = this.#table;
    return row[slot]! || row[owner[slot]!]!;
  }

  // ---- writing the table

  /** Null if the object cannot be read: what is known of it stays. */
  #read(
    kind: 'Pod' | 'CapacityRequest',
    object: Pod | CapacityRequest,
    mark: number,
    read: () => PodReading,
  ): PodReading | null {
    try {
      const reading = read();
      this.unreadable.forget(object.metadata.uid);
      return reading;
    } catch (error) {
      const slot = object.metadata === undefined ? 0 : this.#table.find(uidOf(kind, object));
      if (slot !== 0) this.#table.mark[slot] = mark;
      this.unreadable.add(kind, object, error, { isKnown: slot !== 0, mark });
      return null;
    }
  }

  #apply(reading: PodReading, mark: number): void {
    const table = this.#table;
    const known = table.find(reading.uid);
    const slot = known === 0 ? table.add(reading.uid, mark) : known;
    table.mark[slot] = mark;
    const { asked, namespace } = reading;
    const vector = asked === null ? 0 : this.#vectors.numberOf(asked.resourcesText, () => asked.resources);
    const before = table.flags[slot]!;
    const isVectorChanged = table.vector[slot] !== vector;
    if (isVectorChanged && table.row[slot] !== 0) this.#uncount(slot);
    if (isVectorChanged && ((before | reading.flags) & Flag.Overhead) !== 0) this.#touchNode(slot);
    const shape = asked === null ? 0 : this.#shapes.numberOf(asked.shapeText, asked.shape);
    replace(this.#vectors, table.vector, slot, vector);
    replace(this.#shapes.interned, table.shape, slot, shape);
    replace(this.claims.sets, table.claims, slot, this.claims.setOf(namespace, reading.claims));
    replace(
      this.#namespaceNumbers,
      table.namespace,
      slot,
      this.#namespaceNumbers.numberOf(namespace, () => namespace),
    );
    const isRequest = (reading.flags & Flag.Request) !== 0;
    if (isRequest) this.#requestNames.set(slot, reading.name);
    const labels = asked === null || isRequest ? 0 : this.budgets.setOf(namespace, reading.labels);
    if (table.labels[slot] !== labels) this.#touchNode(slot);
    replace(this.budgets.sets, table.labels, slot, labels);
    table.flags[slot] = reading.flags;
    if ((reading.flags & Flag.Acknowledged) !== 0) this.#acknowledgements.forget(slot);
    if (before !== table.flags[slot]) this.#touchNode(slot);
    this.#moveTo(slot, reading.nodeName);
    if (isRequest) this.#owners.attach(slot, reading.owner);
    else if (known === 0) this.#owners.adopt(slot, reading.uid);
    this.#name(slot, reading);
    const wasCounted = known !== 0 && table.row[slot] !== 0;
    this.#place(slot);
    if (!wasCounted && table.row[slot] !== 0 && table.node[slot] === 0) this.#options.onWaiting?.();
  }

  #name(slot: number, { namespace, name, sinceMs, asked, flags, nodeName }: PodReading): void {
    const isWaiting = sinceMs !== 0 && nodeName === '' && (flags & (Flag.Terminating | Flag.Overhead)) === 0;
    const isUnacknowledged = (this.#table.flags[slot]! & (Flag.Request | Flag.Acknowledged)) === Flag.Request;
    const problem = asked?.problem ?? null;
    if (!isWaiting && !isUnacknowledged && problem === null) this.#named.delete(slot);
    else
      this.#named.set(slot, {
        namespace,
        name,
        sinceMs: isWaiting ? sinceMs : 0,
        remarks: asked?.remarks ?? NO_REMARKS,
        misread: asked?.misread ?? NO_REMARKS,
        problem,
      });
  }

  #removeUid(uid: string): void {
    const slot = this.#table.find(uid);
    if (slot !== 0) this.#remove(slot);
  }

  #remove(slot: number): void {
    const table = this.#table;
    if (table.row[slot] !== 0) this.#uncount(slot);
    this.#moveTo(slot, '');
    if ((table.flags[slot]! & Flag.Request) !== 0) this.#owners.detach(slot);
    else for (const request of this.#owners.abandon(slot)) this.#place(request);
    this.#named.delete(slot);
    this.#requestNames.remove(slot);
    this.#acknowledgements.forget(slot);
    this.#vectors.drop(table.vector[slot]!);
    this.#shapes.interned.drop(table.shape[slot]!);
    this.claims.sets.drop(table.claims[slot]!);
    this.#namespaceNumbers.drop(table.namespace[slot]!);
    this.budgets.sets.drop(table.labels[slot]!);
    table.remove(slot);
  }

  #moveTo(slot: number, nodeName: string): void {
    const table = this.#table;
    const before = table.node[slot]!;
    if (before === 0 ? nodeName === '' : this.#nodes.at(before).name === nodeName) return;
    if (before !== 0) {
      const entry = this.#nodes.at(before);
      entry.first = table.unlink(slot, entry.first);
      this.#touch(entry);
    }
    table.node[slot] = 0;
    if (nodeName === '') return;
    const entry = this.#nodes.entryFor(nodeName);
    table.node[slot] = entry.number;
    entry.first = table.link(slot, entry.first);
    this.#touch(entry);
  }

  #touchNode(slot: number): void {
    const node = this.#table.node[slot]!;
    if (node !== 0) this.#touch(this.#nodes.at(node));
  }

  #touch(entry: NodeEntry): void {
    entry.use = null;
    this.#nodes.dirty.add(entry);
  }

  // ---- which row

  /** Counts a pod for the row that it belongs to now. */
  #place(slot: number): void {
    const table = this.#table;
    const row = this.#rowFor(slot);
    const before = table.row[slot]!;
    if ((row?.number ?? 0) !== before) {
      if (before !== 0) this.#uncount(slot);
      if (row !== null) this.#countFor(slot, row);
    }
    if ((table.flags[slot]! & Flag.Request) !== 0) return;
    for (let request = table.request[slot]!; request !== 0; request = table.request[request]!)
      this.#place(request);
  }

  #countFor(slot: number, row: Row): void {
    const vector = this.#table.vector[slot]!;
    row.add(vector, this.#vectors.valueOf(vector));
    this.#table.row[slot] = row.number;
    this.#touchNode(slot);
  }

  #uncount(slot: number): void {
    const row = this.rows.at(this.#table.row[slot]!);
    const vector = this.#table.vector[slot]!;
    row.subtract(vector, this.#vectors.valueOf(vector));
    this.#table.row[slot] = 0;
    this.rows.removeIfEmpty(row);
    this.#touchNode(slot);
  }

  #rowFor(slot: number): Row | null {
    if (!this.#wouldCount(slot) || this.#ownProblem(slot) !== null) return null;
    const resolved = this.#resolved(slot);
    if (resolved.problem !== null) return null;
    const index = resolved.alternativesKey === null ? 0 : this.#alternativeOf(slot, resolved);
    const known = resolved.rows[index];
    if (known !== undefined && !known.isRemoved) return known;
    const row = this.rows.rowFor(resolved.profiles[index]!, resolved.group);
    resolved.rows[index] = row;
    return row;
  }

  /** Whether the pod counts, if it has no problem of its own. */
  #wouldCount(slot: number): boolean {
    const { flags, node, namespace, owner } = this.#table;
    const each = flags[slot]!;
    if ((each & (NEVER_COUNTS & ~Flag.Quarantined)) !== 0) return false;
    const policy = this.#policyOf(namespace[slot]!);
    if ((each & Flag.Ignored) !== 0 || policy.isIgnored) return false;
    if ((each & Flag.Request) !== 0) return owner[slot] === 0 || this.#leavesRequests(owner[slot]!);
    if (node[slot] !== 0) return this.#nodes.at(node[slot]!).isManaged;
    return (each & Flag.Unschedulable) !== 0 && this.#isOptedIn(each, policy);
  }

  #policyOf(namespace: number): NamespacePolicy {
    return this.namespaces.get(this.#namespaceNumbers.valueOf(namespace)) ?? NO_POLICY;
  }

  #isOptedIn(flags: number, policy: NamespacePolicy): boolean {
    if (this.#options.mode === 'all' || (flags & Flag.OptedIn) !== 0) return true;
    return policy.isOptedIn && (flags & Flag.OptedOut) === 0;
  }

  /**
   * Whether a pod leaves it to its CapacityRequests to be counted: only while it waits and does not count itself, such as a
   * pod behind a scheduling gate whose queue has asked for its capacity in advance. One that has not opted in does not:
   * another autoscaler serves it.
   */
  #leavesRequests(pod: number): boolean {
    const { flags, row, node, namespace } = this.#table;
    if (row[pod] !== 0 || node[pod] !== 0 || (flags[pod]! & (NEVER_COUNTS | Flag.Ignored)) !== 0)
      return false;
    return this.#isOptedIn(flags[pod]!, this.#policyOf(namespace[pod]!));
  }

  #problemOf(slot: number): string | null {
    return this.#ownProblem(slot) ?? this.#resolved(slot).problem;
  }

  /** A problem of the pod that other pods of its shape do not have. */
  #ownProblem(slot: number): string | null {
    const { flags, claims, node } = this.#table;
    if ((flags[slot]! & Flag.Quarantined) !== 0)
      return this.#named.get(slot)?.problem ?? 'Its requests cannot be counted.';
    const set = claims[slot]!;
    if (set !== 0 && node[slot] === 0 && this.#areClaimsListed) {
      const missing = this.claims.missingOf(set);
      if (missing !== undefined) return `It waits for the claim ${missing}, which does not exist.`;
    }
    return null;
  }

  #resolved(slot: number): Resolved {
    const { shape, claims } = this.#table;
    const set = claims[slot]!;
    const { text, volumes } = set === 0 ? NO_VOLUMES : this.claims.termsOf(set);
    return this.#shapes.resolve(shape[slot]!, text, volumes);
  }

  /** A pod that runs counts for the alternative that its node meets; one that waits, for the one that is tried now. */
  #alternativeOf(slot: number, { profiles, group, alternativesKey }: Resolved): number {
    const node = this.#table.node[slot]!;
    const attributes = node === 0 ? null : this.#nodes.at(node).attributes;
    if (attributes !== null) {
      const met = profiles.findIndex(({ requirements }) => meetsAll(attributes, requirements));
      if (met !== -1) return met;
    }
    if (node !== 0) return 0;
    return this.alternatives.current(alternativesKey!, profiles, group, this.#options.clock.now());
  }

  #priorityOf(name: string | undefined): number | null {
    if (name !== undefined && name !== '') return this.priorityClasses.get(name)?.value ?? null;
    for (const { value, isDefault } of this.priorityClasses.values()) if (isDefault) return value;
    return 0;
  }

  // ---- what concerns many pods

  #placeChanged(): void {
    const claims = this.claims.takeChanged();
    const shapes = new Set<number>();
    if (this.#areSeenValuesDirty) for (const number of this.#shapes.forgetSeenValues()) shapes.add(number);
    if (this.#arePrioritiesDirty) for (const number of this.#shapes.forgetPriorities()) shapes.add(number);
    const namespaces = new Set([...this.#dirtyNamespaces].map((name) => this.#namespaceNumbers.find(name)));
    namespaces.delete(0);
    this.#areSeenValuesDirty = this.#arePrioritiesDirty = false;
    this.#dirtyNamespaces.clear();
    if (claims.size + shapes.size + namespaces.size === 0) return;
    const table = this.#table;
    for (let slot = 1; slot < table.end; slot++) {
      if (table.mark[slot] === 0) continue;
      if (
        namespaces.has(table.namespace[slot]!) ||
        shapes.has(table.shape[slot]!) ||
        claims.has(table.claims[slot]!)
      )
        this.#place(slot);
    }
  }

  #placeNode(entry: NodeEntry): void {
    for (let slot = entry.first; slot !== 0; slot = this.#table.nextOnNode[slot]!) this.#place(slot);
  }
}

function replace<T>(interner: CountedInterner<T>, column: Uint32Array, slot: number, number: number): void {
  const before = column[slot]!;
  if (before === number) return;
  interner.retain(number);
  interner.drop(before);
  column[slot] = number;
}
