// How many Failed machines of each class still have a host. The ledger does not know hosts, because no decision depends on
// one; the cost does. Counted from what changes, never by a look at all machines.

import type { AppliedChanges, Fleet } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';

export class FailedHosts {
  readonly #fleet: Fleet;
  /** By id: the class in which a machine is counted. As long as the list of Failed machines at most. */
  readonly #classes = new Map<string, number>();
  readonly #counts = new Map<number, number>();
  /** Machines that a record called Failed since the last freeze. */
  readonly #seen = new Set<string>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Machines by number of class; classes that have none are left out. */
  get byClass(): ReadonlyMap<number, number> {
    return this.#counts;
  }

  /** A record says that a machine is Failed: whether it has a host may be all that is new. */
  observed(id: string): void {
    this.#seen.add(id);
  }

  /** The ledger was written. `hasHost` is asked of Failed machines only. */
  frozen({ slots, removed }: AppliedChanges, hasHost: (id: string) => boolean): void {
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
