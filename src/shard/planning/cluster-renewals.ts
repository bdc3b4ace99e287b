// Renewal in a shard: when clusters are checked for machines that cheaper ones could replace, which machines are marked for
// the next decision, and what is reported of it. The choice is the engine's (engine/renew). Kept in memory only: a restart
// forgets all marks, and their machines are used as before. Called by cycles.ts; machine-view.ts reads marks.

import { type EndedRenewal, type Renewal, Renewals } from '../../engine/index.ts';
import type { FleetView } from '../../fleet/index.ts';
import { type ActionKind, type DecisionOptions, excerpt } from '../../model/index.ts';
import type { ControllerMetrics } from '../telemetry/metrics.ts';
import type { ShardEvent } from '../views.ts';
import type { Freezes } from './freezes.ts';
import type { RenewalOptions } from './renewal-options.ts';

/** Shortest time from one check to the next. */
const CHECK_MS = 1000;
/** Checks take at most this part of the time: one that took 20 ms is followed by another after a second or more. */
const LARGEST_SHARE = 0.02;
/** Ids of machines in a log line. */
const MAX_LOGGED = 20;

/** Actions that replace a machine. If one of them is frozen, machines would be paid twice for nothing. */
const NEEDED: readonly ActionKind[] = ['Provision', 'Bootstrap', 'Reclaim', 'Delete'];

export interface RenewalParts {
  readonly fleet: FleetView;
  readonly freezes: Freezes;
  readonly metrics: ControllerMetrics;
  readonly publish: (event: ShardEvent) => void;
  readonly monotonicMs: () => number;
  readonly options: RenewalOptions & { readonly isDryRun: boolean };
}

export class ClusterRenewals {
  readonly #parts: RenewalParts;
  readonly #renewals: Renewals;
  #nextCheckMs = Number.NEGATIVE_INFINITY;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.#renewals = new Renewals(parts.fleet, parts.options);
  }

  /** The renewal that is to replace a machine. */
  of(id: string): Renewal | undefined {
    return this.#renewals.of(id);
  }

  /** Ids of the machines that are to be replaced, for a decision at `nowMs`; another set only if they have changed. */
  marks(nowMs: number): ReadonlySet<string> {
    for (const ended of this.#renewals.settle(nowMs, (cluster) => this.#mayRenew(cluster))) this.#end(ended);
    this.#parts.metrics.renewing.set(this.#renewals.retiring.size);
    return this.#renewals.retiring;
  }

  /** Checks the next cluster, if a check is due. Marks that this adds are for the next decision. */
  check(nowMs: number, options: DecisionOptions): void {
    const { isOn } = this.#parts.options;
    if (!isOn || options.sharing === 'off' || !this.#isDue(nowMs)) return;
    const beganMs = this.#parts.monotonicMs();
    const renewal = this.#renewals.check(nowMs, options, (cluster) => this.#mayRenew(cluster));
    const tookMs = this.#parts.monotonicMs() - beganMs;
    this.#nextCheckMs = nowMs + Math.max(CHECK_MS, tookMs / LARGEST_SHARE);
    this.#parts.metrics.renewalCheck.observe(tookMs / 1000);
    if (renewal !== null) this.#begin(renewal);
  }

  /** A clock that was set back must not delay the next check by the size of the step. */
  #isDue(nowMs: number): boolean {
    return nowMs >= this.#nextCheckMs || nowMs < this.#nextCheckMs - CHECK_MS / LARGEST_SHARE;
  }

  #mayRenew(cluster: string): boolean {
    const { freezes, options } = this.#parts;
    return !options.isDryRun && !freezes.stopsAny(cluster, NEEDED);
  }

  #begin(renewal: Renewal): void {
    const { cluster, machines, savesPerHour, untilMs } = renewal;
    this.#parts.metrics.renewals.of({ outcome: 'begun' }).add(1);
    this.#log('renewal-begun', {
      cluster: excerpt(cluster),
      count: machines.length,
      machines: machines.slice(0, MAX_LOGGED),
      savesPerHour: inCents(savesPerHour),
      untilMs,
    });
  }

  #end({ renewal, end, kept }: EndedRenewal): void {
    const { cluster, machines, savesPerHour } = renewal;
    this.#parts.metrics.renewals.of({ outcome: end }).add(1);
    this.#log('renewal-ended', {
      cluster: excerpt(cluster),
      outcome: end,
      count: machines.length,
      kept,
      savesPerHour: inCents(savesPerHour),
    });
  }

  #log(event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#parts.publish({ kind: 'log', level: 'info', event, fields });
  }
}

function inCents(dollars: number): number {
  return Math.round(dollars * 100) / 100;
}
