// Costs of a fleet against the lower bound: as a whole in dollars, and by size of cluster with owned machines charged their rent.

import { ownedPrice } from './catalogue.ts';
import { type ClusterDemand, podsIn } from './demand.ts';
import { type Cost, rounded } from './figures.ts';
import type { LowerBound } from './lower-bound.ts';
import type { PackedCluster } from './packer.ts';
import type { Scenario } from './scenario.ts';
import type { Host } from './simulated-fleet.ts';

export class Costs {
  readonly #scenario: Scenario;
  readonly lowerBound: LowerBound;

  constructor(scenario: Scenario, lowerBound: LowerBound) {
    this.#scenario = scenario;
    this.lowerBound = lowerBound;
  }

  /** The first class of the parameters that holds the cluster. */
  classOf(cluster: ClusterDemand): string {
    const { classes } = this.#scenario.parameters.clusters;
    return classes.find(({ podsBelow }) => podsIn(cluster) < podsBelow)?.name ?? 'other';
  }

  /** Sums over the clusters of each class. */
  bySize(figureOf: (cluster: ClusterDemand, index: number) => number): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const [i, cluster] of this.#scenario.demand.entries()) {
      const name = this.classOf(cluster);
      sums[name] = (sums[name] ?? 0) + figureOf(cluster, i);
    }
    return sums;
  }

  multiple(dollarsPerHour: number): number {
    return rounded(dollarsPerHour / this.lowerBound.dollarsPerHour);
  }

  /** Of the machines in clusters, and of owned ones wherever they are. */
  ofHosts(hosts: Iterable<Host>): Cost {
    return this.#of([...hosts].filter(({ cluster }) => cluster !== ''));
  }

  ofPacked(clusters: readonly PackedCluster[]): Cost {
    return this.#of(
      clusters.flatMap(({ name, nodes }) => nodes.map(({ offering }) => ({ offering, cluster: name }))),
    );
  }

  #of(hosts: readonly Host[]): Cost {
    const bought = hosts.reduce((sum, { offering: { owned, pricePerHour } }) => {
      return sum + (owned === null ? pricePerHour : 0);
    }, 0);
    const dollarsPerHour = bought + ownedPrice(this.#scenario.catalogue);
    const charges = new Map<string, number>();
    for (const { cluster, offering } of hosts)
      charges.set(cluster, (charges.get(cluster) ?? 0) + this.lowerBound.chargeFor(offering));
    const charged = this.bySize(({ name }) => charges.get(name) ?? 0);
    const least = this.bySize((cluster) => this.lowerBound.ofCluster(cluster));
    return {
      dollarsPerHour: rounded(dollarsPerHour, 2),
      multiple: this.multiple(dollarsPerHour),
      multipleBySize: Object.fromEntries(
        Object.entries(charged).map(([name, dollars]) => [name, rounded(dollars / least[name]!)]),
      ),
      machines: hosts.length,
    };
  }
}
