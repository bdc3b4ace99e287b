// Demand as plain objects: what every cluster wants, as of its last accepted roll-up. A roll-up replaces all
// rows of its cluster or, if it is refused, none.

import { BigFleetError, compareRank, compareText, mergeNeeds, type Need, printable } from '../model/index.ts';

export class DemandTable {
  readonly #rows = new Map<string, readonly Need[]>();

  /** The cluster's complete demand; rows with equal keys become one, no rows at all forget the cluster. */
  replace(cluster: string, needs: readonly Need[]): void {
    const stray = needs.findIndex((need) => need.cluster !== cluster);
    if (stray !== -1) {
      const named = printable(needs[stray]!.cluster);
      const detail = `The row names cluster "${named}", the roll-up is of "${printable(cluster)}".`;
      throw new BigFleetError('BF_CLUSTER_MISMATCH', detail, { path: `needs[${stray}].cluster` });
    }
    const merged = mergeNeeds(needs);
    if (merged.length === 0) this.#rows.delete(cluster);
    else this.#rows.set(cluster, merged);
  }

  remove(cluster: string): void {
    this.#rows.delete(cluster);
  }

  /** Clusters that want something, by name. */
  clusters(): string[] {
    return [...this.#rows.keys()].sort(compareText);
  }

  /** Rows of all clusters together. */
  get size(): number {
    let rows = 0;
    for (const needs of this.#rows.values()) rows += needs.length;
    return rows;
  }

  /** All rows, first served first. The list is the caller's own. */
  inRankOrder(): Need[] {
    return [...this.#rows.values()].flat().sort(compareRank);
  }
}
