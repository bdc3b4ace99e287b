// Changes of a fleet that are undone afterwards. The fleet is the caller's own copy; nothing else may write it in between.
// The state of a machine or of a cluster's demand before its first change is kept, and `undo` writes it back. Every machine
// keeps its slot.

import type { ClassFacts, Fleet, LedgerRecord, MachineStatus } from '../fleet/index.ts';
import { type Need, wholeRollup } from '../model/index.ts';

interface Reported {
  readonly needs: readonly Need[];
  readonly version: number;
}

export class FleetEdit {
  readonly fleet: Fleet;
  /** By slot: the record before. */
  readonly #machines = new Map<number, LedgerRecord>();
  readonly #removed = new Set<number>();
  /** Ids that were not in use before. */
  readonly #added = new Set<string>();
  /** By cluster. */
  readonly #demand = new Map<string, Reported>();

  constructor(fleet: Fleet) {
    this.fleet = fleet;
  }

  /** Several writes of machines at once. */
  batch(change: () => void): void {
    this.fleet.machines.batch(change);
  }

  remove(slot: number): void {
    this.#remember(slot);
    this.#removed.add(slot);
    this.fleet.machines.hide(slot);
  }

  update(slot: number, changes: Partial<MachineStatus>, facts?: ClassFacts): void {
    this.#remember(slot);
    this.fleet.machines.update(slot, changes, facts);
  }

  /** Adds a machine with an id that is not in use. */
  add(machine: LedgerRecord): void {
    this.#added.add(machine.id);
    this.fleet.machines.put(machine);
  }

  /** The clock of the reclaim hold; no run of the fleet depends on it. */
  setUnclaimedSince(slot: number, sinceMs: number | null): void {
    this.#remember(slot);
    this.fleet.machines.setUnclaimedSince(slot, sinceMs);
  }

  replaceNeeds(cluster: string, needs: readonly Need[]): void {
    const { clusters, demand } = this.fleet;
    const number = clusters.find(cluster);
    if (!this.#demand.has(cluster))
      this.#demand.set(cluster, { needs: demand.needsOf(number), version: demand.versionOf(number) });
    demand.replace(cluster, needs);
  }

  undo(): void {
    const { machines, demand } = this.fleet;
    machines.batch(() => {
      for (const id of this.#added) machines.remove(id);
      for (const [slot, before] of this.#machines) {
        if (this.#removed.has(slot)) machines.reveal(slot, before);
        else machines.update(slot, before, before);
      }
    });
    for (const [cluster, { needs, version }] of this.#demand)
      demand.apply(wholeRollup(cluster, needs, version));
    this.#machines.clear();
    this.#removed.clear();
    this.#added.clear();
    this.#demand.clear();
  }

  #remember(slot: number): void {
    if (this.#machines.has(slot) || this.#isAdded(slot)) return;
    this.#machines.set(slot, this.fleet.machines.recordAt(slot));
  }

  #isAdded(slot: number): boolean {
    return this.#added.size > 0 && this.#added.has(this.fleet.machines.idOf(slot));
  }
}
