// The cost of the fleet as gauges, by use of machines and by cluster; computed on each scrape. Part of metrics.ts.

import type { Gauge, Labelled, Registry } from '../../runtime/metrics-registry.ts';
import type { ClusterCosts } from '../planning/queries/cluster-costs.ts';
import { COST_PARTS, costView } from './cost.ts';
import type { SupplyTally } from './machine-tally.ts';

/**
 * Clusters with a series of their own, the most expensive ones; all others share one. Lower than the bound of per-cluster
 * metrics that exist only during trouble, because these are in every scrape, which must stay below a megabyte.
 */
const MAX_CLUSTERS = 300;

export interface CostTallies {
  readonly supplyTally: SupplyTally;
  readonly clusterCosts: ClusterCosts;
}

type ByPart = Labelled<Gauge, { readonly part: typeof COST_PARTS }>;
type ByCluster = Labelled<Gauge, { readonly cluster: { readonly atMost: number } }>;

export class CostMetrics {
  readonly #tallies: CostTallies;
  readonly #cost: ByPart;
  readonly #ownedCost: ByPart;
  readonly #clusterCost: ByCluster;
  readonly #clusterOwnedCost: ByCluster;

  constructor(registry: Registry, prefix: string, tallies: CostTallies) {
    this.#tallies = tallies;
    this.#cost = registry.gauges(
      `${prefix}cost_dollars_per_hour`,
      'Prices of machines that have a host, by what they do.',
      { part: COST_PARTS },
    );
    this.#ownedCost = registry.gauges(
      `${prefix}owned_cost_dollars_per_hour`,
      'Owned machines at their configured prices, by what they do; not part of any bill.',
      { part: COST_PARTS },
    );
    this.#clusterCost = registry.gauges(
      `${prefix}cluster_cost_dollars_per_hour`,
      'Prices of machines that serve, join or leave a cluster.',
      { cluster: { atMost: MAX_CLUSTERS } },
    );
    this.#clusterOwnedCost = registry.gauges(
      `${prefix}cluster_owned_cost_dollars_per_hour`,
      'Owned machines that serve, join or leave a cluster, at their configured prices.',
      { cluster: { atMost: MAX_CLUSTERS } },
    );
  }

  /** Sets all gauges; called before each scrape is written. */
  write(): void {
    const { supplyTally, clusterCosts } = this.#tallies;
    const { cost, owned } = supplyTally.total();
    for (const part of COST_PARTS) {
      this.#cost.of({ part }).set(costView(cost).byPart[part]);
      this.#ownedCost.of({ part }).set(costView(owned).byPart[part]);
    }
    this.#clusterCost.clear();
    this.#clusterOwnedCost.clear();
    const clusters = [...clusterCosts.all()];
    addUp(
      this.#clusterCost,
      clusters.map(([cluster, view]) => [cluster, view.cost.perHour]),
    );
    addUp(
      this.#clusterOwnedCost,
      clusters.map(([cluster, view]) => [cluster, view.ownedCost?.perHour ?? 0]),
    );
  }
}

/** The largest first: those have a series of their own, and all others share one, which has their sum. */
function addUp(gauges: ByCluster, amounts: readonly (readonly [cluster: string, amount: number])[]): void {
  const some = amounts.filter(([, amount]) => amount > 0);
  for (const [cluster, amount] of some.sort((a, b) => b[1] - a[1])) gauges.of({ cluster }).add(amount);
}
