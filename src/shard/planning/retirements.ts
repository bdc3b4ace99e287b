// Clusters that a person has declared gone for good. Silence alone never reclaims: a cluster that does not report keeps
// its machines for ever. The demand of a retired cluster counts as empty and as reported, so that its machines are
// drained and given back under the usual caps, without a session. An operator that connects for it again is heard, but
// its demand is ignored until `bigfleet cluster unretire`. Durable. Made by controller.ts; orders.ts sets and lifts it.

export interface Retirement {
  readonly cluster: string;
  readonly who: string;
  readonly why: string;
  /** Shard clock. */
  readonly sinceMs: number;
}

/** Durable store of retirements. A write is durable when the call returns. */
export interface RetirementStore {
  retirements(): Iterable<Retirement>;
  putRetirement(retirement: Retirement): void;
  deleteRetirement(cluster: string): void;
}

/** As many as clusters of a shard. */
export const MAX_RETIREMENTS = 10_000;

export class Retirements {
  readonly #store: RetirementStore;
  readonly #byCluster = new Map<string, Retirement>();

  constructor(store: RetirementStore) {
    this.#store = store;
    for (const retirement of store.retirements()) this.#byCluster.set(retirement.cluster, retirement);
  }

  has(cluster: string): boolean {
    return this.#byCluster.has(cluster);
  }

  of(cluster: string): Retirement | null {
    return this.#byCluster.get(cluster) ?? null;
  }

  get clusters(): Iterable<string> {
    return this.#byCluster.keys();
  }

  /** Retires a cluster; null if there are `MAX_RETIREMENTS` already. One that is retired keeps its first author. */
  add(cluster: string, who: string, why: string, sinceMs: number): Retirement | null {
    const known = this.#byCluster.get(cluster);
    if (known !== undefined) return known;
    if (this.#byCluster.size >= MAX_RETIREMENTS) return null;
    const retirement = { cluster, who, why, sinceMs };
    this.#store.putRetirement(retirement);
    this.#byCluster.set(cluster, retirement);
    return retirement;
  }

  /** False: the cluster is not retired. */
  remove(cluster: string): boolean {
    if (!this.#byCluster.has(cluster)) return false;
    this.#store.deleteRetirement(cluster);
    return this.#byCluster.delete(cluster);
  }
}
