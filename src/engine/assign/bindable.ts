// Which clusters can bind machines in this cycle. Rows of the others acquire nothing from the free machines. A table of
// `Cycle`, read through `Cycle.canBind`.

import { ColumnGroup } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';

/** Reserved cluster number: no cluster has it, so index 0 of a column by cluster holds the value for all clusters. */
const ANY = 0;

export class Bindable {
  readonly #fleet: FleetView;
  readonly byCluster = new ColumnGroup(this);
  /** 1 if the cluster cannot bind machines; and at ANY, 1 if there is such a cluster. */
  readonly cannotBind = this.byCluster.u8();

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  beginCycle(cannotBind: ReadonlySet<string>): void {
    const { clusters } = this.#fleet;
    this.byCluster.reserve(clusters.size);
    this.cannotBind.fill(0);
    for (const name of cannotBind) {
      this.cannotBind[clusters.find(name)] = 1;
      this.cannotBind[ANY] = 1;
    }
  }

  /** Whether all clusters can. Fast path: reading the cluster of a row would wait for memory. */
  get hasAll(): boolean {
    return this.cannotBind[ANY] === 0;
  }

  has(cluster: number): boolean {
    return this.cannotBind[cluster] === 0;
  }
}
