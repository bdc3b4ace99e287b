// Changes of a fleet that are undone afterwards. The fleet is the caller's own copy; nothing else may write it in between.
// The state of a machine or of a cluster's demand before its first change is kept, and `undo` writes it back. Every machine
// keeps its slot. The fleet of a shard has millions of machines, so the caller's `pause` is called within changes.

import type { ClassFacts, Fleet, FreeRun, LedgerRecord, MachineStatus } from '../fleet/index.ts';
import type { Need, RollupDelta } from '../model/index.ts';

/** Writes of single machines between two calls of `pause`: about a millisecond. */
const WRITES_BETWEEN_PAUSES = 1024;

export class FleetEdit {
  readonly fleet: Fleet;
  readonly #pause: () => void;
  #writes = 0;
  /** By slot: the record before. */
  readonly #machines = new Map<number, LedgerRecord>();
  readonly #removed = new Set<number>();
  /** Ids that were not in use before. */
  readonly #added = new Set<string>();
  /** Free machines that were hidden or moved, as they were before; the last ones first in `undo`. */
  #moved: { readonly runs: readonly FreeRun[]; readonly isHidden: boolean }[] = [];
  /** By cluster. */
  readonly #demand = new Map<string, RollupDelta>();

  constructor(fleet: Fleet, pause: () => void) {
    this.fleet = fleet;
    this.#pause = pause;
  }

  /** Several writes of machines at once. */
  batch(change: () => void): void {
    this.fleet.machines.batch(change);
  }

  remove(slots: readonly number[]): void {
    const { machines } = this.fleet;
    const others = this.#moveFree(slots, null);
    machines.batch(() => {
      for (const slot of others) {
        this.#remember(slot);
        this.#removed.add(slot);
        machines.hide(slot);
        this.#wrote();
      }
    });
  }

  /** Gives machines other facts. `factsOf` is called once for each class. */
  join(slots: readonly number[], factsOf: (before: ClassFacts) => ClassFacts): void {
    const { classes, machines } = this.fleet;
    const known = new Map<ClassFacts, ClassFacts>();
    const cached = (before: ClassFacts): ClassFacts => {
      let facts = known.get(before);
      if (facts === undefined) {
        facts = factsOf(before);
        known.set(before, facts);
      }
      return facts;
    };
    const others = this.#moveFree(slots, cached);
    const wanted = others.map((slot) => cached(classes.factsOf(machines.classOf[slot]!)));
    machines.batch(() => {
      for (const [i, slot] of others.entries()) this.update(slot, {}, wanted[i]!);
    });
  }

  /** Moves free machines to other facts, or hides them; returns the slots of all others. */
  #moveFree(
    slots: readonly number[],
    factsOf: ((before: ClassFacts) => ClassFacts) | null,
  ): readonly number[] {
    const { machines } = this.fleet;
    const { runs, others } = machines.takeFree(slots, this.#pause);
    if (runs.length === 0) return others;
    if (factsOf !== null) {
      const moved = runs.map((run) => ({ ...run, facts: factsOf(run.facts) }));
      machines.placeFree(moved, this.#pause);
    }
    this.#moved.push({ runs, isHidden: factsOf === null });
    return others;
  }

  update(slot: number, changes: Partial<MachineStatus>, facts?: ClassFacts): void {
    this.#remember(slot);
    this.fleet.machines.update(slot, changes, facts);
    this.#wrote();
  }

  /** Adds a machine with an id that is not in use. */
  add(machine: LedgerRecord): void {
    this.#added.add(machine.id);
    this.fleet.machines.put(machine);
    this.#wrote();
  }

  /** The clock of the reclaim hold; no run of the fleet depends on it. */
  setUnclaimedSince(slot: number, sinceMs: number | null): void {
    this.#remember(slot);
    this.fleet.machines.setUnclaimedSince(slot, sinceMs);
  }

  replaceNeeds(cluster: string, needs: readonly Need[]): void {
    const { clusters, demand } = this.fleet;
    const number = clusters.find(cluster);
    if (!this.#demand.has(cluster)) this.#demand.set(cluster, demand.rollUpOf(number));
    this.#pause();
    demand.replace(cluster, needs);
  }

  undo(): void {
    const { machines, demand } = this.fleet;
    this.#pause();
    machines.batch(() => {
      for (const id of this.#added) {
        machines.remove(id);
        this.#wrote();
      }
      for (const [slot, before] of this.#machines) {
        if (this.#removed.has(slot)) machines.reveal(slot, before);
        else machines.update(slot, before, before);
        this.#wrote();
      }
    });
    for (const { runs, isHidden } of this.#moved.reverse()) {
      if (!isHidden) {
        const slots = runs.flatMap((run) => run.slots);
        machines.takeFree(slots, this.#pause);
      }
      machines.placeFree(runs, this.#pause);
    }
    this.#moved = [];
    for (const before of this.#demand.values()) {
      this.#pause();
      demand.apply(before);
    }
    this.#machines.clear();
    this.#removed.clear();
    this.#added.clear();
    this.#demand.clear();
  }

  #wrote(): void {
    if (++this.#writes % WRITES_BETWEEN_PAUSES === 0) this.#pause();
  }

  #remember(slot: number): void {
    if (this.#machines.has(slot) || this.#isAdded(slot)) return;
    this.#machines.set(slot, this.fleet.machines.recordAt(slot));
  }

  #isAdded(slot: number): boolean {
    return this.#added.size > 0 && this.#added.has(this.fleet.machines.idOf(slot));
  }
}
