// Divides clusters between the acquiring lane and cluster lanes, where no label divides the free machines. Any division gives
// the same result, so it is adjusted from pass to pass until all lanes are busy for the same time. Used by lanes.ts.

import { sharedUint8 } from '../../collections/columns.ts';
import type { Cycle } from '../cycle.ts';

/** Share of the rows that cluster lanes begin with, and at least. */
const FIRST_SHARE = 0.5;
const LEAST_SHARE = 0.05;
/** Lanes have numbers of 8 bits. */
const MOST_LANES = 256;

export interface ClusterLanes {
  /** By cluster: its lane; 0 is the acquiring lane. In shared memory, for lanes on other threads. */
  readonly laneOf: Uint8Array;
  /** Share of the rows that belong to cluster lanes. */
  readonly share: number;
}

export class ClusterDivision {
  /** Share of the rows that cluster lanes are to have. */
  #share: number;

  constructor(firstShare = FIRST_SHARE) {
    this.#share = firstShare;
  }

  /**
   * Divides clusters between `lanes` lanes. The acquiring lane has all clusters with rows that machines are in flight for,
   * which borrow when they read free machines, and with machines to be replaced, which rows return if these are not enough.
   */
  divide(cycle: Cycle, lanes: number): ClusterLanes {
    const { credits, rankedRows, retiring } = cycle;
    const laneOf = sharedUint8(rankedRows.start.length);
    let [all, own, next] = [0, 0, 0];
    for (const cluster of cycle.fleet.clusters.sorted()) {
      const rows = credits.pendingEnd[cluster]! - rankedRows.start[cluster]!;
      if (rows === 0) continue;
      all += rows;
      if (own < (1 - this.#share) * all || retiring.isIn[cluster] === 1 || hasInFlight(cycle, cluster))
        own += rows;
      else laneOf[cluster] = 1 + (next++ % (Math.min(lanes, MOST_LANES) - 1));
    }
    return { laneOf, share: all === 0 ? 0 : (all - own) / all };
  }

  /** Adjusts the share after a pass in which the acquiring lane and the cluster lanes were busy for this time. */
  adjust(acquiringMs: number, clusterMs: readonly number[]): void {
    const sumMs = clusterMs.reduce((sum, ms) => sum + ms, 0);
    if (sumMs === 0) return;
    const goalMs = (acquiringMs + sumMs) / (clusterMs.length + 1);
    const wanted = (this.#share * goalMs * clusterMs.length) / sumMs;
    // Half the way, since times vary.
    this.#share = Math.min(1, Math.max(LEAST_SHARE, (this.#share + wanted) / 2));
  }
}

function hasInFlight({ credits, rankedRows }: Cycle, cluster: number): boolean {
  for (let i = rankedRows.start[cluster]!; i < credits.pendingEnd[cluster]!; i++)
    if (rankedRows.hasInFlight[credits.pending[i]!] === 1) return true;
  return false;
}
