// The pass over the free machines: ranked rows that waited for it, in the order they were served, and the index of the
// first claim of each. Claims of the pass also remove machines from the free machines, and undoing them returns the
// machines. A table of `Cycle`, written while serve.ts or the lanes serve rows.

import { withRoom } from '../../collections/columns.ts';
import { ColumnGroup, type ReadonlyColumns } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { FreeMachines } from '../candidates/free-machines.ts';
import type { GangAvailability } from '../candidates/gang-availability.ts';
import { FreeChange } from '../candidates/topology.ts';
import type { ClaimsView } from './claims.ts';
import { Credit, type CreditsView } from './credits.ts';
import type { Unfilled } from './unfilled.ts';

/** The pass as other files see it. */
export type PoolPassView = ReadonlyColumns<PoolPass>;

export class PoolPass {
  readonly #fleet: FleetView;
  readonly #claims: ClaimsView;
  readonly #credits: CreditsView;
  readonly #unfilled: Unfilled;
  readonly #freeMachines: FreeMachines;
  readonly #availability: GangAvailability;
  /** Classes of what the ranked row being served has acquired, in claim order. */
  #acquiredClasses = new Uint32Array(0);
  #count = 0;

  /** Reused from cycle to cycle, since a cold fleet has hundreds of thousands of ranked rows. */
  readonly byPlace = new ColumnGroup(this);
  readonly rankedRow = this.byPlace.u32();
  /** Index of its first claim of the pass; its claims end where those of the next ranked row begin. */
  readonly from = this.byPlace.u32();

  constructor({
    fleet,
    claims,
    credits,
    unfilled,
    freeMachines,
    availability,
  }: {
    readonly fleet: FleetView;
    readonly claims: ClaimsView;
    readonly credits: CreditsView;
    readonly unfilled: Unfilled;
    readonly freeMachines: FreeMachines;
    readonly availability: GangAvailability;
  }) {
    this.#fleet = fleet;
    this.#claims = claims;
    this.#credits = credits;
    this.#unfilled = unfilled;
    this.#freeMachines = freeMachines;
    this.#availability = availability;
  }

  /** Ranked rows served so far. */
  get count(): number {
    return this.#count;
  }

  /** Prepares the pass: its claims follow all credits. */
  open(): void {
    this.#claims.continueAt(this.#credits.end);
    this.#claims.reserveClaims(this.#credits.end + this.#fleet.machines.size);
  }

  /** Adds the next ranked row; its claims of the pass begin at `from`. */
  enter(rankedRow: number, from: number): void {
    const place = this.#count++;
    if (place === this.rankedRow.length) this.byPlace.reserve(this.#count);
    this.rankedRow[place] = rankedRow;
    this.from[place] = from;
  }

  /** Undoes all claims of the pass before the next cycle begins, when all machines become available again. */
  undoAll(): void {
    const { end } = this.#credits;
    this.#claims.undoFrom(end);
    for (let place = 0; place < this.#count; place++) {
      const rankedRow = this.rankedRow[place]!;
      if (this.#claims.creditStart[rankedRow]! < end) this.#claims.forgetLater(rankedRow);
      else this.#claims.forgetRow(rankedRow);
    }
    this.#claims.continueAt(0);
    this.clear();
  }

  clear(): void {
    this.#count = 0;
  }

  /** Claims an Idle or Speculative machine for a ranked row, and removes it from the free machines. */
  take(rankedRow: number, slot: number): void {
    const classNumber = this.#freeMachines.classOf(slot);
    const place = this.#claims.count - this.#claims.laterStart[rankedRow]!;
    this.#unfilled.take(classNumber, true);
    this.#claims.acquire(rankedRow, slot);
    if (place === this.#acquiredClasses.length)
      this.#acquiredClasses = withRoom(this.#acquiredClasses, place + 1);
    this.#acquiredClasses[place] = classNumber;
    const change = this.#freeMachines.isIdle(slot) ? FreeChange.IdleTaken : FreeChange.SpeculativeTaken;
    this.#freeMachines.take(slot, classNumber);
    this.#availability.noteFreeChange(classNumber, change);
  }

  /** Class of the machine at a place among those that the ranked row being served has acquired. */
  acquiredClassAt(place: number): number {
    return this.#acquiredClasses[place]!;
  }

  /** Claims a bound or in-flight machine for a ranked row that waited for the pass. */
  credit(rankedRow: number, slot: number, fits: boolean): void {
    this.#credits.credit(rankedRow, slot, fits);
    this.#takeOut(slot);
  }

  /** Claims a machine for a ranked row without updating `unfilled`: another lane has checked the amounts. */
  adopt(rankedRow: number, slot: number): void {
    this.#claims.add(rankedRow, slot);
    this.#takeOut(slot);
  }

  /** Removes a claimed machine from the free machines, if it is one. */
  #takeOut(slot: number): void {
    const { classOf, state } = this.#fleet.machines;
    this.#freeMachines.take(slot, classOf[slot]!);
    if (state[slot] === MachineState.Idle)
      this.#availability.noteFreeChange(classOf[slot]!, FreeChange.IdleTaken);
    else if (state[slot] === MachineState.Speculative)
      this.#availability.noteFreeChange(classOf[slot]!, FreeChange.SpeculativeTaken);
  }

  /** Undoes the claims from index `to` on, last first, which `FreeMachines.putBack` requires. */
  rewind(to: number): void {
    const { classOf, state } = this.#fleet.machines;
    while (this.#claims.count > to) {
      const slot = this.#claims.pop();
      this.#freeMachines.putBack(slot);
      if (state[slot] === MachineState.Idle)
        this.#availability.noteFreeChange(classOf[slot]!, FreeChange.IdleReturned);
      else if (state[slot] === MachineState.Speculative)
        this.#availability.noteFreeChange(classOf[slot]!, FreeChange.SpeculativeReturned);
    }
  }

  /** Undoes all claims of the ranked row being served. */
  undo(rankedRow: number): void {
    this.rewind(this.#claims.creditStart[rankedRow]!);
    this.#claims.dropCredits(rankedRow);
    this.#claims.openLater(rankedRow);
  }

  /** Undoes the claims that a ranked row made in the pass, from index `from` on; its earlier credits stay. */
  takeBack(rankedRow: number, from: number): void {
    this.rewind(from);
    if (this.#credits.outcome[rankedRow] === Credit.Short) this.#claims.forgetLater(rankedRow);
    else this.#claims.forgetRow(rankedRow);
  }
}
