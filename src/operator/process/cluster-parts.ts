// Connects the parts of a cluster: reflectors feed demand and nodes from the start, also on a standby; nodes, drains,
// verdicts and episodes write, so they exist only while this replica leads and are made again for each term. Made by
// factories.ts, used by operator.ts.

import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { NodeFacts } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import type { BootstrapRequest } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { Demand } from '../demand/demand.ts';
import { drainFailedUntilMs } from '../drain/record.ts';
import {
  type KubeObject,
  type ObjectConsumer,
  pathOf,
  RESOURCES,
  Reflector,
  type ReflectorState,
  type Resource,
} from '../kube/index.ts';
import { NodeFactTracker } from '../nodes/node-facts.ts';
import { NodeTable } from '../nodes/node-table.ts';
import { RemovedNodes } from '../nodes/removed-nodes.ts';
import type { SessionHandlers } from '../session/contract.ts';
import type { OutgoingRollup } from '../session/rollup-sender.ts';
import { FirstRollup } from './first-rollup.ts';
import { type LeadContext, LeadTerm } from './lead-term.ts';
import type { ClusterParts, PartContext } from './parts.ts';

/** Before another attempt to read what an earlier leader wrote. */
const TAKE_OVER_RETRY: BackoffLimits = { baseMs: 500, maxMs: 30_000 };
/** Facts change after minutes; a standby refreshes them at the pace of roll-ups. */
const FACTS_MS = 10_000;

export class RealClusterParts implements ClusterParts {
  readonly watches: readonly { readonly resource: string; readonly state: ReflectorState }[];
  readonly handlers: Omit<SessionHandlers, 'bootstrapRequest'>;
  readonly #context: PartContext;
  readonly #demand: Demand;
  readonly #nodes = new NodeTable();
  readonly #removed: RemovedNodes;
  readonly #facts: NodeFactTracker;
  readonly #reflectors: readonly Reflector<KubeObject>[];
  readonly #budgets: ReflectorState;
  readonly #firstRollup: FirstRollup;
  #term: LeadTerm | null = null;
  #startMs = 0;
  #cancelRefresh = () => {};
  #failures = 0;
  #cancelRetry = () => {};

  constructor(context: PartContext) {
    this.#context = context;
    const { settings, clock } = context;
    const { mode, alternativePatience, ...translation } = settings.demand;
    this.#demand = new Demand(settings.cluster, {
      mode,
      translation,
      alternativePatienceMs: alternativePatience,
      joinTimeoutMs: settings.nodes.joinTimeout,
      isManaged: (nodeName) => this.#nodes.machineOf(nodeName) !== null || this.#removed.has(nodeName),
      onWaiting: () => context.link.requestRollup(),
      clock,
      log: context.log,
    });
    this.#removed = new RemovedNodes(clock, this.#nodes, (nodeName) => this.#demand.nodeChanged(nodeName));
    const { emptyAfter, budgetAfter, unprotectedAfter } = settings.nodes;
    this.#facts = new NodeFactTracker({
      clock,
      nodes: this.#nodes,
      pods: this.#demand,
      drainFailedUntilMs,
      settings: { emptyMs: emptyAfter, budgetMs: budgetAfter, unprotectedMs: unprotectedAfter },
    });
    this.#nodes.onManagedChange((nodeName) => {
      this.#demand.nodeChanged(nodeName);
      const machine = this.#nodes.machineOf(nodeName);
      if (machine !== null) context.joined(machine);
      // Pods on the node count from now on, or no longer.
      if ((this.#demand.useOf(nodeName)?.pods ?? 0) > 0) context.link.requestRollup();
    });
    this.#firstRollup = new FirstRollup(clock, () => context.link.requestRollup());
    const { consumers } = this.#demand;
    const budgets = this.#follow(
      'poddisruptionbudgets',
      RESOURCES.podDisruptionBudgets,
      consumers.poddisruptionbudgets,
    );
    this.#budgets = budgets.state;
    const followed = [
      this.#follow('pods', RESOURCES.pods, consumers.pods),
      this.#follow('nodes', RESOURCES.nodes, both(this.#nodes, consumers.nodes)),
      this.#follow('capacityrequests', RESOURCES.capacityRequests, consumers.capacityrequests),
      this.#follow('namespaces', RESOURCES.namespaces, consumers.namespaces),
      this.#follow(
        'persistentvolumeclaims',
        RESOURCES.persistentVolumeClaims,
        consumers.persistentvolumeclaims,
      ),
      this.#follow('persistentvolumes', RESOURCES.persistentVolumes, consumers.persistentvolumes),
      this.#follow('daemonsets', RESOURCES.daemonSets, consumers.daemonsets),
      this.#follow('priorityclasses', RESOURCES.priorityClasses, consumers.priorityclasses),
      budgets,
    ];
    this.#reflectors = followed.map(({ state }) => state);
    this.watches = followed;
    this.handlers = this.#handlersOf();
    context.metrics.onScrape(() => this.#scrape(followed));
  }

  start(): void {
    for (const reflector of this.#reflectors) reflector.start();
    this.#startMs = this.#context.clock.now();
    this.#refreshLater();
  }

  lead(ready: () => void): void {
    this.#failures = 0;
    this.#takeOver(ready);
  }

  rest(): void {
    this.#cancelRetry();
    this.#firstRollup.end();
    this.#term?.stop();
    this.#term = null;
  }

  stop(): void {
    this.rest();
    this.#cancelRefresh();
    this.#removed.stop();
    for (const reflector of this.#reflectors) void reflector.stop();
  }

  buildRollup(timestampUnixNanos: bigint): OutgoingRollup | null {
    const term = this.#term;
    // Without the episodes of an earlier leader the roll-up would withdraw their machines.
    if (term === null || !term.isReady || this.#firstRollup.isHeld) return null;
    const { clock } = this.#context;
    const startedMs = clock.monotonic();
    this.#refreshFacts();
    const nodeFacts = this.#facts.current;
    this.#countFacts(nodeFacts);
    const parts = { extraNeeds: term.extraNeeds(), nodeFacts };
    const listMs = clock.monotonic() - startedMs;
    const rollup = this.#demand.build(timestampUnixNanos, parts);
    if (rollup === null) return null;
    term.sent(rollup);
    return { ...rollup, listMs };
  }

  get pendingWrites(): number {
    return this.#term?.pendingWrites ?? 0;
  }

  bootstrapRequested(request: BootstrapRequest): void {
    this.#term?.bootstrapRequested(request);
  }

  /** Only from a complete picture: facts that a list in progress would correct must not be reported. */
  #refreshFacts(): void {
    const { clock, settings } = this.#context;
    if (this.#demand.problem !== null) return;
    // Without the right to read budgets there are still the other facts.
    const waitedMs = clock.now() - this.#startMs;
    if (this.#budgets.hasListed || waitedMs >= settings.nodes.budgetAfter) this.#facts.refresh();
  }

  #refreshLater(): void {
    this.#cancelRefresh = this.#context.clock.after(FACTS_MS, () => {
      this.#refreshFacts();
      this.#refreshLater();
    });
  }

  #countFacts({ inUse, empty, protected: protectedNodes }: NodeFacts): void {
    const counts = { 'in-use': inUse, empty, protected: protectedNodes };
    for (const [fact, { length }] of Object.entries(counts))
      this.#context.metrics.gauge('bigfleet_operator_nodes_reported', length, { fact });
  }

  #scrape(followed: readonly { readonly resource: string; readonly state: Reflector<KubeObject> }[]): void {
    const { metrics } = this.#context;
    const { objects, rows, unreadable } = this.#demand.counts;
    metrics.gauge('bigfleet_operator_objects', objects);
    metrics.gauge('bigfleet_operator_rows', rows);
    metrics.gauge('bigfleet_operator_objects_unreadable', unreadable);
    for (const { resource, state } of followed) {
      metrics.gauge('bigfleet_operator_watch_lists', state.counters.lists, { resource });
      metrics.gauge('bigfleet_operator_watch_failures', state.counters.failures, { resource });
    }
  }

  #follow<T extends KubeObject>(
    resource: Parameters<Demand['observe']>[0],
    { base, plural, kind, isNamespaced }: Resource,
    consumer: ObjectConsumer<T>,
  ): { readonly resource: string; readonly state: Reflector<KubeObject> } {
    const { client, clock, random, log } = this.#context;
    let problem: string | null = null;
    const reflector: Reflector<KubeObject> = new Reflector<KubeObject>({
      client,
      path: pathOf({ base, plural, kind, isNamespaced }),
      // The API server decides what a collection contains.
      consumer: consumer as ObjectConsumer<KubeObject>,
      random,
      clock,
      changed: () => {
        if (reflector.problem === problem) return;
        problem = reflector.problem;
        log(problem === null ? 'info' : 'warn', 'watch', { resource, problem });
      },
    });
    this.#demand.observe(resource, reflector);
    return { resource, state: reflector };
  }

  #leadContext(): LeadContext {
    return {
      ...this.#context,
      demand: this.#demand,
      table: this.#nodes,
      facts: this.#facts,
      refreshFacts: () => this.#refreshFacts(),
      isCurrent: () => this.#demand.problem === null,
    };
  }

  /** Reads what an earlier leader wrote, until the API server answers. */
  #takeOver(ready: () => void): void {
    const term = new LeadTerm(this.#leadContext());
    this.#term = term;
    this.#demand.newTerm();
    term.start().then(
      () => {
        if (this.#term === term) ready();
      },
      (error: unknown) => {
        if (this.#term !== term) return;
        this.#context.log('warn', 'take-over-failed', { error: String(error) });
        term.stop();
        const delayMs = backoffMs(this.#context.random, TAKE_OVER_RETRY, ++this.#failures);
        this.#cancelRetry = this.#context.clock.after(delayMs, () => this.#takeOver(ready));
      },
    );
  }

  #hasUnmanagedNodes(): boolean {
    for (const { name } of this.#nodes.all()) if (this.#nodes.machineOf(name) === null) return true;
    return false;
  }

  #handlersOf(): Omit<SessionHandlers, 'bootstrapRequest'> {
    const term = (): LeadTerm | null => this.#term;
    return {
      connected: (features) => {
        if (this.#hasUnmanagedNodes()) this.#firstRollup.hold();
        this.#demand.connected(features.has('verdicts'));
        term()?.connected();
      },
      disconnected: () => {
        this.#firstRollup.end();
        this.#demand.disconnected();
        term()?.disconnected();
      },
      reclaimInstruction: (instruction) => term()?.drains.reclaimInstruction(instruction),
      reclaimWithdrawal: (withdrawal) => term()?.drains.reclaimWithdrawal(withdrawal),
      nodeStateUpdate: (update) => {
        this.#firstRollup.reported();
        this.#demand.nodeStateUpdate(update);
        term()?.nodes.nodeStateUpdate(update);
        term()?.drains.nodeStateUpdate(update);
      },
      availableCapacity: (update) => {
        this.#demand.availableCapacity(update);
        term()?.nodes.availableCapacity(update);
      },
      needVerdicts: (verdicts) => {
        this.#demand.needVerdicts(verdicts);
        term()?.verdicts.needVerdicts(verdicts);
      },
      rollupReport: (report) => term()?.verdicts.rollupReport(report),
      rollupAcknowledged: (timestampUnixNanos) => term()?.acknowledged(timestampUnixNanos),
    };
  }
}

/** Both consumers get every object, the first one first. */
function both<T extends KubeObject>(first: ObjectConsumer<T>, second: ObjectConsumer<T>): ObjectConsumer<T> {
  return {
    listing: () => {
      first.listing();
      second.listing();
    },
    set: (object) => {
      first.set(object);
      second.set(object);
    },
    remove: (object) => {
      first.remove(object);
      second.remove(object);
    },
    listed: () => {
      first.listed();
      second.listed();
    },
  };
}
