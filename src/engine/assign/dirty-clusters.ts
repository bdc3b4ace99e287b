// Which clusters must be served again, and which of them keep their ranked rows because only their machines changed. A
// table of `Cycle`, which asks it when a cycle begins.

import { ColumnGroup, type ReadonlyColumns } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import type { Foldable } from './foldable.ts';
import type { Infeasible } from './infeasible.ts';

export class DirtyClusters {
  readonly #fleet: FleetView;
  readonly #foldable: ReadonlyColumns<Foldable>;
  readonly #infeasible: Infeasible;
  /** Clusters that changed since the last cycle, and the subset whose ranked rows may have changed. */
  readonly changed: Set<number>;
  readonly #reshaped: Set<number>;
  /** Clusters with a machine on its way to another cluster's row: its use depends on that cluster's ranked rows. */
  readonly #entangled = new Set<number>();
  #isFirst = true;
  readonly byCluster = new ColumnGroup(this);
  /** Of clusters that are served again: 1 if the ranked rows are unchanged, because only machines changed. */
  readonly keeps = this.byCluster.u8();
  /** 1 if the ranked rows depend on which machines are bound to the cluster. */
  readonly scanned = this.byCluster.u8();

  constructor(
    fleet: FleetView,
    foldable: ReadonlyColumns<Foldable>,
    infeasible: Infeasible,
    changed: Set<number>,
    reshaped: Set<number>,
  ) {
    this.#fleet = fleet;
    this.#foldable = foldable;
    this.#infeasible = infeasible;
    this.changed = changed;
    this.#reshaped = reshaped;
  }

  /** The clusters that a cycle serves again; with `everything`, and in the first cycle, all of them. */
  take(everything: boolean): number[] {
    const { clusters } = this.#fleet;
    const remade = new Set([
      ...this.#foldable.refresh(),
      ...this.#infeasible.flipped(this.changed),
      ...this.#entangled,
    ]);
    const taken =
      everything || this.#isFirst ? [...clusters.sorted()] : [...new Set([...this.changed, ...remade])];
    this.byCluster.reserve(clusters.size);
    const all = this.isEverything(taken);
    for (const cluster of taken)
      this.keeps[cluster] = all || remade.has(cluster) || this.#isReshaped(cluster) ? 0 : 1;
    this.#isFirst = false;
    this.changed.clear();
    this.#reshaped.clear();
    return taken;
  }

  /** Makes a cycle serve one cluster, whose ranked rows are made again. */
  takeOnly(cluster: number): void {
    this.byCluster.reserve(this.#fleet.clusters.size);
    this.keeps[cluster] = 0;
  }

  /**
   * Of the changed clusters, those that can be served again while others report: only their machines changed, so their
   * ranked rows are unchanged. They are served again in the cycle only if they change once more.
   */
  takeOverlapped(reporting: ReadonlySet<number>): number[] {
    if (this.#isFirst) return [];
    const taken = [...this.changed].filter(
      (cluster) => !reporting.has(cluster) && !this.#entangled.has(cluster) && !this.#isReshaped(cluster),
    );
    if (this.isEverything(taken)) return [];
    this.byCluster.reserve(this.#fleet.clusters.size);
    for (const cluster of taken) {
      this.keeps[cluster] = 1;
      this.changed.delete(cluster);
    }
    return taken;
  }

  isEverything(taken: readonly number[]): boolean {
    return taken.length >= this.#fleet.clusters.size - 1;
  }

  /** Marks a cluster as dirty for the next cycle. */
  add(cluster: number): void {
    this.changed.add(cluster);
  }

  /** Marks a cluster as dirty in every cycle for as long as it is entangled. */
  entangle(cluster: number, targetsOtherClusters: boolean): void {
    if (targetsOtherClusters) this.#entangled.add(cluster);
    else this.#entangled.delete(cluster);
  }

  /** Records whether the ranked rows of a cluster depend on which machines are bound to it. */
  noteScan(cluster: number, hasScanned: boolean): void {
    this.scanned[cluster] = hasScanned ? 1 : 0;
  }

  /** Marks all clusters as dirty for the next cycle. */
  restart(): void {
    this.#isFirst = true;
  }

  /** Whether the ranked rows of a changed cluster may have changed. */
  #isReshaped(cluster: number): boolean {
    return this.#reshaped.has(cluster) || this.scanned[cluster] === 1 || this.#infeasible.has(cluster);
  }
}
