// Follows a shard for a view: takes in its news, and asks once a cycle for what no news brings.

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

/** Events from before: enough for all that a screen has room for. */
const MAX_RECALLED = 500;

export class Follower {
  readonly #port: ShardPort;
  readonly #changed: () => void;
  readonly #leave: () => void;
  #live: Live = NOTHING_YET;
  #isAsking = false;
  #hasLeft = false;

  constructor(port: ShardPort, changed: () => void) {
    this.#port = port;
    this.#changed = changed;
    this.#leave = port.listen((event) => {
      this.#become(withEvent(this.#live, event));
      if (event.kind === 'cycle') void this.refresh();
    });
    void this.#recall();
  }

  /** What happened before the view was opened. */
  async #recall(): Promise<void> {
    try {
      const { items } = await this.#port.ask('events', { sinceMs: 0, limit: MAX_RECALLED });
      this.#become(withPast(this.#live, items));
    } catch {
      // The view begins with what happens from now on.
    }
  }

  get live(): Live {
    return this.#live;
  }

  /** A shard that is slow to answer is not asked again meanwhile; one that is gone has nothing new to say. */
  async refresh(): Promise<void> {
    if (this.#isAsking || this.#hasLeft) return;
    this.#isAsking = true;
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
      this.#become({
        ...this.#live,
        ...{ shortfalls: shortfalls.items, clusters: clusters.items, clustersTotal: clusters.total },
        ...{ failed: failed.items, failedTotal: failed.total, freezes: freezes.items, plan },
        series: withPoints(this.#live.series, points),
      });
    } catch {
      // The next cycle asks again.
    } finally {
      this.#isAsking = false;
    }
  }

  stop(): void {
    this.#hasLeft = true;
    this.#leave();
  }

  #become(live: Live): void {
    this.#live = live;
    if (!this.#hasLeft) this.#changed();
  }
}
