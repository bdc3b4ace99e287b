// Machines that drain for a row which is gone: an unmet lender of that row's cluster may adopt them in Phase 2, and in Phase 1
// takes no reserved Idle machine for what they will cover. Part of a `Cycle`; used by acquire.ts and preempt.ts.

import type { FleetView } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import { NONE, type RankedRowsView } from './ranked-rows.ts';

const NOTHING: readonly number[] = [];

export class Adoptable {
  readonly #fleet: FleetView;
  readonly #rankedRows: RankedRowsView;
  /** By cluster; null until it is read in a cycle, since most cycles never do. */
  #byCluster: ReadonlyMap<number, readonly number[]> | null = null;

  constructor(fleet: FleetView, rankedRows: RankedRowsView) {
    this.#fleet = fleet;
    this.#rankedRows = rankedRows;
  }

  beginCycle(): void {
    this.#byCluster = null;
  }

  /** By cluster; the ranked rows of all clusters must have been made. */
  get byCluster(): ReadonlyMap<number, readonly number[]> {
    this.#byCluster ??= this.#collect();
    return this.#byCluster;
  }

  /** Begins a lane with what the owner of the pass has found: a worker thread does not know the clusters of keys. */
  beginLane(byCluster: ReadonlyMap<number, readonly number[]>): void {
    this.#byCluster = byCluster;
  }

  /** In id order. The ranked rows of all clusters must have been made. */
  of(cluster: number): readonly number[] {
    return this.byCluster.get(cluster) ?? NOTHING;
  }

  #collect(): Map<number, number[]> {
    const { keys, machines } = this.#fleet;
    const byCluster = new Map<number, number[]>();
    for (const key of machines.targetedKeys()) {
      if (this.#rankedRows.ofKey[key] !== NONE) continue;
      const { length, offset } = machines.targetedAt(key)!;
      for (let i = offset; i < offset + length; i++) {
        const slot = machines.arena.data[i]!;
        if (machines.state[slot] !== MachineState.Draining) continue;
        const cluster = keys.clusterOf(key);
        const slots = byCluster.get(cluster);
        if (slots === undefined) byCluster.set(cluster, [slot]);
        else slots.push(slot);
      }
    }
    for (const slots of byCluster.values()) slots.sort(machines.idOrder);
    return byCluster;
  }
}
