// The only definition of a shard's metrics: names, units and labels. The controller and the sessions have separate
// registries, because they run on two threads; a scrape concatenates the two texts. docs/reference/metrics.md says
// which of them to watch. planning/controller.ts makes the controller's, process/shard.ts that of the sessions.

import { type EngineMetrics, RENEWAL_ENDS } from '../../engine/index.ts';
import type { Fleet } from '../../fleet/index.ts';
import { ACTION_KINDS, type CapacityType, excerpt } from '../../model/index.ts';
import { type Gauge, Registry } from '../../runtime/metrics-registry.ts';
import type { DrainEnd } from '../actuation/drain-waits.ts';
import type { DrainKind } from '../events.ts';
import { ERROR_CLASSES } from '../inventory/error-class.ts';
import { type Admission, countByKind } from '../planning/guardrails.ts';
import type { IncompleteCluster } from '../planning/incomplete-demand.ts';
import { AGE_BUCKETS, PRIORITY_CLASSES, type ShortfallGauges } from '../planning/shortfalls.ts';
import { SessionCounters } from '../sessions/counters.ts';
import type { LossKind, LossView, ProviderView } from '../views.ts';
import { CostMetrics, type CostTallies } from './cost-metrics.ts';
import type { DemandTally } from './demand-tally.ts';
import { engineFamilies } from './engine-metrics.ts';
import { BUCKET_LABELS, CAPACITY_TYPE_LABELS, inventoryOf, STATE_LABELS } from './fleet-counts.ts';

const PREFIX = 'bigfleet_shard_';
/**
 * Most clusters, or providers, with a separate series. Clusters have one while their roll-ups are refused or quarantined: a
 * thousand of them in each of two metrics take less than a megabyte.
 */
const MAX_CLUSTERS = 1000;
const MAX_PROVIDERS = 64;
/** Most zones with a separate series; a zone has one while machines in it fail. */
const MAX_ZONES = 256;
const LOSS_KINDS: readonly LossKind[] = ['failed', 'interrupted', 'vanished', 'unbound'];

const CYCLE_PHASES = ['reconcile', 'snapread', 'phase1', 'phase2', 'phase3', 'emit', 'execute'] as const;
export type CyclePhase = (typeof CYCLE_PHASES)[number];

const DRAIN_KINDS: readonly DrainKind[] = ['reclaim', 'preemption', 'excess'];
const DRAIN_ENDS: readonly DrainEnd[] = ['drained', 'withdrawn', 'forced', 'not-reported', 'called-off'];

const RENEWAL_OUTCOMES = ['begun', ...RENEWAL_ENDS] as const;

/** Error label of an action that succeeded. */
export const NO_ERROR = 'none';
const ERROR_LABELS = [NO_ERROR, ...ERROR_CLASSES] as const;

/** Outcomes of an action. `success`: its machine reached the target state. */
const EXECUTE_OUTCOMES = [
  'success',
  /** The cluster has no session. */
  'no_session',
  /** The machine was not in the state that the action starts from. */
  'transition_error',
  /** The cluster sent no blob, or an error. */
  'blob_error',
  /** The cluster could not drain the node, so the machine stays. */
  'drain_withdrawn',
  /** The provider refused for good. */
  'configure_error',
  /** The provider accepted, and the machine failed. */
  'machine_failed',
  /** The provider no longer has the machine, or no longer its host. */
  'machine_gone',
  /** The provider is out of stock. */
  'stock_out',
  /** The provider was throttled, out of reach or too slow. */
  'transient',
  /** A deadline passed, or the shard stopped. */
  'ctx_canceled',
  /** A newer shard of this name exists. */
  'fenced',
] as const;
export type ExecuteOutcome = (typeof EXECUTE_OUTCOMES)[number];

/** Why a provider's record was rejected. */
const REJECT_REASONS = ['price', 'interruption_probability', 'structural'] as const;
const READER_ENDS = [
  /** HTTP connections beyond the limit. */
  'connections',
  /** HTTP requests beyond the limit of in-flight ones. */
  'requests',
  /** Bytes that are not HTTP, or headers that never arrive. */
  'malformed',
  /** Readers of live events beyond the limit, and those cut off because they did not keep up. */
  'news_refused',
  'news_slow',
  /** Callers of InspectNeeds beyond the limit, and those cut off because they did not read. */
  'inspect_refused',
  'inspect_slow',
] as const;
export type ReaderEnd = (typeof READER_ENDS)[number];

/** The sessions' counters in snake case: framesMalformed is frames_malformed. */
const SESSION_COUNTERS = Object.keys(new SessionCounters()).map(snakeCase);

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const SESSION_EVENTS = ['installed', 'removed', 'replaced'] as const;

/** Powers of two from 1 ms to 16 s: a cycle and its parts. */
const CYCLE_SECONDS = doubling(0.001, 15);
/** 10 ms to 11 min: answers of clusters and providers. */
const WAIT_SECONDS = doubling(0.01, 17);
/** 0.1 s to 55 min: creation of machines, and drains with their grace period. */
const LONG_SECONDS = doubling(0.1, 16);

function doubling(first: number, count: number): readonly number[] {
  // Rounded for display: 0.256, not 0.25600000000000001.
  return Array.from({ length: count }, (_, i) => Number((first * 2 ** i).toPrecision(6)));
}

/** Totals that are computed on each scrape. */
export interface Tallies extends CostTallies {
  readonly demandTally: DemandTally;
}

/** Metrics of the controller's thread. */
export class ControllerMetrics {
  readonly registry = new Registry();
  readonly #fleet: Fleet;
  readonly #demandTally: DemandTally;
  readonly #costs: CostMetrics;

  readonly cycle = this.#histogram('cycle_duration_seconds', 'Duration of a cycle.', CYCLE_SECONDS);
  readonly #cyclePhase = this.registry.histograms(
    `${PREFIX}cycle_phase_duration_seconds`,
    'Duration of each phase of a cycle.',
    CYCLE_SECONDS,
    { phase: CYCLE_PHASES },
  );
  readonly provisioning = this.#histogram(
    'provisioning_latency_seconds',
    'Time from the first report of a Need to its first Configured machine.',
    LONG_SECONDS,
  );
  readonly configurePhase = this.#histogram(
    'configure_phase_seconds',
    'Time from Configuring to Configured.',
    LONG_SECONDS,
  );
  readonly requestBootstrap = this.#histogram(
    'request_bootstrap_seconds',
    'Time from a bootstrap request to its answer.',
    WAIT_SECONDS,
  );
  readonly drainPhase = this.#histogram('drain_phase_seconds', 'Time from Configured to Idle.', LONG_SECONDS);

  readonly #inventory = this.registry.gauges(`${PREFIX}inventory_machines`, 'Machines on record.', {
    state: STATE_LABELS,
    capacity_type: CAPACITY_TYPE_LABELS,
    interruption_penalty_bucket: BUCKET_LABELS,
  });
  readonly #demand = this.registry.gauges(
    `${PREFIX}demand_machines`,
    'Demand in machines as large as the largest pod.',
    { interruption_penalty_bucket: BUCKET_LABELS },
  );
  readonly #shortfalls = this.#gauge('shortfalls', 'Needs that the last cycle could not meet.');
  readonly #escalated = this.#gauge('shortfalls_escalated', 'Of those, short for more than 5 cycles.');
  readonly #shortfallsStopped = this.#gauge(
    'shortfalls_spend_limit',
    'Needs that the ceiling on spending keeps from machines that could be bought for them.',
  );
  readonly #shortfallsAged = this.registry.gauges(
    `${PREFIX}shortfalls_aged`,
    'Shortfalls by the cycles they have lasted.',
    { bucket: AGE_BUCKETS },
  );
  readonly #shortfallsByPriority = this.registry.gauges(
    `${PREFIX}shortfalls_by_priority`,
    'Shortfalls by class of priority.',
    { priority_class: PRIORITY_CLASSES },
  );

  readonly actions = this.#byKind('actions_total', 'Actions admitted by the guardrails.');
  readonly outcomes = this.registry.counters(
    `${PREFIX}action_execute_outcomes_total`,
    'Actions by outcome.',
    { kind: ACTION_KINDS, outcome: EXECUTE_OUTCOMES },
  );
  readonly results = this.registry.counters(
    `${PREFIX}action_results_total`,
    'Actions by class of error; none for success.',
    {
      kind: ACTION_KINDS,
      provider: { atMost: MAX_PROVIDERS },
      capacity_type: CAPACITY_TYPE_LABELS,
      error_class: ERROR_LABELS,
    },
  );
  readonly #deferred = this.#counter('actions_deferred_total', 'Actions beyond the limit of a cycle.');
  readonly dropped = this.#counter('actions_dropped_total', 'Actions dropped because the queue was full.');
  readonly deduped = this.#counter(
    'actions_deduped_total',
    'Actions dropped because their machine has one in flight.',
  );
  readonly queueDepth = this.#gauge('action_queue_depth', 'Queued actions.');
  readonly inflight = this.#gauge('execute_inflight', 'Actions that no provider has accepted yet.');
  readonly pending = this.#gauge(
    'actions_pending',
    'Actions that a provider has accepted and whose machine is on its way.',
  );
  readonly drainsWaiting = this.#gauge(
    'drains_waiting',
    'Machines whose provider is not called until their cluster has drained the node.',
  );
  readonly drainsWaited = this.registry.counters(
    `${PREFIX}drains_waited_total`,
    'Drains that waited for their cluster, by why and by how the waiting ended.',
    { kind: DRAIN_KINDS, end: DRAIN_ENDS },
  );
  readonly budgetsBroken = this.#counter(
    'disruption_budgets_broken_total',
    'Disruption budgets that preemptions did not respect when their grace ended.',
  );
  readonly nodesJoined = this.#counter('nodes_joined_total', 'Nodes that operators reported as registered.');
  readonly joinTimeouts = this.#counter(
    'node_join_timeouts_total',
    'Nodes that operators reported as not registered in time.',
  );
  readonly #protected = this.#counter(
    'reclaims_protected_total',
    'Reclaims held back because a drain of the machine was withdrawn lately.',
  );
  readonly #capped = this.#counter(
    'reclaims_capped_total',
    'Reclaims beyond what a cluster may lose at once.',
  );
  readonly #suppressed = this.#byKind('actions_suppressed_total', 'Actions stopped by a freeze.');
  readonly #dryRun = this.#byKind('actions_dryrun_total', 'Actions that a dry run did not carry out.');
  readonly #paused = this.#gauge('actuation_paused', '1 while the whole fleet is frozen.');
  readonly #freezes = this.#gauge('freezes', 'Freezes in force.');
  readonly #rowsSetAside = this.registry.gauges(
    `${PREFIX}rows_set_aside`,
    'Rows of a cluster that exceed a limit: they keep their machines and acquire no others.',
    { cluster: { atMost: MAX_CLUSTERS } },
  );
  readonly #machinesKept = this.registry.gauges(
    `${PREFIX}machines_kept_set_aside`,
    'Configured machines of a cluster that no row claims and that are kept because rows are set aside.',
    { cluster: { atMost: MAX_CLUSTERS } },
  );
  readonly idleReleases = this.#counter('idle_releases_total', 'Idle machines released.');
  readonly metClaimChanges = this.#counter(
    'met_claim_changes_total',
    'Machines that a met Need exchanged for others. Stays 0 while demand and machines do not change.',
  );
  readonly renewals = this.registry.counters(
    `${PREFIX}renewals_total`,
    'Renewals, each of which replaces machines of one cluster by cheaper ones, that began and ended.',
    { outcome: RENEWAL_OUTCOMES },
  );
  readonly renewing = this.#gauge('renewing_machines', 'Machines that are to be replaced by cheaper ones.');
  readonly renewalCheck = this.#histogram(
    'renewal_check_duration_seconds',
    'Duration of a check whether cheaper machines could replace some of a cluster.',
    CYCLE_SECONDS,
  );
  readonly machinesRejected = this.registry.counters(
    `${PREFIX}machines_rejected_total`,
    'Records of a provider that were rejected.',
    { reason: REJECT_REASONS },
  );
  readonly listsHeld = this.registry.counters(
    `${PREFIX}lists_held_total`,
    'Lists of a provider that were quarantined because most machines were missing.',
    { provider: { atMost: MAX_PROVIDERS } },
  );
  readonly listsFailed = this.registry.counters(
    `${PREFIX}lists_failed_total`,
    'Readings of a provider that failed.',
    { provider: { atMost: MAX_PROVIDERS } },
  );
  readonly #providerDown = this.registry.gauges(
    `${PREFIX}provider_down`,
    '1 while the circuit breaker of a provider is open.',
    { provider: { atMost: MAX_PROVIDERS } },
  );
  readonly #lost = this.registry.counters(
    `${PREFIX}machines_lost_total`,
    'Machines that lost their host, or their cluster, without an action of the shard.',
    {
      provider: { atMost: MAX_PROVIDERS },
      capacity_type: CAPACITY_TYPE_LABELS,
      loss: LOSS_KINDS,
      error_class: ERROR_CLASSES,
    },
  );
  readonly #providerFailing = this.registry.gauges(
    `${PREFIX}provider_failing_share`,
    'Share of the machines of a provider that are failing: Failed, recently lost, or recently out of stock.',
    { provider: { atMost: MAX_PROVIDERS } },
  );
  readonly #zoneFailing = this.registry.gauges(
    `${PREFIX}zone_failing_share`,
    'Share of the machines of a provider in one zone that are failing; zones without a failing machine have no series.',
    { provider: { atMost: MAX_PROVIDERS }, zone: { atMost: MAX_ZONES } },
  );
  readonly observationsStale = this.#counter(
    'observations_stale_total',
    'Records older than the last command to the machine, which were read again.',
  );

  /** The engine's counters and the current fleet are read on each scrape. */
  constructor(engine: EngineMetrics, fleet: Fleet, tallies: Tallies) {
    this.registry.collect(() => engineFamilies(engine));
    this.#fleet = fleet;
    this.#demandTally = tallies.demandTally;
    this.#costs = new CostMetrics(this.registry, PREFIX, tallies);
  }

  phase(phase: CyclePhase, ms: number): void {
    this.#cyclePhase.of({ phase }).observe(ms / 1000);
  }

  /** Counts the actions that the guardrails admitted and held back. */
  admitted({ admitted, waiting }: Admission): void {
    for (const [counters, actions] of [
      [this.actions, admitted],
      [this.#suppressed, waiting.frozen],
      [this.#dryRun, waiting['dry-run']],
    ] as const) {
      const counts = countByKind(actions);
      for (const kind of ACTION_KINDS) counters.of({ kind }).add(counts[kind]);
    }
    this.#capped.add(waiting.capped.length);
    this.#protected.add(waiting.protected.length);
    this.#deferred.add(waiting.deferred.length);
  }

  shortfalls({ total, escalated, stopped, byAge, byPriorityClass }: ShortfallGauges): void {
    this.#shortfalls.set(total);
    this.#escalated.set(escalated);
    this.#shortfallsStopped.set(stopped);
    for (const bucket of AGE_BUCKETS) this.#shortfallsAged.of({ bucket }).set(byAge[bucket]);
    for (const name of PRIORITY_CLASSES)
      this.#shortfallsByPriority.of({ priority_class: name }).set(byPriorityClass[name]);
  }

  freezes(count: number, isFleetFrozen: boolean): void {
    this.#freezes.set(count);
    this.#paused.set(isFleetFrozen ? 1 : 0);
  }

  /** Clusters with set-aside rows; `spareOf` returns the number of a cluster's machines that no row claims. */
  incomplete(clusters: readonly IncompleteCluster[], spareOf: (cluster: string) => number): void {
    this.#rowsSetAside.clear();
    this.#machinesKept.clear();
    for (const { cluster, rows, isLifted } of clusters) {
      const labels = { cluster: excerpt(cluster) };
      this.#rowsSetAside.of(labels).set(rows);
      this.#machinesKept.of(labels).set(isLifted ? 0 : spareOf(cluster));
    }
  }

  lost({ provider, loss, errorClass }: LossView, capacityType: CapacityType): void {
    const capacity_type = CAPACITY_TYPE_LABELS[capacityType]!;
    this.#lost.of({ provider, capacity_type, loss, error_class: errorClass }).add(1);
  }

  /** Health of each provider's machines. Providers in trouble come first, so that they get a separate series. */
  health(providers: readonly Pick<ProviderView, 'name' | 'health'>[]): void {
    // A status truncates a long list of providers: one left out must not keep its value from an earlier status.
    this.#providerFailing.clear();
    this.#zoneFailing.clear();
    for (const { name: provider, health } of providers) {
      raise(this.#providerFailing.of({ provider }), shareOf(health));
      for (const zone of health.zones)
        raise(this.#zoneFailing.of({ provider, zone: zone.zone }), shareOf(zone));
    }
  }

  providerDown(provider: string, isDown: boolean): void {
    this.#providerDown.of({ provider }).set(isDown ? 1 : 0);
  }

  text(): string {
    this.#inventory.clear();
    for (const { state, capacityType, bucket, count } of inventoryOf(this.#fleet)) {
      this.#inventory
        .of({ state, capacity_type: capacityType, interruption_penalty_bucket: bucket })
        .set(count);
    }
    for (const [bucket, machines] of this.#demandTally.machines().entries()) {
      this.#demand.of({ interruption_penalty_bucket: BUCKET_LABELS[bucket]! }).set(machines);
    }
    this.#costs.write();
    return this.registry.text();
  }

  #counter(name: string, help: string) {
    return this.registry.counter(`${PREFIX}${name}`, help);
  }

  #byKind(name: string, help: string) {
    return this.registry.counters(`${PREFIX}${name}`, help, { kind: ACTION_KINDS });
  }

  #gauge(name: string, help: string) {
    return this.registry.gauge(`${PREFIX}${name}`, help);
  }

  #histogram(name: string, help: string, bounds: readonly number[]) {
    return this.registry.histogram(`${PREFIX}${name}`, help, bounds);
  }
}

/** Names beyond the limit share one series, which has the maximum of their values. */
function raise(gauge: Gauge, value: number): void {
  gauge.set(Math.max(gauge.value, value));
}

function shareOf({ machines, failing }: { readonly machines: number; readonly failing: number }): number {
  return failing === 0 ? 0 : failing / machines;
}

/** Metrics of the main thread, which serves the sessions. */
export class SessionMetrics {
  readonly registry = new Registry();

  readonly activeSessions = this.registry.gauge(`${PREFIX}active_sessions`, 'Clusters with a session.');
  readonly sessions = this.registry.counters(
    `${PREFIX}session_lifecycle_total`,
    'Sessions that were opened, closed or replaced by a newer one.',
    { event: SESSION_EVENTS },
  );
  readonly identityRejected = this.registry.counter(
    `${PREFIX}session_identity_rejected_total`,
    'Sessions whose certificate is not that of the cluster they named.',
  );
  readonly rollupsRejected = this.registry.counters(
    `${PREFIX}rollups_rejected_total`,
    'Roll-ups that were refused as a whole.',
    { cluster: { atMost: MAX_CLUSTERS } },
  );
  readonly #quarantined = this.registry.gauges(
    `${PREFIX}rollup_quarantined`,
    '1 while roll-ups of the cluster are quarantined because most of its demand was missing.',
    { cluster: { atMost: MAX_CLUSTERS } },
  );

  readonly events = this.registry.counters(
    `${PREFIX}session_events_total`,
    'Events on sessions, by name; see docs/internals/sessions.md.',
    { event: SESSION_COUNTERS },
  );
  readonly demandRows = this.registry.gauge(`${PREFIX}demand_rows`, 'Rows of all accepted roll-ups.');
  readonly demandBytes = this.registry.gauge(
    `${PREFIX}demand_bytes`,
    'Bytes of all accepted and quarantined roll-ups.',
  );
  readonly rollupsWaiting = this.registry.gauge(`${PREFIX}rollups_waiting`, 'Roll-ups that wait to be read.');
  readonly rollupsWaitingBytes = this.registry.gauge(
    `${PREFIX}rollups_waiting_bytes`,
    'Bytes of roll-ups that wait to be read.',
  );
  readonly controllerWaiting = this.registry.gauge(
    `${PREFIX}controller_waiting_events`,
    'Events queued for the controller.',
  );
  readonly controllerWaitingSeconds = this.registry.gauge(
    `${PREFIX}controller_waiting_seconds`,
    'Age of the oldest event queued for the controller.',
  );
  readonly demandsWaiting = this.registry.gauge(
    `${PREFIX}controller_waiting_clusters`,
    'Clusters whose demand is queued because the controller is behind.',
  );
  readonly demandsCoalesced = this.registry.counter(
    `${PREFIX}demands_coalesced_total`,
    'Accepted roll-ups that were replaced by a newer one before the controller received them.',
  );
  readonly readers = this.registry.counters(
    `${PREFIX}readers_cut_total`,
    'Requests and event readers that were refused or disconnected because of a limit.',
    { reason: READER_ENDS },
  );

  readonly eventLoopLag = this.registry.gauges(
    `${PREFIX}event_loop_lag_seconds`,
    'Event loop delay of the session thread since the last scrape.',
    { quantile: ['0.5', '0.99', '1'] },
  );

  /** Only quarantined clusters have a series, which keeps the number of series small. */
  quarantined(cluster: string, isHeld: boolean): void {
    if (isHeld) this.#quarantined.of({ cluster }).set(1);
    else this.#quarantined.delete({ cluster });
  }

  text(): string {
    return this.registry.text();
  }
}
