// Turns events of reconcile and actuation into metrics, log lines and events. Made by planning/controller.ts.

import type { PlanDifference } from '../../engine/index.ts';
import {
  ACTION_WORDS,
  CapacityType,
  excerpt,
  type MachineState,
  MachineState as State,
  stateName,
} from '../../model/index.ts';
import type { ActionOutcome, ActionRecord } from '../actuation/action-records.ts';
import type { ActuationObserver } from '../actuation/actuation-types.ts';
import type { BreakerState } from '../actuation/breaker.ts';
import type { LossesParts } from '../inventory/losses.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { ProvidersHealth } from '../inventory/provider-health.ts';
import type { ReconcileObserver } from '../inventory/reconcile.ts';
import type { ControllerParts } from '../planning/controller.ts';
import { Provisioning } from '../planning/provisioning.ts';
import { actionView, capacityLabel } from '../planning/queries/action-view.ts';
import type { ActionView, ShardEvent } from '../views.ts';
import { type ControllerMetrics, type ExecuteOutcome, NO_ERROR } from './metrics.ts';

/** Bytes kept in a log line of a message from a provider or an operator. */
const MAX_WORDS_BYTES = 1000;

export interface ObserverParts {
  readonly parts: ControllerParts;
  readonly ledger: MachineLedger;
  readonly metrics: ControllerMetrics;
  readonly health: ProvidersHealth;
  readonly lostWhileAway: ReconcileObserver['lostWhileAway'];
}

/** Outcome labels of the metric: a smaller set, which existing dashboards use. */
const METRIC_OUTCOME: Readonly<Record<ActionOutcome, ExecuteOutcome>> = {
  success: 'success',
  ctx_canceled: 'ctx_canceled',
  fenced: 'fenced',
  no_session: 'no_session',
  transition_raced_to_idle: 'transition_error',
  transition_error: 'transition_error',
  stale_state: 'transition_error',
  inventory_miss: 'machine_gone',
  blob_error: 'blob_error',
  missing_profile: 'blob_error',
  drain_withdrawn: 'drain_withdrawn',
  provider_error: 'configure_error',
  denied: 'configure_error',
  stock_out: 'stock_out',
  transient: 'transient',
  machine_failed: 'machine_failed',
  rolled_back: 'transition_error',
  superseded: 'transition_error',
};

/** Log fields of a failed action; kinds appear as verbs. */
function failureFields(action: ActionView): Readonly<Record<string, unknown>> {
  const { kind, machine, provider, zone, cluster, need, outcome, errorClass, message, attempts } = action;
  return {
    ...{ action: ACTION_WORDS[kind].verb, machine: excerpt(machine), provider, zone: excerpt(zone ?? '') },
    ...{ cluster: excerpt(cluster), need: need === null ? null : excerpt(need.id) },
    ...{ outcome, errorClass, message, attempts },
  };
}

/** Converts `ON_DEMAND` to `OnDemand`, the form of metric labels. */
function capacityTypeName(label: string): string {
  return CAPACITY_NAMES.get(label) ?? 'Unspecified';
}

const CAPACITY_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(CapacityType).map(([name, type]) => [capacityLabel(type), name]),
);

export class Observers {
  readonly #parts: ObserverParts;
  readonly #provisioning: Provisioning;
  /** Providers that deny mutations. */
  readonly #denying = new Set<string>();

  constructor(parts: ObserverParts) {
    this.#parts = parts;
    const { ledger, metrics } = parts;
    this.#provisioning = new Provisioning(ledger.fleet, (seconds) => metrics.provisioning.observe(seconds));
    ledger.listen(({ before, after }) => {
      if (after?.state === State.Configured && before !== null && before.state !== State.Configured)
        this.#provisioning.configured(after, parts.parts.clock.now());
      if (before?.state === State.Deleting && after?.state === State.Speculative) metrics.idleReleases.add(1);
    });
  }

  readonly actuation: ActuationObserver = {
    started: (record) => this.#publish({ kind: 'action-started', action: actionView(record) }),
    ended: (record) => this.#ended(record),
    leftTransition: (_machine, from, to, seconds) => this.#leftTransition(from, to, seconds),
    bootstrapAnswered: (seconds) => this.#parts.metrics.requestBootstrap.observe(seconds),
    drainWaited: (...given) => this.#drainWaited(...given),
    overdue: (machine, state, seconds) =>
      this.#log('warn', 'machine-overdue', { machine: excerpt(machine), state: stateName(state), seconds }),
  };

  readonly reconcile: ReconcileObserver = {
    listed: () => {},
    listFailed: (provider, error) => {
      this.#parts.metrics.listsFailed.of({ provider }).add(1);
      this.#log('warn', 'list-failed', { provider, error: excerpt(error, MAX_WORDS_BYTES) });
    },
    listHeld: (provider, known, missing, timesInARow) => {
      this.#parts.metrics.listsHeld.of({ provider }).add(1);
      const hint = `bigfleet accept list ${provider}`;
      this.#log('error', 'list-held', { provider, known, missing, timesInARow, hint });
    },
    refused: (provider, reason, count) => {
      this.#parts.metrics.machinesRejected.of({ reason }).add(count);
      this.#log('warn', 'machines-rejected', { provider, reason, count });
    },
    collided: (machine, owner, other) =>
      this.#log('error', 'machine-collision', { machine: excerpt(machine), owner, other }),
    orphanFound: (machine, provider, state) =>
      this.#log('warn', 'orphan-found', { machine: excerpt(machine), provider, state: stateName(state) }),
    lostWhileAway: (facts, provider, seen) => this.#parts.lostWhileAway(facts, provider, seen),
    dropped: () => this.#parts.metrics.observationsStale.add(1),
  };

  /** Reported losses: one log line and one event each. */
  readonly losses: Pick<LossesParts, 'reportOne' | 'reportMany'> = {
    reportOne: (loss) => {
      const { atMs: _, machine, cluster, need, zone, ...rest } = loss;
      const names = { machine: excerpt(machine), zone: excerpt(zone), cluster: excerpt(cluster) };
      this.#log('warn', 'machine-lost', { ...names, need: need === null ? null : excerpt(need.id), ...rest });
      this.#publish({ kind: 'loss', loss });
    },
    reportMany: (losses) => {
      const { atMs: _, sinceMs: __, isDark, zone, clusters, ...rest } = losses;
      const lost = clusters.map(({ cluster, count }) => ({ cluster: excerpt(cluster), count }));
      const fields = { zone: excerpt(zone), clusters: lost, ...rest };
      this.#log(isDark ? 'error' : 'warn', isDark ? 'zone-dark' : 'machines-lost', fields);
      this.#publish({ kind: 'losses', losses });
    },
  };

  /** Sets the gauge of a provider whose breaker or permit is not closed. */
  leftAlone(provider: string, isDown: boolean): void {
    this.#parts.metrics.providerDown(provider, isDown);
  }

  /** Logs a denial once, regardless of the number of failed probes. */
  permit(provider: string, state: BreakerState, error: string): void {
    if (state === 'open' && !this.#denying.has(provider)) {
      this.#denying.add(provider);
      this.#log('error', 'provider-denies', { provider, error: excerpt(error, MAX_WORDS_BYTES) });
    }
    if (state === 'closed' && this.#denying.delete(provider))
      this.#log('info', 'provider-permits', { provider });
  }

  breaker(provider: string, state: BreakerState): void {
    this.#log(state === 'open' ? 'error' : 'info', 'provider-breaker', { provider, state });
  }

  differs({ cycle }: PlanDifference): void {
    this.#log('error', 'incremental-difference', { cycle });
  }

  /** Increments each metric, logs a failed action, and emits one event. */
  #ended(record: ActionRecord): void {
    const { kind, provider, outcome, errorClass, capacityType } = record;
    const { outcomes, results } = this.#parts.metrics;
    this.#parts.health.ended(record);
    outcomes.of({ kind, outcome: METRIC_OUTCOME[outcome!] }).add(1);
    const of = { kind, provider, capacity_type: capacityTypeName(capacityType) };
    results.of({ ...of, error_class: errorClass ?? NO_ERROR }).add(1);
    const action = actionView(record);
    if (outcome !== 'success') this.#log('warn', 'action-failed', failureFields(action));
    this.#publish({ kind: 'action-ended', action });
  }

  #drainWaited(...[record, kind, end, brokenBudgets]: Parameters<ActuationObserver['drainWaited']>): void {
    const { metrics } = this.#parts;
    metrics.drainsWaited.of({ kind, end }).add(1);
    metrics.budgetsBroken.add(brokenBudgets.length);
    if (end !== 'forced' && brokenBudgets.length === 0) return;
    const fields = { machine: excerpt(record.machine), cluster: excerpt(record.cluster) };
    this.#log('warn', 'drain-forced', { ...fields, brokenBudgets, message: record.message });
  }

  #leftTransition(from: MachineState, to: MachineState, seconds: number): void {
    const { configurePhase, drainPhase } = this.#parts.metrics;
    if (from === State.Configuring && to === State.Configured) configurePhase.observe(seconds);
    if (from === State.Draining && to === State.Idle) drainPhase.observe(seconds);
  }

  #publish(event: ShardEvent): void {
    this.#parts.parts.publish(event);
  }

  #log(level: 'info' | 'warn' | 'error', event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#publish({ kind: 'log', level, event, fields });
  }
}
