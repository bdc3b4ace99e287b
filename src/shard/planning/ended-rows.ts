// Rows that their cluster no longer reports while machines still have them as target. A target survives a short
// absence of its row and ends when the row was absent for a whole cycle. Only clusters that have reported are
// examined: after a restart, a cluster that has not reported yet may still have the row. Made by controller.ts;
// cycles.ts ends such targets after each decision.

import type { Fleet } from '../../fleet/index.ts';
import type { NeedKey } from '../../model/index.ts';

export class EndedRows {
  readonly #fleet: Fleet;
  /** Dirty clusters: rows or targets changed since the last `take`. */
  readonly #changed = new Set<string>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Marks a cluster dirty: it has reported, or a machine got a new target in it. */
  look(cluster: string): void {
    this.#changed.add(cluster);
  }

  /** Keys that machines have as target and that the last cycle had no row for; clears the dirty clusters. */
  take(): readonly NeedKey[] {
    if (this.#changed.size === 0) return [];
    const { clusters, demand, keys, machines } = this.#fleet;
    // Few machines have a target, and most of those rows exist, so a lookup per target is cheaper than listing all rows.
    const rowless: number[] = [];
    for (const key of machines.targetedKeys()) {
      if (this.#changed.has(clusters.nameOf(keys.clusterOf(key))) && !demand.hasKey(key)) rowless.push(key);
    }
    const folds = this.#foldsOf(new Set(rowless.map((key) => keys.clusterOf(key))));
    this.#changed.clear();
    return rowless.filter((key) => !folds.has(key)).map((key) => keys.keyOf(key));
  }

  /** Keys of the folds that rows of these clusters may be part of. */
  #foldsOf(clusters: ReadonlySet<number>): ReadonlySet<number> {
    const { demand } = this.#fleet;
    const folds = new Set<number>();
    for (const cluster of clusters) {
      const { offset, length } = demand.rowsOf(cluster);
      for (let row = offset; row < offset + length; row++) {
        if (demand.same[row] === 1) folds.add(demand.foldKey[row]!);
      }
    }
    return folds;
  }
}
