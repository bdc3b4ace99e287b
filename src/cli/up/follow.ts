// Follows a shard for a view: takes in its news, and asks once a cycle for what no news brings.

import type { ShardPort } from '../../shard/index.ts';
import {
  FLEET_FREEZE,
  type Live,
  MAX_CLUSTERS,
  MAX_PLANNED,
  MAX_SHORTFALLS,
  NOTHING_YET,
  withNews,
} from '../../web/index.ts';

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
    this.#leave = port.listen((news) => {
      this.#become(withNews(this.#live, news));
      if (news.kind === 'cycle') void this.refresh();
    });
  }

  get live(): Live {
    return this.#live;
  }

  /** A shard that is slow to answer is not asked again meanwhile; one that is gone has nothing new to say. */
  async refresh(): Promise<void> {
    if (this.#isAsking || this.#hasLeft) return;
    this.#isAsking = true;
    try {
      const [shortfalls, clusters, freezes, plan] = await Promise.all([
        this.#port.ask('shortfalls', { limit: MAX_SHORTFALLS }),
        this.#port.ask('clusters', { limit: MAX_CLUSTERS }),
        this.#port.ask('freezes', { id: FLEET_FREEZE, limit: 1 }),
        this.#port.ask('plan', { limit: MAX_PLANNED }),
      ]);
      this.#become({
        ...this.#live,
        ...{ shortfalls: shortfalls.items, clusters: clusters.items, freezes: freezes.items, plan },
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
