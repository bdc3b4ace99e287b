// How long a row waited for its first machine: from its first sight to the first machine that is Configured for it.
// Each row counts once; a row that goes and comes back is a new one.

import type { Fleet, Standing } from '../../fleet/index.ts';

export class Provisioning {
  readonly #fleet: Fleet;
  readonly #tell: (seconds: number) => void;
  /** By cluster: `fingerprint group` of rows that have had their first machine. */
  readonly #served = new Map<string, Set<string>>();

  constructor(fleet: Fleet, tell: (seconds: number) => void) {
    this.#fleet = fleet;
    this.#tell = tell;
  }

  /** A machine has joined its cluster. */
  configured({ cluster, stamp }: Standing, nowMs: number): void {
    if (stamp === null || stamp.fingerprint === '') return;
    const { fingerprint, group } = stamp;
    const need = this.#fleet.demand.needOf({ cluster, fingerprint, group });
    if (need === undefined) return;
    const served = this.#servedOf(cluster);
    const name = `${group}\n${fingerprint}`;
    if (served.has(name)) return;
    served.add(name);
    this.#tell(Math.max(0, nowMs - need.firstSeenMs) / 1000);
  }

  #servedOf(cluster: string): Set<string> {
    const { clusters, demand } = this.#fleet;
    let served = this.#served.get(cluster);
    // Rows that have gone leave their names behind; when those are most of it, everything is forgotten.
    if (served === undefined || served.size > 2 * demand.rowsOf(clusters.find(cluster)).length + 100) {
      served = new Set();
      this.#served.set(cluster, served);
    }
    return served;
  }
}
