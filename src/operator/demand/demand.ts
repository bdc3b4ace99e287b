// The demand part of the operator as one object: consumers for the reflectors, handlers for what the shard says, and the
// views that the session, the drains and the Events read. The operator's process makes one and connects it.

import { isOperator, NO_RESOURCES, type Requirement, type ResourceVector } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type {
  AvailableCapacityUpdate,
  NeedVerdicts,
  NodeStateUpdate,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { CapacityRequest, KubeObject, Node, Pod } from '../kube/objects.ts';
import type { ObjectConsumer, ReflectorState } from '../kube/reflector.ts';
import type {
  CountedPod,
  CountedRequest,
  NodeUse,
  PendingPod,
  PodsView,
  Rollup,
  RollupParts,
  RollupSource,
  RowKey,
  UncountedObject,
} from './contract.ts';
import { type DemandOptions, PodDemand } from './pod-demand.ts';
import { RollupBuilder } from './rollup.ts';
import { type WatchedResource, WatchGate } from './watch-gate.ts';

export class Demand implements PodsView, RollupSource {
  readonly #demand: PodDemand;
  readonly #gate = new WatchGate();
  readonly #rollups: RollupBuilder;
  readonly #onWaiting: () => void;
  readonly #clock: Clock;
  /** By resource: what its reflector feeds. */
  readonly consumers;

  constructor(clusterId: string, options: DemandOptions) {
    const demand = new PodDemand(options);
    this.#demand = demand;
    this.#clock = options.clock;
    this.#onWaiting = options.onWaiting ?? (() => {});
    this.#rollups = new RollupBuilder(clusterId, demand, this.#gate);
    const { claims } = demand;
    this.consumers = {
      pods: this.#gated('pods', podConsumer(demand)),
      capacityrequests: this.#gated('capacityrequests', requestConsumer(demand)),
      nodes: this.#gated('nodes', nodeConsumer(demand)),
      namespaces: this.#gated('namespaces', demand.policies.namespaces),
      persistentvolumeclaims: this.#gated('persistentvolumeclaims', claims.claims, () => {
        demand.claimsListed();
      }),
      persistentvolumes: this.#gated('persistentvolumes', claims.volumes),
      daemonsets: this.#gated('daemonsets', demand.daemonSets.daemons),
      priorityclasses: this.#gated('priorityclasses', demand.policies.priorityClasses),
      poddisruptionbudgets: this.#gated('poddisruptionbudgets', demand.budgets.budgets),
    };
  }

  /** Registers the reflector that feeds a consumer, which knows whether its watch is lost. */
  observe(resource: WatchedResource, state: ReflectorState): void {
    this.#gate.observe(resource, state);
  }

  /** Tells the gate when a list begins and ends. An object that cannot be read must not end the watch. */
  #gated<T extends KubeObject>(
    resource: WatchedResource,
    consumer: ObjectConsumer<T>,
    listed: () => void = () => {},
  ): ObjectConsumer<T> {
    const guarded = (object: T, change: () => void): void => {
      try {
        change();
      } catch (error) {
        this.#demand.unreadable.defect(resource, object, error);
      }
    };
    return {
      listing: () => {
        this.#gate.listing(resource);
        consumer.listing();
      },
      set: (object) => guarded(object, () => consumer.set(object)),
      remove: (object) => guarded(object, () => consumer.remove(object)),
      listed: () => {
        consumer.listed();
        listed();
        this.#gate.listed(resource);
        // What the session waits for, or what it could not report during the list.
        if (this.problem === null) this.#onWaiting();
      },
    };
  }

  // ---- what other parts tell

  /** A node was tied to a machine, or is no longer. */
  nodeChanged(nodeName: string): void {
    this.#demand.nodeChanged(nodeName);
  }

  nodeStateUpdate({ labels }: Pick<NodeStateUpdate, 'labels'>): void {
    for (const [key, value] of labels) this.#demand.policies.sawValue(key, value);
  }

  availableCapacity(
    update: Pick<AvailableCapacityUpdate, 'requirements' | 'availableCount' | 'costPerHour'>,
  ): void {
    const requirements: Requirement[] = [];
    for (const { key, operator, values } of update.requirements) {
      if (!isOperator(operator)) return;
      requirements.push({ key, operator, values });
      for (const value of values) this.#demand.policies.sawValue(key, value);
    }
    const { availableCount: count, costPerHour } = update;
    this.#demand.alternatives.published({ requirements, count, costPerHour }, this.#clock.now());
  }

  needVerdicts({
    cycle,
    full,
    verdicts,
  }: {
    readonly cycle: bigint;
    readonly full: boolean;
    readonly verdicts: readonly Pick<
      NeedVerdicts['verdicts'][number],
      'profileFingerprint' | 'group' | 'satisfied' | 'removed'
    >[];
  }): void {
    const { alternatives } = this.#demand;
    const nowMs = this.#clock.now();
    alternatives.verdictsBegin(full, cycle);
    for (const { profileFingerprint: fingerprint, group, satisfied, removed } of verdicts)
      alternatives.verdict({ fingerprint, group }, removed ? null : satisfied, nowMs);
  }

  /** A session has begun, with a shard that sends verdicts or with one that does not. */
  connected(hasVerdicts: boolean): void {
    this.#demand.alternatives.connected(hasVerdicts, this.#clock.now());
  }

  /** The session with the shard ended: its verdicts are no longer current. */
  disconnected(): void {
    this.#demand.alternatives.disconnected();
  }

  /** This replica leads from now on: what roll-ups of an earlier term had is to be acknowledged again. */
  newTerm(): void {
    this.#demand.newTerm();
  }

  // ---- views

  build(timestampUnixNanos: bigint, parts: RollupParts): Rollup | null {
    return this.#rollups.build(timestampUnixNanos, parts);
  }

  get problem(): string | null {
    return this.#rollups.problem;
  }

  pendingPods(): Iterable<PendingPod> {
    return this.#demand.pendingPods();
  }

  /** Pods that count or would but for a problem, running ones included. */
  countedPods(): Iterable<CountedPod> {
    return this.#demand.countedPods();
  }

  /** Requests of the DaemonSet pods on a fresh node for a row; empty for a fingerprint without a row. */
  daemonsOnFreshNode(fingerprint: string): ResourceVector {
    const { rows, daemonSets } = this.#demand;
    const profile = rows.profileOf(fingerprint);
    return profile === undefined ? NO_RESOURCES : daemonSets.onFreshNode(profile);
  }

  /** Pods and CapacityRequests that cannot be counted or read, with the reason. */
  uncounted(): Iterable<UncountedObject> {
    return this.#demand.uncounted();
  }

  /** CapacityRequests with the row that they count for, themselves or through their pod. */
  countedRequests(): Iterable<CountedRequest> {
    return this.#demand.countedRequests();
  }

  /** The row at an index of one of the last roll-ups; null if it is not known. */
  rowAt(needIndex: number, timestampUnixNanos: bigint): RowKey | null {
    return this.#rollups.rowAt(needIndex, timestampUnixNanos);
  }

  useOf(nodeName: string): NodeUse | null {
    return this.#demand.useOf(nodeName);
  }

  takeChangedUse(): ReadonlySet<string> {
    return this.#demand.takeChangedUse();
  }

  podsIn(row: RowKey): number {
    return this.#demand.podsIn(row);
  }

  /** For metrics. */
  get counts(): { readonly objects: number; readonly rows: number; readonly unreadable: number } {
    const { pods, rows, unreadable } = this.#demand;
    return { objects: pods, rows: rows.size, unreadable: unreadable.total };
  }
}

/** Marks objects with the number of the last list; a complete list removes those with an older mark. */
function podConsumer(demand: PodDemand): ObjectConsumer<Pod> {
  let mark = 1;
  return {
    listing: () => void mark++,
    set: (pod) => demand.setPod(pod, mark),
    remove: (pod) => demand.removePod(pod),
    listed: () => demand.sweep('Pod', mark),
  };
}

function requestConsumer(demand: PodDemand): ObjectConsumer<CapacityRequest> {
  let mark = 1;
  return {
    listing: () => void mark++,
    set: (request) => demand.setRequest(request, mark),
    remove: (request) => demand.removeRequest(request),
    listed: () => demand.sweep('CapacityRequest', mark),
  };
}

function nodeConsumer(demand: PodDemand): ObjectConsumer<Node> {
  let seen: Set<string> | null = null;
  return {
    listing: () => {
      seen = new Set();
    },
    set: (node) => {
      seen?.add(node.metadata.name);
      demand.setNode(node);
    },
    remove: (node) => demand.removeNode(node.metadata.name),
    listed: () => {
      for (const name of demand.nodeNames()) if (seen?.has(name) === false) demand.removeNode(name);
      seen = null;
    },
  };
}
