// The pass over the free machines: ranked rows that waited for it, in the order they were served. Claims of the pass also
// remove machines from the free machines, and undoing them returns the machines. A table of `Cycle`, written while
// serve.ts serves rows, in one lane or in several.

import { ColumnGroup, type ReadonlyColumns } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { FreeMachines } from '../candidates/free-machines.ts';
import type { GangAvailability } from '../candidates/gang-availability.ts';
import { FreeChange } from '../candidates/topology.ts';
import type { ClaimRange, ClaimsView } from './claims.ts';
import type { CreditsView } from './credits.ts';
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
  #count = 0;

  /** Reused from cycle to cycle, since a cold fleet has hundreds of thousands of ranked rows. */
  readonly byPlace = new ColumnGroup(this);
  readonly rankedRow = this.byPlace.u32();
  /**
   * Its place in rank order among all rows of the pass, in whichever lane they are served; members that their fold cannot
   * host have one between the fold and the next row.
   */
  readonly position = this.byPlace.f64();

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

  /** Adds the next ranked row. */
  enter(rankedRow: number, position: number): void {
    const place = this.#count++;
    if (place === this.rankedRow.length) this.byPlace.reserve(this.#count);
    this.rankedRow[place] = rankedRow;
    this.position[place] = position;
  }

  /** Position of the ranked row entered last. */
  get lastPosition(): number {
    return this.position[this.#count - 1]!;
  }

  /** Adds the ranked rows that another lane has served, with their positions, among those served here. */
  merge(rankedRows: Uint32Array, positions: Float64Array): void {
    const own = this.#count;
    this.byPlace.reserve(own + rankedRows.length);
    this.#count = own + rankedRows.length;
    // From the end, so that no entry is overwritten before it is moved.
    for (let to = this.#count - 1, mine = own - 1, other = rankedRows.length - 1; other >= 0; to--) {
      const isMine = mine >= 0 && this.position[mine]! > positions[other]!;
      this.rankedRow[to] = isMine ? this.rankedRow[mine]! : rankedRows[other]!;
      this.position[to] = isMine ? this.position[mine]! : positions[other]!;
      if (isMine) mine--;
      else other--;
    }
  }

  /** Undoes all claims of the pass before the next cycle begins, when all machines become available again. */
  undoAll(): void {
    const { end } = this.#credits;
    this.#claims.undoPass(end);
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
    this.#unfilled.take(classNumber, true);
    this.#claims.acquire(rankedRow, slot, classNumber);
    const change = this.#freeMachines.isIdle(slot) ? FreeChange.IdleTaken : FreeChange.SpeculativeTaken;
    this.#freeMachines.take(slot, classNumber);
    this.#availability.noteFreeChange(classNumber, change);
  }

  /** Claims a bound or in-flight machine for a ranked row that waited for the pass. */
  credit(rankedRow: number, slot: number, fits: boolean): void {
    this.#credits.credit(rankedRow, slot, fits);
    this.#takeOut(slot);
  }

  /** Removes a claimed machine from the free machines, if it is one. */
  #takeOut(slot: number): void {
    this.#freeMachines.take(slot, this.#fleet.machines.classOf[slot]!);
    this.#noteTaken(slot);
  }

  #noteTaken(slot: number): void {
    const { classOf, state } = this.#fleet.machines;
    if (state[slot] === MachineState.Idle)
      this.#availability.noteFreeChange(classOf[slot]!, FreeChange.IdleTaken);
    else if (state[slot] === MachineState.Speculative)
      this.#availability.noteFreeChange(classOf[slot]!, FreeChange.SpeculativeTaken);
  }

  /** Another lane has made the claims in a part of `claims.slots`: the sums for gangs follow. */
  noteClaimsOfLane({ from, to }: ClaimRange): void {
    for (let i = from; i < to; i++) this.#noteTaken(this.#claims.slots[i]!);
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
}
