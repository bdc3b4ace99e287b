// Follows a shard for the view on a terminal (terminal.ts): applies its events, and once a cycle queries what events do
// not carry.

import type { ShardPort } from '../../shard/index.ts';
import {
  FLEET_FREEZE,
  type Live,
  MAX_CLUSTERS,
  MAX_FAILED,
  MAX_PLANNED,
  MAX_SHORTFALLS,
  NOTHING_YET,
  withEvent,
  withPast,
  withPoints,
} from '../../web/index.ts';

/** Past events to load: enough for all that a screen has room for. */
const MAX_PAST_EVENTS = 500;

export class Follower {
  readonly #port: ShardPort;
  readonly #changed: () => void;
  readonly #unsubscribe: () => void;
  #live: Live = NOTHING_YET;
  #isRefreshing = false;
  #isStopped = false;

  constructor(port: ShardPort, changed: () => void) {
    this.#port = port;
    this.#changed = changed;
    this.#unsubscribe = port.listen((event) => {
      this.#update(withEvent(this.#live, event));
      if (event.kind === 'cycle') void this.refresh();
    });
    void this.#loadPast();
  }

  /** What happened before the view was opened. */
  async #loadPast(): Promise<void> {
    try {
      const { items } = await this.#port.ask('events', { sinceMs: 0, limit: MAX_PAST_EVENTS });
      this.#update(withPast(this.#live, items));
    } catch {
      // The view starts with the next event.
    }
  }

  get live(): Live {
    return this.#live;
  }

  /** At most one refresh is in flight; none begins after `stop`. */
  async refresh(): Promise<void> {
    if (this.#isRefreshing || this.#isStopped) return;
    this.#isRefreshing = true;
    try {
      const sinceMs = this.#live.series.at(-1)?.atMs ?? 0;
      const [shortfalls, clusters, failed, freezes, plan, { points }] = await Promise.all([
        this.#port.ask('shortfalls', { limit: MAX_SHORTFALLS }),
        this.#port.ask('clusters', { limit: MAX_CLUSTERS, order: 'trouble' }),
        this.#port.ask('machines', { where: { state: 'FAILED' }, limit: MAX_FAILED }),
        this.#port.ask('freezes', { id: FLEET_FREEZE, limit: 1 }),
        this.#port.ask('plan', { limit: MAX_PLANNED }),
        this.#port.ask('series', { sinceMs }),
      ]);
      this.#update({
        ...this.#live,
        ...{ shortfalls: shortfalls.items, clusters: clusters.items, clustersTotal: clusters.total },
        ...{ failed: failed.items, failedTotal: failed.total, freezes: freezes.items, plan },
        series: withPoints(this.#live.series, points),
      });
    } catch {
      // The next cycle queries again.
    } finally {
      this.#isRefreshing = false;
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsubscribe();
  }

  #update(live: Live): void {
    this.#live = live;
    if (!this.#isStopped) this.#changed();
  }
}
