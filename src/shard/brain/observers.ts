// What reconcile and actuation notice, as metrics, log lines and news.

import type { PlanDifference } from '../../engine/index.ts';
import { excerpt, type MachineState, MachineState as State, stateName } from '../../model/index.ts';
import type { BrainMetrics, ExecuteOutcome } from '../metrics.ts';
import type { News } from '../views.ts';
import { actionView } from './action-view.ts';
import type { ActuationObserver } from './actuation/actuation.ts';
import type { ActionOutcome, ActionRecord } from './actuation/records.ts';
import type { Book } from './book.ts';
import type { BrainParts } from './brain.ts';
import type { BreakerState } from './breaker.ts';
import { Provisioning } from './provisioning.ts';
import type { ReconcileObserver } from './reconcile/reconcile.ts';

/** A provider's or an operator's own words in a log line, in bytes. */
const MAX_WORDS_BYTES = 1000;

export interface ObserverParts {
  readonly parts: BrainParts;
  readonly book: Book;
  readonly metrics: BrainMetrics;
}

/** What the metric of outcomes calls them: fewer words, which dashboards know. */
const METRIC_OUTCOME: Readonly<Record<ActionOutcome, ExecuteOutcome>> = {
  success: 'success',
  ctx_canceled: 'ctx_canceled',
  fenced: 'fenced',
  no_session: 'no_session',
  transition_raced_to_idle: 'transition_error',
  transition_error: 'transition_error',
  stale_state: 'transition_error',
  inventory_miss: 'transition_error',
  blob_error: 'blob_error',
  missing_profile: 'blob_error',
  provider_error: 'configure_error',
  denied: 'configure_error',
  stock_out: 'stock_out',
  transient: 'transient',
};

export class Observers {
  readonly #parts: ObserverParts;
  readonly #provisioning: Provisioning;
  /** Providers that deny what they are told. */
  readonly #denying = new Set<string>();

  constructor(parts: ObserverParts) {
    this.#parts = parts;
    const { book, metrics } = parts;
    this.#provisioning = new Provisioning(book.fleet, (seconds) => metrics.provisioning.observe(seconds));
    book.listen((_id, before, after) => {
      if (after?.state === State.Configured && before !== null && before.state !== State.Configured)
        this.#provisioning.configured(after, parts.parts.clock.now());
      if (before?.state === State.Deleting && after?.state === State.Speculative) metrics.idleReleases.add(1);
    });
  }

  readonly actuation: ActuationObserver = {
    started: (record) => this.#tell({ kind: 'action-started', action: actionView(record) }),
    ended: (record) => this.#ended(record),
    passed: (_machine, from, to, seconds) => this.#passed(from, to, seconds),
    bootstrapAnswered: (seconds) => this.#parts.metrics.requestBootstrap.observe(seconds),
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
    dropped: () => this.#parts.metrics.observationsStale.add(1),
  };

  /** Whether a provider is left alone, for whatever reason. */
  leftAlone(provider: string, isDown: boolean): void {
    this.#parts.metrics.providerDown(provider, isDown);
  }

  /** Said once, however often it is tried in vain. */
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

  #ended(record: ActionRecord): void {
    const { kind, machine, provider, cluster, outcome, message, attempts } = record;
    this.#parts.metrics.outcomes.of({ kind, outcome: METRIC_OUTCOME[outcome!] }).add(1);
    if (outcome !== 'success') {
      const fields = {
        ...{ action: kind, machine: excerpt(machine), provider, cluster: excerpt(cluster) },
        ...{ outcome, message: excerpt(message, MAX_WORDS_BYTES), attempts },
      };
      this.#log('warn', 'action-failed', fields);
    }
    this.#tell({ kind: 'action-ended', action: actionView(record) });
  }

  #passed(from: MachineState, to: MachineState, seconds: number): void {
    const { configurePhase, drainPhase } = this.#parts.metrics;
    if (from === State.Configuring && to === State.Configured) configurePhase.observe(seconds);
    if (from === State.Draining && to === State.Idle) drainPhase.observe(seconds);
  }

  #tell(news: News): void {
    this.#parts.parts.tell(news);
  }

  #log(level: 'info' | 'warn' | 'error', event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#tell({ kind: 'log', level, event, fields });
  }
}
