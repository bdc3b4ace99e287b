// Time that a row waits for its first machine: from first-seen to the first machine that is Configured for it. Each
// row counts once, also across restarts: a row that had a machine at the start is not counted again. A row that ends
// and returns is a new row. Used by telemetry/observers.ts for `provisioning_latency_seconds`; no decision reads it.

import type { Fleet, MachineStatus } from '../../fleet/index.ts';

export class Provisioning {
  readonly #fleet: Fleet;
  readonly #report: (seconds: number) => void;
  /** First-seen of rows that have had a machine, by key number; bounded, because numbers are reused. */
  readonly #served = new Map<number, number>();

  constructor(fleet: Fleet, report: (seconds: number) => void) {
    this.#fleet = fleet;
    this.#report = report;
  }

  /** To be called when a machine becomes Configured. */
  configured({ cluster, stamp }: MachineStatus, nowMs: number): void {
    if (stamp === null || stamp.fingerprint === '') return;
    const { fingerprint, group } = stamp;
    const key = { cluster, fingerprint, group };
    const { demand, keys } = this.#fleet;
    const row = demand.rowOf(key);
    if (row === undefined) return;
    const firstSeenMs = demand.firstSeenMs[row]!;
    const number = keys.find(key);
    if (this.#served.get(number) === firstSeenMs) return;
    this.#served.set(number, firstSeenMs);
    if (!this.#hasOne(cluster, number)) this.#report(Math.max(0, nowMs - firstSeenMs) / 1000);
  }

  /** Whether a machine of the cluster was Configured for the row at the last commit. */
  #hasOne(cluster: string, key: number): boolean {
    const { clusters, machines } = this.#fleet;
    const slice = machines.boundOf(clusters.find(cluster))?.configured;
    if (slice === undefined) return false;
    const slots = machines.arena.data.subarray(slice.offset, slice.offset + slice.length);
    return slots.some((slot) => machines.stampKey[slot] === key);
  }
}
