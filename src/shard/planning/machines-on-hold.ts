// Machines that no row counts on and that the reclaim hold keeps, also in clusters without a session, where no clock runs.
// Compares each decision with the ledger and returns the clocks that start and end, which cycles.ts writes there. Clocks are
// kept in memory only, so a restart starts every hold over. Bounded by the number of machines. Read by costs and machine views.

import { withRoom } from '../../collections/columns.ts';
import type { Decision } from '../../engine/index.ts';
import type { Fleet } from '../../fleet/index.ts';
import type { Action, UnclaimedWait } from '../../model/index.ts';

/** A clock that starts, or with null ends. */
interface ClockChange {
  readonly id: string;
  readonly sinceMs: number | null;
}

export class MachinesOnHold {
  readonly #fleet: Fleet;
  /** Slots on hold after the last decision. */
  #slots: readonly number[] = [];
  /** By slot: number of the last decision that left it on hold. */
  #leftBy = new Uint32Array(0);
  #decisions = 0;
  #byClass: ReadonlyMap<number, number> = new Map();
  /** Ids of machines on hold that the last decision reclaims. */
  #reclaimed: ReadonlySet<string> = new Set();
  #version = 0;
  #decidedMs = Number.NEGATIVE_INFINITY;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Number of machines on hold by class. */
  get byClass(): ReadonlyMap<number, number> {
    return this.#byClass;
  }

  /** Increased whenever a machine comes on hold or is no longer. */
  get version(): number {
    return this.#version;
  }

  /** Whether the last decision left the machine in a slot on hold. Valid until the next commit. */
  has(slot: number): boolean {
    return this.#slots.length > 0 && this.#leftBy[slot] === this.#decisions;
  }

  /** What keeps a machine on hold whose hold ends at `holdEndsMs`, as of the last decision. */
  waitsFor(id: string, holdEndsMs: number): UnclaimedWait {
    if (this.#reclaimed.has(id)) return 'guardrails';
    return this.#decidedMs < holdEndsMs ? 'hold' : 'needs';
  }

  /** Reads a decision, made at `nowMs`. Returns the clocks that it starts and ends. */
  observe(decision: Decision, nowMs: number, decided: readonly Action[]): readonly ClockChange[] {
    const { machines } = this.#fleet;
    const before = this.#slots;
    this.#decidedMs = nowMs;
    this.#slots = decision.slotsOnHold();
    if (this.#slots.length === 0 && before.length === 0) return [];
    this.#decisions++;
    this.#leftBy = withRoom(this.#leftBy, machines.size);
    const changes: ClockChange[] = [];
    const byClass = new Map<number, number>();
    let isChanged = before.length !== this.#slots.length;
    for (const slot of this.#slots) {
      const c = machines.classOf[slot]!;
      byClass.set(c, (byClass.get(c) ?? 0) + 1);
      isChanged ||= this.#leftBy[slot] !== this.#decisions - 1;
      this.#leftBy[slot] = this.#decisions;
      const runs = decision.clockRuns(slot);
      if (runs !== hasClock(machines, slot))
        changes.push({ id: machines.idOf(slot), sinceMs: runs ? nowMs : null });
    }
    // A slot that another machine has got since has no clock.
    for (const slot of before) {
      if (this.#leftBy[slot] !== this.#decisions && hasClock(machines, slot))
        changes.push({ id: machines.idOf(slot), sinceMs: null });
    }
    const reclaims = decided.filter(({ kind }) => kind === 'Reclaim');
    this.#reclaimed = new Set(reclaims.map(({ machine }) => machine));
    this.#byClass = byClass;
    if (isChanged) this.#version++;
    return changes;
  }
}

function hasClock(machines: Fleet['machines'], slot: number): boolean {
  return !Number.isNaN(machines.unclaimedSinceMs[slot]);
}
