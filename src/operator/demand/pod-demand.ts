// The demand of the cluster, kept up to date by pod events: which pods count and for which row. Every event adjusts the sums
// of the rows concerned; what concerns many pods at once (namespaces, claims, values seen, nodes) is noted and applied
// before the next read, in `settle`. The reflectors feed it, rollup.ts and the views read it.

import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import type { CapacityRequest, Node, Pod } from '../kube/objects.ts';
import type { TranslationSettings } from '../pods/settings.ts';
import { Alternatives } from './alternatives.ts';
import { Budgets } from './budgets.ts';
import { Claims } from './claims.ts';
import { ClusterPolicies } from './cluster-policies.ts';
import type {
  CountedPod,
  CountedRequest,
  NodeUse,
  PendingPod,
  RequestName,
  RowKey,
  UncountedObject,
} from './contract.ts';
import { DaemonSets } from './daemon-sets.ts';
import { DemandReports } from './demand-reports.ts';
import { NodeAccounts } from './node-accounts.ts';
import { attributesOf, type NodeEntry, Nodes } from './nodes.ts';
import { type PodReading, readPod, readRequest, uidOf } from './pod-reading.ts';
import { PodRecords } from './pod-records.ts';
import type { PodTable } from './pod-table.ts';
import { RowChoice } from './row-choice.ts';
import { type Row, Rows } from './rows.ts';
import { Shapes } from './shapes.ts';
import { Flag } from './standing.ts';
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

export class PodDemand {
  readonly rows = new Rows();
  readonly claims = new Claims();
  readonly budgets = new Budgets();
  readonly daemonSets: DaemonSets;
  readonly alternatives: Alternatives;
  readonly policies: ClusterPolicies;
  readonly unreadable: UnreadableObjects;
  readonly #options: DemandOptions;
  readonly #shapes: Shapes;
  readonly #records: PodRecords;
  readonly #table: PodTable;
  readonly #nodes: Nodes;
  readonly #accounts: NodeAccounts;
  readonly #choice: RowChoice;
  readonly #reports: DemandReports;

  constructor(options: DemandOptions) {
    this.#options = options;
    const { translation, clock, mode, alternativePatienceMs: patienceMs, joinTimeoutMs } = options;
    const policies = new ClusterPolicies(translation.knownValues);
    const shapes = new Shapes({
      settings: translation,
      seenValues: (key) => policies.seenValues(key),
      priorityOfClass: (name) => policies.priorityOf(name),
    });
    const { rows, claims, budgets } = this;
    const records = new PodRecords({ shapes, claims, budgets });
    const nodes = new Nodes(options.isManaged);
    const alternatives = new Alternatives({ patienceMs, joinTimeoutMs });
    const unreadable = new UnreadableObjects(clock, options.log ?? (() => {}));
    const parts = { records, nodes, rows, shapes, claims, policies, alternatives, clock };
    const choice = new RowChoice({ ...parts, mode });
    this.policies = policies;
    this.alternatives = alternatives;
    this.unreadable = unreadable;
    this.daemonSets = new DaemonSets(translation);
    this.#shapes = shapes;
    this.#records = records;
    this.#table = records.table;
    this.#nodes = nodes;
    this.#accounts = new NodeAccounts(records.table, rows, records.vectors, budgets);
    this.#choice = choice;
    this.#reports = new DemandReports({ records, rows, choice, unreadable, clock });
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
      if (entry.attributes === null) this.#accounts.useChanged(entry);
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
    this.#accounts.useChanged(entry);
    this.#placeNode(entry);
    this.#nodes.dirty.add(entry);
  }

  /** Names of the nodes that have a Node object. */
  nodeNames(): readonly string[] {
    return [...this.#nodes].filter(({ attributes }) => attributes !== null).map(({ name }) => name);
  }

  claimsListed(): void {
    if (!this.#choice.areClaimsListed) this.claims.changeAll();
    this.#choice.areClaimsListed = true;
  }

  /** The answer of `isManaged` for a node may have changed. */
  nodeChanged(name: string): void {
    const entry = this.#nodes.find(name);
    if (entry !== undefined) this.#nodes.dirty.add(entry);
  }

  /** Labels of a node or machine: their values are what `Gt` and `Lt` are compared with. */
  sawLabels(labels: Readonly<Record<string, string>>): void {
    for (const key of Object.keys(labels)) this.policies.sawValue(key, labels[key]!);
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
    for (const [slot, named] of this.#records.named) {
      const row = this.#table.row[slot]!;
      if (row === 0 || this.#table.node[slot] !== 0) continue;
      const key = this.#choice.resolved(slot).alternativesKey;
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
    yield* this.#reports.pendingPods();
  }

  *countedPods(): Generator<CountedPod> {
    this.settle();
    yield* this.#reports.countedPods();
  }

  /** Pods and requests that would count but for a problem of their own, and those that cannot be read. */
  *uncounted(): Generator<UncountedObject> {
    this.settle();
    yield* this.#reports.uncounted();
  }

  *countedRequests(): Generator<CountedRequest> {
    this.settle();
    yield* this.#reports.countedRequests();
  }

  useOf(nodeName: string): NodeUse | null {
    const entry = this.#nodes.find(nodeName);
    if (entry === undefined || entry.attributes === null) return null;
    this.#settleBudgets();
    return entry.use;
  }

  /** Names of the nodes for which the answer of `useOf` may have changed since the last call. */
  takeChangedUse(): ReadonlySet<string> {
    this.#settleBudgets();
    return this.#accounts.takeChangedUse();
  }

  podsIn(key: RowKey): number {
    this.settle();
    return this.rows.find(key)?.pods ?? 0;
  }

  /** CapacityRequests that are counted, themselves or through their pod, and whose acknowledgement is due. */
  takeUnacknowledged(): readonly RequestName[] {
    return this.#reports.takeUnacknowledged();
  }

  /** This replica leads from now on; nothing that an earlier term returned is under way. */
  newTerm(): void {
    this.#reports.acknowledgements.newTerm();
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
    const records = this.#records;
    const known = table.find(reading.uid);
    const slot = known === 0 ? table.add(reading.uid, mark) : known;
    table.mark[slot] = mark;
    const wasOverhead = (table.flags[slot]! & Flag.Overhead) !== 0;
    const vector = records.vectorOf(reading);
    const isVectorChanged = table.vector[slot] !== vector;
    if (isVectorChanged && table.row[slot] !== 0) this.#uncount(slot);
    const isChanged = records.write(slot, reading, vector);
    const { flags } = reading;
    if (isChanged || (isVectorChanged && (wasOverhead || (flags & Flag.Overhead) !== 0)))
      this.#touchNode(slot);
    if ((flags & Flag.Acknowledged) !== 0) this.#reports.acknowledgements.forget(slot);
    this.#moveTo(slot, reading.nodeName);
    if (table.node[slot] !== 0) this.#accounts.countUse(slot, this.#nodes.at(table.node[slot]!));
    if ((flags & Flag.Request) !== 0) records.owners.attach(slot, reading.owner);
    else if (known === 0) records.owners.adopt(slot, reading.uid);
    records.writeName(slot, reading);
    const wasCounted = known !== 0 && table.row[slot] !== 0;
    this.#place(slot);
    if (!wasCounted && table.row[slot] !== 0 && table.node[slot] === 0) this.#options.onWaiting?.();
  }

  #removeUid(uid: string): void {
    const slot = this.#table.find(uid);
    if (slot !== 0) this.#remove(slot);
  }

  #remove(slot: number): void {
    const table = this.#table;
    if (table.row[slot] !== 0) this.#uncount(slot);
    this.#moveTo(slot, '');
    const { owners } = this.#records;
    if ((table.flags[slot]! & Flag.Request) !== 0) owners.detach(slot);
    else for (const request of owners.abandon(slot)) this.#place(request);
    this.#reports.acknowledgements.forget(slot);
    this.#records.remove(slot);
  }

  #moveTo(slot: number, nodeName: string): void {
    const table = this.#table;
    const before = table.node[slot]!;
    if (before === 0 ? nodeName === '' : this.#nodes.at(before).name === nodeName) return;
    if (before !== 0) {
      const entry = this.#nodes.at(before);
      this.#accounts.uncountUse(slot, entry);
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
    this.#nodes.dirty.add(entry);
  }

  // ---- which row

  /** Counts a pod for the row that it belongs to now. */
  #place(slot: number): void {
    const table = this.#table;
    const row = this.#choice.rowFor(slot);
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
    row.add(vector, this.#records.vectors.valueOf(vector));
    this.#table.row[slot] = row.number;
    this.#touchNode(slot);
  }

  #uncount(slot: number): void {
    const row = this.rows.at(this.#table.row[slot]!);
    const vector = this.#table.vector[slot]!;
    row.subtract(vector, this.#records.vectors.valueOf(vector));
    this.#table.row[slot] = 0;
    this.rows.removeIfEmpty(row);
    this.#touchNode(slot);
  }

  // ---- what concerns many pods

  #placeChanged(): void {
    const claims = this.claims.takeChanged();
    const changed = this.policies.takeChanged();
    const shapes = new Set<number>();
    if (changed.hasSeenValues) for (const number of this.#shapes.forgetSeenValues()) shapes.add(number);
    if (changed.hasPriorities) for (const number of this.#shapes.forgetPriorities()) shapes.add(number);
    const numbers = this.#records.namespaces;
    const namespaces = new Set([...changed.namespaces].map((name) => numbers.find(name)));
    namespaces.delete(0);
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

  #settleBudgets(): void {
    const changed = this.budgets.takeChanged();
    if (changed.size === 0) return;
    const { labels, node, end } = this.#table;
    for (let slot = 1; slot < end; slot++)
      if (node[slot] !== 0 && changed.has(labels[slot]!))
        this.#accounts.countUse(slot, this.#nodes.at(node[slot]!));
  }

  #placeNode(entry: NodeEntry): void {
    for (let slot = entry.first; slot !== 0; slot = this.#table.nextOnNode[slot]!) this.#place(slot);
  }
}
