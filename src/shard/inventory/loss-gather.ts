// Batches losses by zone. The first few of a minute are reported one by one, after a debounce of 1 s; if more follow
// within it, they are reported together, and later losses of that minute in a second report at its end. Part of
// losses.ts.

import type { Clock } from '../../runtime/clock.ts';
import type { LossesView, LossView } from '../views.ts';
import type { ErrorClass } from './error-class.ts';

/** Losses per zone and minute that are reported one by one. */
const MAX_ALONE = 3;
/** Debounce: losses at most this far apart are batched, up to `LONGEST_GATHER_MS`. */
const GATHER_MS = 1000;
const LONGEST_GATHER_MS = 10_000;
const WINDOW_MS = 60_000;
/** A zone is dark if it lost at least this many hosts and at least half of its hosts. */
const MIN_DARK = 5;
/** Reports per minute of all zones; the rest is one report. Bounded because a provider may list any number of zones. */
const MAX_REPORTS = 60;
const MAX_CLUSTERS = 10;

export interface LossGatherParts {
  readonly clock: Clock;
  readonly reportOne: (loss: LossView) => void;
  readonly reportMany: (losses: LossesView) => void;
}

/** Losses that are not reported yet. */
interface Batch {
  readonly sinceMs: number;
  lastMs: number;
  count: number;
  /** The part of `count` that lost the host, not only the cluster. */
  hosts: number;
  /** The first losses, kept in case they are reported one by one. */
  readonly first: LossView[];
  readonly byCluster: Map<string, number>;
  readonly byClass: Map<ErrorClass, { count: number; error: string }>;
  isArmed: boolean;
  cancel: () => void;
}

interface Window {
  readonly provider: string;
  readonly zone: string;
  readonly sinceMs: number;
  /** Machines with a host at the start of the window. */
  readonly hosts: number;
  /** Losses reported so far, and the part of them that lost the host. */
  reported: number;
  reportedHosts: number;
  isReportedDark: boolean;
  batch: Batch | null;
}

export class LossGather {
  readonly #parts: LossGatherParts;
  readonly #windows = new Map<string, Window>();
  #minuteMs = Number.NEGATIVE_INFINITY;
  /** Reports made in this minute, and the reports that pending batches may still need. */
  #reports = 0;
  #waiting = 0;

  constructor(parts: LossGatherParts) {
    this.#parts = parts;
  }

  /** `hosts`: machines with a host that the provider had in the zone before this loss. */
  add(loss: LossView, hosts: number): void {
    const window = this.#windowOf(loss, hosts);
    window.batch ??= this.#begin(window, loss.atMs);
    const { batch } = window;
    batch.lastMs = loss.atMs;
    batch.count++;
    if (loss.loss !== 'unbound') batch.hosts++;
    if (batch.first.length < MAX_ALONE) {
      batch.first.push(loss);
      this.#waiting++;
    }
    const { cluster, errorClass, error } = loss;
    if (cluster !== '') batch.byCluster.set(cluster, (batch.byCluster.get(cluster) ?? 0) + 1);
    const known = batch.byClass.get(errorClass);
    batch.byClass.set(errorClass, { count: (known?.count ?? 0) + 1, error });
    // A dark zone is reported after the debounce, not at the end of a window that began with smaller losses.
    if (!batch.isArmed && !window.isReportedDark && isDark(window, batch)) this.#arm(window, batch);
  }

  flush(): void {
    for (const window of this.#windows.values()) this.#report(window);
  }

  #windowOf({ provider, zone, atMs }: LossView, hosts: number): Window {
    const shared = this.#isFull(atMs) && !this.#windows.has(keyOf(provider, zone));
    const key = shared ? keyOf('', '') : keyOf(provider, zone);
    const known = this.#windows.get(key);
    if (known !== undefined) return known;
    const names = shared ? { provider: '', zone: '' } : { provider, zone };
    const window: Window = {
      ...names,
      sinceMs: atMs,
      hosts: shared ? 0 : hosts,
      reported: 0,
      reportedHosts: 0,
      isReportedDark: false,
      batch: null,
    };
    this.#windows.set(key, window);
    this.#parts.clock.after(WINDOW_MS, () => {
      this.#windows.delete(key);
      this.#report(window);
    });
    return window;
  }

  #begin(window: Window, nowMs: number): Batch {
    const batch: Batch = {
      ...{ sinceMs: nowMs, lastMs: nowMs, count: 0, hosts: 0, first: [], isArmed: false, cancel: () => {} },
      ...{ byCluster: new Map(), byClass: new Map() },
    };
    // Once `MAX_ALONE` losses of the window are reported, later ones wait for its end.
    if (window.reported < MAX_ALONE && window.provider !== '') this.#arm(window, batch);
    return batch;
  }

  #arm(window: Window, batch: Batch): void {
    const { clock } = this.#parts;
    batch.isArmed = true;
    batch.cancel = clock.after(GATHER_MS, () => {
      const now = clock.now();
      const isStillComing = now - batch.lastMs < GATHER_MS && now - batch.sinceMs < LONGEST_GATHER_MS;
      if (isStillComing) this.#arm(window, batch);
      else this.#report(window);
    });
  }

  #report(window: Window): void {
    const { batch } = window;
    if (batch === null) return;
    batch.cancel();
    window.batch = null;
    const isFew = window.reported + batch.count <= MAX_ALONE && window.provider !== '';
    const view = this.#viewOf(window, batch);
    window.reported += batch.count;
    window.reportedHosts += batch.hosts;
    this.#waiting -= batch.first.length;
    window.isReportedDark ||= view.isDark;
    this.#reports += isFew ? batch.count : 1;
    if (isFew) for (const loss of batch.first) this.#parts.reportOne(loss);
    else this.#parts.reportMany(view);
  }

  #viewOf(window: Window, batch: Batch): LossesView {
    const { provider, zone, hosts } = window;
    const byCount = [...batch.byClass].sort(([, a], [, b]) => b.count - a.count);
    const [errorClass, { error }] = byCount[0]!;
    const clusters = [...batch.byCluster].sort(([, a], [, b]) => b - a).slice(0, MAX_CLUSTERS);
    return {
      ...{ atMs: batch.lastMs, sinceMs: batch.sinceMs, provider, zone },
      isDark: isDark(window, batch),
      ...{ count: batch.count, of: hosts, errorClass, error },
      clusters: clusters.map(([cluster, count]) => ({ cluster, count })),
    };
  }

  #isFull(nowMs: number): boolean {
    if (nowMs - this.#minuteMs >= WINDOW_MS || nowMs < this.#minuteMs) {
      this.#minuteMs = nowMs;
      this.#reports = 0;
    }
    return this.#reports + this.#waiting >= MAX_REPORTS;
  }
}

/** Whether the losses of the window, the unreported batch included, make the zone dark. */
function isDark({ provider, reportedHosts, hosts }: Window, batch: Batch): boolean {
  const lost = reportedHosts + batch.hosts;
  return provider !== '' && lost >= MIN_DARK && lost * 2 >= hosts;
}

/** The length prefix makes the key unique for names of any content. */
function keyOf(provider: string, zone: string): string {
  return `${provider.length}:${provider}${zone}`;
}
