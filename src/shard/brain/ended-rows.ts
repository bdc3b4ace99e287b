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
    const { machines, keys } = this.#fleet;
    const live = this.#liveKeys();
    const ended: NeedKey[] = [];
    for (const number of machines.targetedKeys()) {
      if (live.has(number)) continue;
      const key = keys.keyOf(number);
      if (this.#changed.has(key.cluster)) ended.push(key);
    }
    this.#changed.clear();
    return ended;
  }

  /** Numbers of the keys of all rows, and of the folds they may be in, of clusters to look at. */
  #liveKeys(): ReadonlySet<number> {
    const { clusters, demand } = this.#fleet;
    const live = new Set<number>();
    for (const cluster of this.#changed) {
      const { offset, length } = demand.rowsOf(clusters.find(cluster));
      for (let row = offset; row < offset + length; row++) {
        live.add(demand.key[row]!);
        if (demand.same[row] === 1) live.add(demand.foldKey[row]!);
      }
    }
    return live;
  }
}
