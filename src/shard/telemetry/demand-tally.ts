// The total demand of all rows. The sums of a cluster are cached until its rows change; the total is summed over
// clusters on every read, because a running sum would drift: sums of bytes may exceed 2^53, where a double is inexact.
// Made by planning/controller.ts; read by the status and by metrics.ts.

import type { ClusterRows, Fleet } from '../../fleet/index.ts';
import { BUCKET_PINNED } from '../../model/index.ts';

const BUCKETS = BUCKET_PINNED + 1;

interface ClusterSums {
  /** The cache key: replaced by another object when the rows change. */
  readonly rows: ClusterRows;
  /** By dimension. */
  readonly wanted: Float64Array;
  readonly machines: Float64Array;
}

export class DemandTally {
  readonly #fleet: Fleet;
  /** By cluster. */
  readonly #sums: (ClusterSums | undefined)[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** By dimension: what all rows want. */
  wanted(): Float64Array {
    return this.#total(this.#fleet.dimensions.count, ({ wanted }) => wanted);
  }

  /**
   * By interruption bucket: the number of machines that the demand amounts to if each had the size of the row's largest
   * pod (min_unit), the smallest machine a row accepts. An upper bound that does not depend on the supply.
   */
  machines(): Float64Array {
    return this.#total(BUCKETS, ({ machines }) => machines);
  }

  #total(length: number, partOf: (sums: ClusterSums) => Float64Array): Float64Array {
    const total = new Float64Array(length);
    for (const cluster of this.#fleet.clusters.sorted()) {
      const part = partOf(this.#sumsOf(cluster));
      for (let i = 0; i < part.length; i++) total[i]! += part[i]!;
    }
    return total;
  }

  #sumsOf(cluster: number): ClusterSums {
    const rows = this.#fleet.demand.rowsOf(cluster);
    let sums = this.#sums[cluster];
    if (sums?.rows !== rows) {
      sums = sumsOf(this.#fleet, rows);
      this.#sums[cluster] = sums;
    }
    return sums;
  }
}

function sumsOf({ demand, dimensions }: Fleet, rows: ClusterRows): ClusterSums {
  const wanted = new Float64Array(dimensions.count);
  const machines = new Float64Array(BUCKETS);
  for (let row = rows.offset; row < rows.offset + rows.length; row++) {
    const from = row * dimensions.stride;
    let most = 0;
    for (let d = 0; d < wanted.length; d++) {
      const amount = demand.aggregate.data[from + d]!;
      if (amount === 0) continue;
      const unit = demand.minUnit.data[from + d]!;
      wanted[d]! += amount;
      most = Math.max(most, unit === 0 ? 1 : Math.ceil(amount / unit));
    }
    machines[demand.profiles.entryOf(demand.profile[row]!).profile.interruptionBucket]! += most;
  }
  return { rows, wanted, machines };
}
