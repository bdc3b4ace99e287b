// Infeasible gangs: no domain could hold them, even with all its machines. Whatever machines are free, such a gang
// claims only bound machines of its own and orphans, so the other rows of its cluster need not wait for it; it still
// sees their machines as they were when it was served. Gangs that were found infeasible are tested again when the next
// cycle begins. Part of a `Cycle`: gang.ts notes such gangs, dirty-clusters.ts reads them.

import type { Cycle } from '../cycle.ts';
import { NONE } from './ranked-rows.ts';

export class Infeasible {
  readonly #cycle: Cycle;
  /** By cluster: keys of gangs that were found infeasible. */
  readonly #keys = new Map<number, Set<number>>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /**
   * Records a gang that no domain could hold. If its ranked row is not marked yet, the next cycle credits its cluster
   * again.
   */
  note(rankedRow: number): void {
    const { dirtyClusters, rankedRows } = this.#cycle;
    const cluster = rankedRows.cluster[rankedRow]!;
    // The ranked row of a member that its fold could not host lasts for one cycle.
    if (rankedRow < rankedRows.start[cluster]! || rankedRow >= rankedRows.end[cluster]!) return;
    const keys = this.#keys.get(cluster);
    if (keys === undefined) this.#keys.set(cluster, new Set([rankedRows.key[rankedRow]!]));
    else keys.add(rankedRows.key[rankedRow]!);
    // The flag is part of the ranked row, which is made again because the cluster now has an infeasible gang.
    if (rankedRows.infeasible[rankedRow] === 0) dirtyClusters.add(cluster);
  }

  /** Whether a cluster has gangs that were found infeasible. */
  has(cluster: number): boolean {
    return this.#keys.has(cluster);
  }

  /** Clusters, other than those in `changed`, with gangs that are no longer infeasible. */
  flipped(changed: ReadonlySet<number>): Set<number> {
    const { rankedRows } = this.#cycle;
    const flipped = new Set<number>();
    for (const [cluster, keys] of this.#keys) {
      if (changed.has(cluster)) continue;
      for (const key of keys) {
        const rankedRow = rankedRows.ofKey[key]!;
        if (rankedRow === NONE || rankedRows.infeasible[rankedRow] === 0) continue;
        if (!this.#isInfeasible(rankedRows.row[rankedRow]!)) flipped.add(cluster);
      }
    }
    return flipped;
  }

  /**
   * Marks the keys of all gangs of some clusters that are still infeasible, before the ranked rows of those clusters are
   * made.
   */
  mark(clusters: readonly number[]): void {
    const { fleet, rankedRows } = this.#cycle;
    const { demand } = fleet;
    for (const cluster of clusters) {
      const keys = this.#keys.get(cluster);
      if (keys === undefined) continue;
      for (const key of keys) rankedRows.markInfeasible(key, false);
      const still = new Set<number>();
      const { length, offset } = demand.rowsOf(cluster);
      for (let row = offset; row < offset + length; row++) {
        if (demand.same[row] === 0) continue;
        const key = demand.key[row]!;
        if (!keys.has(key) || !this.#isInfeasible(row)) continue;
        rankedRows.markInfeasible(key, true);
        still.add(key);
      }
      if (still.size > 0) this.#keys.set(cluster, still);
      else this.#keys.delete(cluster);
    }
  }

  #isInfeasible(row: number): boolean {
    const { fleet, availability } = this.#cycle;
    const { pattern, profile } = fleet.demand;
    return availability.for(pattern[row]!, profile[row]!, false).domainsThatCouldCover(row).length === 0;
  }
}
