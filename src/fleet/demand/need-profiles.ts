// Profiles of Needs and folds by key, for readers outside of a cycle: the shard's views and journal, and what-if questions.

import type { NeedKey, Profile } from '../../model/index.ts';
import type { Fleet } from '../fleet.ts';

/**
 * Folds are indexed once per cluster: a cold plan binds machines for thousands of them, and each lookup would otherwise scan
 * all rows of the cluster.
 */
export class NeedProfiles {
  readonly #fleet: Fleet;
  /** By cluster, since the last `forget`: profiles of folds by number of their key. */
  readonly #folds = new Map<string, ReadonlyMap<number, Profile>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Invalidates the index of folds; to be called when rows have changed. */
  forget(): void {
    this.#folds.clear();
  }

  of(key: NeedKey): Profile | undefined {
    const { demand, keys } = this.#fleet;
    return demand.profileOf(key) ?? this.#foldsOf(key.cluster).get(keys.find(key));
  }

  isFold(key: NeedKey): boolean {
    return this.#foldsOf(key.cluster).has(this.#fleet.keys.find(key));
  }

  #foldsOf(cluster: string): ReadonlyMap<number, Profile> {
    const known = this.#folds.get(cluster);
    if (known !== undefined) return known;
    const { clusters, demand } = this.#fleet;
    const { offset, length } = demand.rowsOf(clusters.find(cluster));
    const folds = new Map<number, Profile>();
    for (let row = offset; row < offset + length; row++) {
      if (demand.same[row] === 0) continue;
      folds.set(demand.foldKey[row]!, demand.profiles.entryOf(demand.foldProfile[row]!).profile);
    }
    this.#folds.set(cluster, folds);
    return folds;
  }
}
