// What the operator does while this replica leads: nodes, drains, verdicts, episodes, and the acknowledgement of
// CapacityRequests. One object for each term, since the parts read what is written at their start and cannot resume. Made by
// cluster-parts.ts.

import type { BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { ExtraNeed, RequestName, Rollup } from '../demand/contract.ts';
import type { Demand } from '../demand/demand.ts';
import { Drains } from '../drain/drains.ts';
import { EpisodeStore } from '../episodes/episode.ts';
import { Episodes } from '../episodes/episodes.ts';
import { EventRecorder } from '../kube/index.ts';
import type { EventSink } from '../nodes/contract.ts';
import { KeyedWrites } from '../nodes/keyed-writes.ts';
import type { NodeFactTracker } from '../nodes/node-facts.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import { Nodes } from '../nodes/nodes.ts';
import { capacityRequestPath } from '../nodes/paths.ts';
import { Verdicts } from '../verdicts/verdicts.ts';
import type { PartContext } from './parts.ts';

const CONTROLLER = 'bigfleet.lucy.sh/operator';
/** Between two looks at stuck pods, at most; a tenth of the time that makes a pod stuck. */
const LONGEST_TICK_MS = 10_000;
/** Roll-ups whose acknowledgement is awaited. */
const MAX_AWAITED = 100;

export interface LeadContext extends PartContext {
  readonly demand: Demand;
  readonly table: NodeTable;
  readonly facts: NodeFactTracker;
  readonly refreshFacts: () => void;
  /** Whether the picture of the cluster is complete. */
  readonly isCurrent: () => boolean;
}

export class LeadTerm {
  readonly nodes: Nodes;
  readonly drains: Drains;
  readonly verdicts: Verdicts;
  readonly #episodes: Episodes;
  readonly #context: LeadContext;
  readonly #recorder: EventRecorder;
  readonly #writes: KeyedWrites;
  /** CapacityRequests by the roll-up that has them for the first time, oldest first. */
  readonly #awaited: { readonly timestampUnixNanos: bigint; readonly requests: readonly RequestName[] }[] =
    [];
  #isReady = false;
  #isStopped = false;
  #cancelTick = () => {};

  constructor(context: LeadContext) {
    this.#context = context;
    const { writer: kube, clock, link, log, metrics, table, settings, namespace, demand } = context;
    this.#recorder = new EventRecorder({
      client: kube,
      controller: CONTROLLER,
      instance: process.env['POD_NAME'] ?? settings.cluster,
      clock,
    });
    const events = sinkOf(this.#recorder);
    const shared = { kube, clock, events, log, metrics };
    this.#writes = new KeyedWrites({ clock, log, metrics });
    this.nodes = new Nodes({
      ...shared,
      link,
      table,
      joinTimeoutMs: settings.nodes.joinTimeout,
      taintRules: settings.demand.taints,
      isDemanded: (fingerprint) => this.verdicts.table.hasProfile(fingerprint),
    });
    this.drains = new Drains({
      ...shared,
      kube: context.urgentWriter,
      link,
      table,
      stateOf: (machine) => this.nodes.machines.currentState(machine),
      setDraining: (machine, isDraining) => this.nodes.upcoming.setDraining(machine, isDraining),
      settings: { maxReclaimMs: settings.nodes.reclaimTimeout },
    });
    this.verdicts = new Verdicts({
      ...shared,
      cluster: settings.cluster,
      namespace,
      self: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
      pods: demand,
      requests: () => demand.countedRequests(),
      uncounted: () => demand.uncounted(),
      rowAt: (needIndex, timestampUnixNanos) => demand.rowAt(needIndex, timestampUnixNanos),
      episodes: () => this.#episodes.view(),
    });
    this.#episodes = new Episodes({
      ...shared,
      store: new EpisodeStore(kube, namespace),
      link,
      pods: demand,
      verdicts: this.verdicts.table,
      emptySinceMs: (machine) => context.facts.emptySinceMs(machine),
      isCurrent: context.isCurrent,
      settings: {
        stuckMs: settings.episodes.stuckAfter,
        emptyMs: settings.episodes.emptyFor,
        maxOpen: settings.episodes.maxOpen,
        maxMachines: settings.episodes.maxMachines,
      },
    });
    this.nodes.onResynced(() => this.drains.resynced());
    this.nodes.onMachineGone((machine) => this.drains.machineUnreported(machine));
  }

  /** Whether everything that an earlier leader wrote is known. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Rejects if the API server does not answer. The session begins after it. */
  async start(): Promise<void> {
    await Promise.all([this.nodes.start(), this.#episodes.restore()]);
    if (this.#isStopped) return;
    this.drains.start();
    this.verdicts.start();
    this.#isReady = true;
    this.#tick();
  }

  stop(): void {
    this.#isStopped = true;
    this.#isReady = false;
    this.#cancelTick();
    this.nodes.stop();
    this.drains.stop();
    this.verdicts.stop();
    this.#writes.stop();
    this.#recorder.stop();
  }

  get pendingWrites(): number {
    return this.nodes.pendingWrites + this.#writes.pending;
  }

  connected(): void {
    this.nodes.connected();
    this.drains.connected();
  }

  disconnected(): void {
    this.nodes.disconnected();
    this.drains.disconnected();
    this.verdicts.disconnected();
  }

  extraNeeds(): readonly ExtraNeed[] {
    return this.#episodes.extraNeeds();
  }

  bootstrapRequested(request: BootstrapRequest): void {
    this.nodes.bootstrapRequested(request);
  }

  /** A roll-up is about to be sent. */
  sent({ timestampUnixNanos, acknowledge }: Rollup): void {
    if (acknowledge.length === 0) return;
    this.#awaited.push({ timestampUnixNanos, requests: acknowledge });
    // A shard that acknowledges nothing must not make the list grow: the requests were part of what was sent.
    if (this.#awaited.length > MAX_AWAITED) this.#acknowledge(this.#awaited.shift()!.requests);
  }

  /** The shard has this roll-up, and all earlier ones. */
  acknowledged(timestampUnixNanos: bigint): void {
    while (this.#awaited.length > 0 && this.#awaited[0]!.timestampUnixNanos <= timestampUnixNanos)
      this.#acknowledge(this.#awaited.shift()!.requests);
  }

  #acknowledge(requests: readonly RequestName[]): void {
    const { writer, clock, metrics } = this.#context;
    const startedMs = clock.now();
    for (const { namespace, name } of requests) {
      this.#writes.submit(`acknowledge/${namespace}/${name}`, async () => {
        const acknowledgedAt = new Date(clock.now()).toISOString();
        const path = `${capacityRequestPath(namespace, name)}/status`;
        await writer.patch(path, 'merge', { status: { phase: 'Acknowledged', acknowledgedAt } });
        metrics.count('bigfleet_operator_acknowledged_total');
        metrics.acknowledgeSeconds.observe((clock.now() - startedMs) / 1000);
      });
    }
  }

  #tick(): void {
    const { clock, settings } = this.#context;
    const everyMs = Math.min(LONGEST_TICK_MS, settings.episodes.stuckAfter / 10);
    this.#cancelTick = clock.after(everyMs, () => {
      this.#context.refreshFacts();
      void this.#episodes.tick();
      this.#tick();
    });
  }
}

function sinkOf(recorder: EventRecorder): EventSink {
  return {
    event: (regarding, type, reason, note) =>
      recorder.record({ regarding, type, reason, action: reason, note }),
  };
}
