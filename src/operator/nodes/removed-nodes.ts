// Nodes that BigFleet managed until their object was removed. A host that is lost takes its Node along, but its pods stay until
// Kubernetes collects and replaces them about a minute later. They remain demand meanwhile: otherwise the shard would release
// the machines that replace the host, and buy again for the new pods. Used by cluster-parts.ts.

import type { Clock } from '../../runtime/clock.ts';
import type { NodeTable } from './node-table.ts';

/**
 * How long pods on a removed node still count. The collector of pods looks every 20 s and waits for 40 s. Shorter: demand dips
 * before the new pods wait. Longer: pods that are never collected keep machines.
 */
const KEPT_MS = 2 * 60_000;

export class RemovedNodes {
  /** By node name: cancels the end of the time. */
  readonly #kept = new Map<string, () => void>();
  readonly #table: NodeTable;
  readonly #unsubscribe: () => void;

  /** `expired`: the time of a node is over. Made before other listeners of the table that call `has`. */
  constructor(clock: Clock, table: NodeTable, expired: (nodeName: string) => void) {
    this.#table = table;
    this.#unsubscribe = table.onManagedChange((name) => {
      this.#kept.get(name)?.();
      this.#kept.delete(name);
      if (table.get(name) !== undefined) return;
      const cancel = clock.after(KEPT_MS, () => {
        this.#kept.delete(name);
        expired(name);
      });
      this.#kept.set(name, cancel);
    });
  }

  has(nodeName: string): boolean {
    return this.#kept.has(nodeName) && this.#table.get(nodeName) === undefined;
  }

  stop(): void {
    this.#unsubscribe();
    for (const cancel of this.#kept.values()) cancel();
    this.#kept.clear();
  }
}
