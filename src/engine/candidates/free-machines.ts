// Free Idle and Speculative machines, which all clusters share, in the order a row acquires them. `ClassAvailability`
// tracks what remains of each class in a state; the candidate lists of a pattern order the classes it can use. Part of a
// `Cycle`; rows acquire from it through pool-pass.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { Candidates } from './candidate-list.ts';
import { type CandidateTier, CandidateTiers, type PoolOptions } from './candidate-tier.ts';
import { ClassAvailability } from './class-availability.ts';
import type { ClassFilter } from './class-groups.ts';
import type { SpecialGroup, SpecialIdle } from './special-idle.ts';

export class FreeMachines {
  readonly #fleet: FleetView;
  readonly idle: ClassAvailability;
  readonly speculative: ClassAvailability;
  readonly #tiers: CandidateTiers;
  #claimedBy: ReadonlyColumn<Int32Array> = new Int32Array(0);
  #isTentative = false;
  /** Special Idle machines of each list in use, with those claimed in this cycle. */
  #special = new Map<SpecialIdle, readonly SpecialGroup[]>();
  /** The machine found last, with its class and availability: a cache, since it is likely to be taken next. */
  #found = NONE;
  #foundClass = NONE;
  #foundIn: ClassAvailability;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
    this.idle = new ClassAvailability(fleet, fleet.machines.idleSlices);
    this.speculative = new ClassAvailability(fleet, fleet.machines.speculativeSlices);
    this.#tiers = new CandidateTiers(fleet, { idle: this.idle, speculative: this.speculative });
    this.#foundIn = this.idle;
  }

  /** Prepares a cycle: all machines are available again. */
  begin(claimedBy: ReadonlyColumn<Int32Array>, options: PoolOptions): void {
    this.idle.returnAll();
    this.speculative.returnAll();
    this.beginLane(claimedBy, options);
  }

  /** Prepares a lane of a cycle, which shares with the others what is taken. */
  beginLane(claimedBy: ReadonlyColumn<Int32Array>, options: PoolOptions): void {
    this.#claimedBy = claimedBy;
    this.#isTentative = false;
    this.#special = new Map();
    this.#found = NONE;
    this.idle.begin(claimedBy);
    this.speculative.begin(claimedBy);
    this.#tiers.begin(options);
  }

  /**
   * The candidates of a row come from these tiers, one after the other; `kind` is a value of `RowKind`. `isOwnedOnly`: without
   * Speculative machines that are purchased.
   */
  tiersOf(row: number, pattern: number, kind: number, isOwnedOnly: boolean): readonly CandidateTier[] {
    return this.#tiers.of(row, pattern, kind, isOwnedOnly);
  }

  /** Free machines of a class that are in its slice; special Idle machines are not among them. */
  freeIdle(classNumber: number): number {
    return this.idle.free(classNumber);
  }

  freeSpeculative(classNumber: number): number {
    return this.speculative.free(classNumber);
  }

  /** Whether the class had such machines when the cycle began. */
  hadAny(classNumber: number): boolean {
    return this.idle.holds(classNumber) || this.speculative.holds(classNumber);
  }

  /** Unclaimed Idle machines with a target or a penalty, in pool order. */
  *freeSpecial(): Generator<number> {
    const { machines } = this.#fleet;
    const { offset, length } = machines.specialIdle;
    for (let i = offset; i < offset + length; i++) {
      const slot = machines.arena.data[i]!;
      if (this.#claimedBy[slot] === 0) yield slot;
    }
  }

  /**
   * The next Idle machine for a row, or -1. `mayTakeTargeted` decides whether a machine on its way to another row may be
   * claimed.
   */
  nextIdle(
    candidates: Candidates,
    unfilled: Unfilled,
    key: number,
    allowed: ClassFilter | null,
    mayTakeTargeted: ClassFilter | null,
  ): number {
    const { machines } = this.#fleet;
    const { idle, special } = candidates;
    let next = this.#find(this.idle, idle.next(unfilled, this.#isTentative));
    if (machines.specialIdle.length === 0) return next;
    for (const group of this.#groupsOf(special)) {
      const slot = this.#nextSpecial(group, special.isByAmounts, unfilled, key, allowed, mayTakeTargeted);
      if (slot === NONE) continue;
      const precedes =
        next === NONE ||
        (idle.compare(this.classOf(slot), this.classOf(next), unfilled) || machines.keepOrder(slot, next)) <
          0;
      if (precedes) next = slot;
    }
    return next;
  }

  #groupsOf(special: SpecialIdle): readonly SpecialGroup[] {
    let groups = this.#special.get(special);
    if (groups === undefined) {
      groups = special.groups();
      this.#special.set(special, groups);
    }
    return groups;
  }

  #nextSpecial(
    group: SpecialGroup,
    areAlike: boolean,
    unfilled: Unfilled,
    key: number,
    allowed: ClassFilter | null,
    mayTakeTargeted: ClassFilter | null,
  ): number {
    const { machines } = this.#fleet;
    for (let i = group.next; i < group.slots.length; i++) {
      const slot = group.slots[i]!;
      if (this.#claimedBy[slot] !== 0) {
        // Tentative claims are undone, so only real claims advance `next`.
        if (i === group.next && !this.#isTentative) group.next++;
        continue;
      }
      const classNumber = machines.classOf[slot]!;
      if (!unfilled.adds(classNumber, true)) {
        if (areAlike) return NONE;
        continue;
      }
      if (allowed !== null && !allowed(classNumber)) continue;
      const target = machines.target[slot]!;
      if (target !== 0 && target !== key && mayTakeTargeted !== null && !mayTakeTargeted(classNumber))
        continue;
      return slot;
    }
    return NONE;
  }

  /** The next Speculative machine for a row, or -1. */
  nextSpeculative(candidates: Candidates, unfilled: Unfilled): number {
    return this.#find(this.speculative, candidates.speculative.next(unfilled, this.#isTentative));
  }

  /** The first machine of a class, or NONE for no class. */
  #find(availability: ClassAvailability, classNumber: number): number {
    if (classNumber === NONE) return NONE;
    this.#found = availability.firstOf(classNumber);
    this.#foundClass = classNumber;
    this.#foundIn = availability;
    return this.#found;
  }

  /** The class of the next Idle machine without target and penalty for a row, or NONE. */
  nextIdleClass(candidates: Candidates, unfilled: Unfilled): number {
    return candidates.idle.next(unfilled, this.#isTentative);
  }

  nextSpeculativeClass(candidates: Candidates, unfilled: Unfilled): number {
    return candidates.speculative.next(unfilled, this.#isTentative);
  }

  /** The first Idle machine of a class; NONE for no class. */
  firstIdle(classNumber: number): number {
    return this.#find(this.idle, classNumber);
  }

  firstSpeculative(classNumber: number): number {
    return this.#find(this.speculative, classNumber);
  }

  classOf(slot: number): number {
    return slot === this.#found ? this.#foundClass : this.#fleet.machines.classOf[slot]!;
  }

  /** Whether a free machine is Idle, not Speculative. */
  isIdle(slot: number): boolean {
    return this.#availabilityOf(slot) === this.idle;
  }

  /** Removes a claimed machine from the slice of its class; machines in no slice are ignored. */
  take(slot: number, classNumber: number): void {
    this.#availabilityOf(slot)?.take(slot, classNumber);
  }

  /** Returns a machine to its slice; it must be the one taken last. */
  putBack(slot: number): void {
    this.#availabilityOf(slot)?.putBack(slot);
  }

  #availabilityOf(slot: number): ClassAvailability | null {
    if (slot === this.#found) return this.#foundIn;
    const state = this.#fleet.machines.state[slot];
    if (state === MachineState.Idle) return this.idle;
    return state === MachineState.Speculative ? this.speculative : null;
  }

  /** Runs claims of a gang that returns everything it takes: groups that look empty meanwhile are not dropped. */
  tentatively(act: () => void): void {
    this.#isTentative = true;
    act();
    this.#isTentative = false;
  }
}
