// The decision thread of a shard: owns the ledger, decides, and tracks the outcome of decisions. Its input is events,
// its output effects. Made on its thread by process/controller-factory.ts. This file wires the parts together; each
// part documents itself, and cycles.ts runs one cycle.

import { Engine } from '../../engine/index.ts';
import { Fleet, NeedProfiles } from '../../fleet/index.ts';
import { excerpt } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Random } from '../../runtime/random.ts';
import { Actuation } from '../actuation/actuation.ts';
import { CallScheduler } from '../actuation/call-scheduler.ts';
import type { ControllerEvent, Effect } from '../events.ts';
import { Losses } from '../inventory/losses.ts';
import { MachineFactsStore } from '../inventory/machine-facts-store.ts';
import { MachineLedger } from '../inventory/machine-ledger.ts';
import { ProvidersHealth } from '../inventory/provider-health.ts';
import { Reconcile } from '../inventory/reconcile.ts';
import type { JournalLimits, JournalSink } from '../journal/format.ts';
import { Recorder } from '../journal/recorder.ts';
import { CostBreakdown } from '../telemetry/cost-breakdown.ts';
import { CostHistory } from '../telemetry/cost-history.ts';
import { DemandTally } from '../telemetry/demand-tally.ts';
import { EventLog } from '../telemetry/event-log.ts';
import { SupplyTally } from '../telemetry/machine-tally.ts';
import { ControllerMetrics } from '../telemetry/metrics.ts';
import { Observers } from '../telemetry/observers.ts';
import { OwnedPrices } from '../telemetry/owned-prices.ts';
import type {
  Answer,
  Order,
  OrderResult,
  QuestionName,
  Questions,
  SeriesPoint,
  ShardEvent,
} from '../views.ts';
import { AwaitedMachines } from './awaited-machines.ts';
import { ClusterNodeFacts } from './cluster-node-facts.ts';
import { ClusterRenewals } from './cluster-renewals.ts';
import { Cycles } from './cycles.ts';
import { EndedRows } from './ended-rows.ts';
import { Freezes } from './freezes.ts';
import { FrozenMachines } from './frozen-machines.ts';
import { Guardrails } from './guardrails.ts';
import { IncompleteDemand } from './incomplete-demand.ts';
import { MachinesOnHold } from './machines-on-hold.ts';
import { NodeReports } from './node-reports.ts';
import { NodeStateRouter } from './node-state-router.ts';
import type { ControllerOptions, ControllerStore } from './options.ts';
import { OrderedDrains } from './ordered-drains.ts';
import { carryOut, clearDemand, logOrder } from './orders.ts';
import { Answers } from './queries/answers.ts';
import { ClusterCosts } from './queries/cluster-costs.ts';
import { Series } from './queries/series.ts';
import type { ReplicaFeed } from './replica-feed.ts';
import { Retirements } from './retirements.ts';
import { Shortfalls } from './shortfalls.ts';

export interface ControllerParts {
  readonly clock: Clock;
  /** Monotonic milliseconds with an arbitrary origin, for durations. */
  readonly monotonicMs: () => number;
  readonly emit: (effect: Effect) => void;
  readonly publish: (event: ShardEvent) => void;
  /** Called when a cycle starts and when it has ended. */
  readonly onCycle?: ((isRunning: boolean) => void) | undefined;
  readonly store: ControllerStore;
  readonly options: ControllerOptions;
  /** History from earlier processes. */
  readonly past?: Past | undefined;
  /** The decision log on disk; undefined: none is written. */
  readonly journal?: { readonly sink: JournalSink; readonly limits: JournalLimits } | undefined;
}

/** History read from the journal of earlier processes, oldest first. */
export interface Past {
  readonly points: readonly SeriesPoint[];
  readonly events: readonly {
    readonly atMs: number;
    readonly event: Exclude<ShardEvent, { kind: 'cycle' }>;
  }[];
}

export interface ControllerState {
  readonly parts: ControllerParts;
  readonly startedMs: number;
  readonly ledger: MachineLedger;
  readonly machineFacts: MachineFactsStore;
  readonly scheduler: CallScheduler;
  readonly actuation: Actuation;
  readonly reconcile: Reconcile;
  readonly freezes: Freezes;
  readonly frozen: FrozenMachines;
  readonly awaited: AwaitedMachines;
  readonly guardrails: Guardrails;
  readonly shortfalls: Shortfalls;
  readonly engine: Engine;
  readonly metrics: ControllerMetrics;
  readonly profiles: NeedProfiles;
  readonly health: ProvidersHealth;
  readonly losses: Losses;
  readonly demandTally: DemandTally;
  readonly supplyTally: SupplyTally;
  readonly clusterCosts: ClusterCosts;
  readonly breakdown: CostBreakdown;
  readonly costHistory: CostHistory;
  readonly onHold: MachinesOnHold;
  readonly renewals: ClusterRenewals;
  readonly ended: EndedRows;
  readonly recorder: Recorder | null;
  readonly series: Series;
  readonly events: EventLog;
  /** By cluster. */
  readonly sessions: Map<string, number>;
  /** Clusters that have sent a roll-up since the start. */
  readonly reported: Set<string>;
  readonly incomplete: IncompleteDemand;
  readonly nodeFacts: ClusterNodeFacts;
  readonly retirements: Retirements;
  readonly drains: OrderedDrains;
  /** Not null while another thread keeps a replica of the ledger. */
  replica: ReplicaFeed | null;
  phase: 'starting' | 'running' | 'stopping' | 'fenced';
}

export class Controller {
  readonly #state: ControllerState;
  readonly #nodeStates: NodeStateRouter;
  readonly #nodeReports: NodeReports;
  readonly #cycles: Cycles;
  readonly #answers: Answers;

  constructor(parts: ControllerParts) {
    const fleet = new Fleet();
    const recorder = recorderOf(parts, fleet);
    const series = new Series();
    const events = new EventLog(parts.clock, parts.options.epoch);
    series.fill(parts.past?.points ?? [], parts.clock.now());
    events.fill(parts.past?.events ?? []);
    const recordingParts = recordingEvents({ recorder, series, events }, parts);
    this.#state = stateOf(recordingParts, fleet, { recorder, series, events }, (effect) =>
      this.#emit(effect),
    );
    // A cluster without a session gets a full set of node states when its session opens.
    const { ledger, machineFacts } = this.#state;
    this.#nodeStates = new NodeStateRouter(
      { ledger, nodeOf: (machine) => machineFacts.verdictsOn(machine).node },
      (effect) => {
        if (effect.kind !== 'node-state' || this.#state.sessions.has(effect.cluster)) parts.emit(effect);
      },
    );
    this.#nodeReports = new NodeReports(this.#state, (machine) => this.#nodeStates.send(machine));
    this.#cycles = new Cycles(this.#state);
    this.#answers = new Answers(this.#state, this.#cycles);
  }

  start(): void {
    for (const cluster of this.#state.retirements.clusters) clearDemand(this.#state, cluster);
    this.#state.reconcile.start();
    this.#cycles.start();
  }

  handle(event: ControllerEvent): void {
    const { actuation, reconcile, sessions } = this.#state;
    switch (event.kind) {
      case 'session-opened':
        sessions.set(event.cluster, event.session);
        if (this.#state.retirements.has(event.cluster)) this.#logRetired(event.cluster);
        actuation.handle(event);
        this.#nodeStates.sendAll(event.cluster);
        this.#cycles.connected(event.cluster, event.features);
        break;
      case 'session-features':
        if (sessions.get(event.cluster) !== event.session) break;
        actuation.handle(event);
        this.#cycles.connected(event.cluster, event.features);
        break;
      case 'node-reported':
        this.#nodeReports.handle(event);
        break;
      case 'session-closed':
        actuation.handle(event);
        if (sessions.get(event.cluster) !== event.session) break;
        sessions.delete(event.cluster);
        this.#cycles.disconnected(event.cluster);
        break;
      case 'bootstrap-answered':
      case 'reclaim-acked':
      case 'call-ended':
        actuation.handle(event);
        break;
      case 'list-changed':
      case 'list-gone':
      case 'list-ended':
        reconcile.handle(event);
        break;
      case 'demand':
        if (!this.#state.retirements.has(event.delta.cluster))
          this.#cycles.demand(event.delta, event.rowsSetAside);
        break;
      case 'node-facts':
        this.#state.nodeFacts.reported(event.cluster, event.facts);
        this.#cycles.soon();
        break;
      case 'ordered':
        logOrder(this.#state, event.order, event.result);
        break;
    }
  }

  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Answer<Q> {
    return this.#answers.to(name, ask);
  }

  order(order: Order): OrderResult {
    const result = carryOut(this.#state, order);
    if (result.isDone) this.#cycles.soon();
    return result;
  }

  /** Starts nothing new and withdraws actions that were not sent to a provider. */
  stop(): void {
    const state = this.#state;
    if (state.phase !== 'fenced') state.phase = 'stopping';
    this.#cycles.stop();
    state.reconcile.stop();
    state.actuation.stop();
    state.losses.flush();
    state.machineFacts.flush();
    state.recorder?.flush();
  }

  /** Whether no provider call is in flight, and no action still has to read the outcome of one. */
  get isIdle(): boolean {
    const { scheduler, actuation } = this.#state;
    return scheduler.inFlight === 0 && !actuation.isLooking;
  }

  /** Saves the outcome of the last calls and ends the threads of the engine. */
  async close(): Promise<void> {
    this.#state.machineFacts.flush();
    this.#state.recorder?.flush();
    await this.#state.engine.close();
  }

  #logRetired(cluster: string): void {
    const hint = `bigfleet cluster unretire ${excerpt(cluster)}`;
    const fields = { cluster: excerpt(cluster), hint };
    this.#state.parts.publish({ kind: 'log', level: 'warn', event: 'retired-cluster-connected', fields });
  }

  #emit(effect: Effect): void {
    if (effect.kind === 'stop') {
      this.#state.phase = 'fenced';
      this.#cycles.stop();
      this.#state.reconcile.stop();
    }
    this.#state.parts.emit(effect);
  }
}

function recorderOf({ journal, clock, options, publish }: ControllerParts, fleet: Fleet): Recorder | null {
  if (journal === undefined) return null;
  return new Recorder({ ...journal, fleet, clock, publish, epoch: options.epoch });
}

/** Parts that keep the events of the shard. */
type EventSinks = Pick<ControllerState, 'recorder' | 'series' | 'events'>;

/** Wraps `publish`: stamps every event with an id and a time, and stores it for later readers. */
function recordingEvents({ recorder, series, events }: EventSinks, parts: ControllerParts): ControllerParts {
  const publish = (event: ShardEvent): void => {
    const stamped = events.add(event);
    recorder?.event(stamped);
    series.hear(stamped);
    parts.publish(stamped);
  };
  return { ...parts, publish };
}

function stateOf(
  parts: ControllerParts,
  fleet: Fleet,
  sinks: EventSinks,
  emit: (effect: Effect) => void,
): ControllerState {
  const { clock, store, options } = parts;
  const startedMs = clock.now();
  const random = new Random(options.seed, Number(options.epoch % 2n ** 31n));
  const ledger = new MachineLedger(fleet);
  const machineFacts = new MachineFactsStore(ledger, store.machines);
  const scheduler = new CallScheduler({ clock, random, emit, limits: options.scheduler });
  const engine = new Engine(fleet, {
    ...options.engine,
    clock: parts.monotonicMs,
    onDifference: (difference) => observers.differs(difference),
  });
  const demandTally = new DemandTally(fleet);
  const ownedPrices = new OwnedPrices(options.ownedPrices);
  const onHold = new MachinesOnHold(fleet);
  const supplyTally = new SupplyTally(fleet, { failedHosts: ledger.failedHosts, onHold, ownedPrices });
  const clusterCosts = new ClusterCosts(fleet, ownedPrices, onHold);
  const breakdown = new CostBreakdown(fleet, { failedHosts: ledger.failedHosts, onHold });
  const metrics = new ControllerMetrics(engine.metrics, fleet, { demandTally, supplyTally, clusterCosts });
  const profiles = new NeedProfiles(fleet);
  const health = new ProvidersHealth(ledger, () => clock.now());
  const observers = new Observers({
    ...{ parts, ledger, metrics, health },
    lostWhileAway: (facts, provider, seen) => losses.lostWhileAway(facts, provider, seen),
  });
  // Constructed before actuation, whose listener ends the pending action of a machine: a failure is reported once, with the
  // action if one is pending, else as a loss.
  const losses = new Losses({
    ...{ ledger, clock, health },
    hasAction: (machine) => actuation.hasAction(machine),
    priorityOf: (key) => profiles.of(key)?.priority,
    lost: (loss, capacityType) => {
      metrics.lost(loss, capacityType);
      sinks.recorder?.loss(loss);
    },
    ...observers.losses,
  });
  const retirements = new Retirements(store.retirements);
  const actuation = new Actuation({
    ...{ ledger, scheduler, machineFacts, clock, random, emit },
    drainReporters: store.drainReporters,
    isRetired: (cluster) => retirements.has(cluster),
    profileOf: (key) => profiles.of(key),
    limits: options.actuation,
    observer: observers.actuation,
    epoch: options.epoch,
  });
  const reconcile = new Reconcile({
    ...{ ledger, scheduler, machineFacts, actuation, clock, random, emit },
    providers: options.providers,
    limits: options.reconcile,
    observer: observers.reconcile,
  });
  const freezes = new Freezes(store.freezes);
  actuation.frozen((action) => freezes.isFrozen(action));
  const frozen = new FrozenMachines({
    ledger,
    freezes,
    isBlocked: (machine) => actuation.blockOf(machine) !== null,
  });
  const renewals = new ClusterRenewals({
    ...{ fleet, freezes, metrics },
    ...{ publish: parts.publish, monotonicMs: parts.monotonicMs },
    options: { ...options.renewal, isDryRun: options.guardrails.dryRun },
  });
  const nodeFacts = new ClusterNodeFacts({
    ...{ ledger, machineFacts, clock },
    apply: (cluster, facts) => ledger.reportFacts(cluster, facts),
  });
  const ended = new EndedRows(fleet);
  const reported = new Set<string>();
  ledger.listen(({ before, after }) => {
    const cluster = after?.target?.cluster;
    // A target that reappears, after a late first List or a reverted move, may be a row that ended long ago.
    if (cluster !== undefined && before?.target !== after!.target && reported.has(cluster))
      ended.look(cluster);
  });
  const awaited = new AwaitedMachines({
    ...{ ledger, clock },
    hasReported: (cluster) => reported.has(cluster),
    isBlocked: (machine) => actuation.blockOf(machine) !== null,
  });
  const look = (provider: string): void =>
    observers.leftAlone(
      provider,
      scheduler.breakerOf(provider) !== 'closed' || scheduler.permitOf(provider) !== 'closed',
    );
  scheduler.onBreaker((provider, state) => {
    observers.breaker(provider, state);
    look(provider);
  });
  scheduler.onPermit((provider, state) => {
    observers.permit(provider, state, scheduler.denialOf(provider));
    look(provider);
  });
  return {
    ...{
      parts,
      startedMs,
      ledger,
      machineFacts,
      scheduler,
      actuation,
      reconcile,
      freezes,
      frozen,
      awaited,
      engine,
      metrics,
      profiles,
      health,
      losses,
      demandTally,
      supplyTally,
      clusterCosts,
      breakdown,
      onHold,
      renewals,
    },
    costHistory: new CostHistory(breakdown, startedMs),
    guardrails: new Guardrails({ ...options.guardrails, unknownBeforeMs: startedMs }),
    shortfalls: new Shortfalls(),
    ended,
    ...sinks,
    sessions: new Map(),
    reported,
    incomplete: new IncompleteDemand(),
    nodeFacts,
    retirements,
    drains: new OrderedDrains(),
    replica: null,
    phase: 'starting',
  };
}
