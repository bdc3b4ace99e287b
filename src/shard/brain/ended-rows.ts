// Rows that nobody reports any more, with machines still on their way to them. A target outlives a short absence of its
// row and ends when the row was absent for a whole cycle. Only clusters that have reported are looked at: after a
// restart, silence is no absence.

import type { Fleet } from '../../fleet/index.ts';
import type { NeedKey } from '../../model/index.ts';

export class EndedRows {
  readonly #fleet: Fleet;
  /** Clusters whose rows or targets have changed since they were last looked at. */
  readonly #changed = new Set<string>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The cluster has reported, or a machine has a target in it that it had not before. */
  look(cluster: string): void {
    this.#changed.add(cluster);
  }

  /** Keys of rows that the cycle just decided did not have and that machines are on their way to. Told once. */
  take(): readonly NeedKey[] {
    if (this.#changed.size === 0) return [];
    const { clusters, demand, keys, machines } = this.#fleet;
    // Few machines are on their way, and to rows that are there as a rule: asking of each is less than listing all rows.
    const rowless: number[] = [];
    for (const key of machines.targetedKeys()) {
      if (this.#changed.has(clusters.nameOf(keys.clusterOf(key))) && !demand.hasKey(key)) rowless.push(key);
    }
    const folds = this.#foldsOf(new Set(rowless.map((key) => keys.clusterOf(key))));
    this.#changed.clear();
    return rowless.filter((key) => !folds.has(key)).map((key) => keys.keyOf(key));
  }

  /** Keys of the folds that rows of some clusters may be in. */
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
