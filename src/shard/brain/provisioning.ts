// How long a row waited for its first machine: from its first sight to the first machine that is Configured for it.
// Each row counts once, also over restarts: a row that had a machine before the start has long had its first. A row that
// goes and comes back is a new one.

import type { Fleet, Standing } from '../../fleet/index.ts';

export class Provisioning {
  readonly #fleet: Fleet;
  readonly #tell: (seconds: number) => void;
  /** By number of the key: when the row that has had its first machine was first seen. Numbers are given out again. */
  readonly #served = new Map<number, number>();

  constructor(fleet: Fleet, tell: (seconds: number) => void) {
    this.#fleet = fleet;
    this.#tell = tell;
  }

  /** A machine has joined its cluster. */
  configured({ cluster, stamp }: Standing, nowMs: number): void {
    if (stamp === null || stamp.fingerprint === '') return;
    const { fingerprint, group } = stamp;
    const key = { cluster, fingerprint, group };
    const need = this.#fleet.demand.needOf(key);
    if (need === undefined) return;
    const number = this.#fleet.keys.find(key);
    if (this.#served.get(number) === need.firstSeenMs) return;
    this.#served.set(number, need.firstSeenMs);
    if (!this.#hasOne(cluster, number)) this.#tell(Math.max(0, nowMs - need.firstSeenMs) / 1000);
  }

  /** Whether a machine of the cluster was Configured for the row at the last freeze. */
  #hasOne(cluster: string, key: number): boolean {
    const { clusters, machines } = this.#fleet;
    const run = machines.boundOf(clusters.find(cluster))?.configured;
    if (run === undefined) return false;
    const slots = machines.arena.data.subarray(run.offset, run.offset + run.length);
    return slots.some((slot) => machines.stampKey[slot] === key);
  }
}
