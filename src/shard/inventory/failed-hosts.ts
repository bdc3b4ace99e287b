// Number of Failed machines per class that still have a host. The ledger has no hosts, because no decision reads them,
// but the cost depends on them. Updated incrementally from the changes of each commit, without a pass over all
// machines. Part of machine-ledger.ts.

import type { Fleet, WrittenMachines } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';

export class FailedHosts {
  readonly #fleet: Fleet;
  /** By id: the class in which a machine is counted. At most as many entries as there are Failed machines. */
  readonly #classes = new Map<string, number>();
  readonly #counts = new Map<number, number>();
  /** Machines with a record that says Failed since the last commit. */
  readonly #seen = new Set<string>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Number of machines by class number; classes without any are omitted. */
  get byClass(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** Marks a machine whose record says Failed: its host may have changed without a change in the ledger. */
  observed(id: string): void {
    this.#seen.add(id);
  }

  /** Updates the counts after a commit. `hasHost` is called for Failed machines only. */
  committed({ slots, removed }: WrittenMachines, hasHost: (id: string) => boolean): void {
    const { machines } = this.#fleet;
    for (const id of removed) this.#count(id, undefined);
    for (const slot of slots) {
      const isFailed = machines.state[slot] === MachineState.Failed;
      if (isFailed || this.#classes.size > 0) this.#look(machines.idOf(slot), hasHost);
    }
    for (const id of this.#seen) this.#look(id, hasHost);
    this.#seen.clear();
  }

  #look(id: string, hasHost: (id: string) => boolean): void {
    const { machines } = this.#fleet;
    const slot = machines.slotOf(id);
    const isFailed = slot !== undefined && machines.state[slot] === MachineState.Failed;
    this.#count(id, isFailed && hasHost(id) ? machines.classOf[slot] : undefined);
  }

  #count(id: string, current: number | undefined): void {
    const before = this.#classes.get(id);
    if (before === current) return;
    if (before !== undefined) {
      const left = this.#counts.get(before)! - 1;
      if (left === 0) this.#counts.delete(before);
      else this.#counts.set(before, left);
    }
    if (current === undefined) this.#classes.delete(id);
    else {
      this.#classes.set(id, current);
      this.#counts.set(current, (this.#counts.get(current) ?? 0) + 1);
    }
  }
}
