// Claims: which ranked row counts on which machine in this cycle, by machine and in claim order. The only writer of
// these columns; credits and the pass over the free machines decide what is claimed. A table of `Cycle`, which all
// phases read.

import { ColumnGroup, type ReadonlyColumns } from '../../collections/table.ts';

/** A part of `Claims.slots`. */
export interface ClaimRange {
  readonly from: number;
  readonly to: number;
}

/** Claims as other files see them. */
export type ClaimsView = ReadonlyColumns<Claims>;

export class Claims {
  readonly bySlot = new ColumnGroup(this);
  /** The claiming ranked row plus one; 0 for none. */
  readonly claimedBy = this.bySlot.i32();

  readonly inOrder = new ColumnGroup(this);
  /** Claimed machines in claim order: one region per cluster for its credits, then the claims of the pass. */
  readonly slots = this.inOrder.u32();
  /** Classes of acquired machines, in claim order; not written for credits. */
  readonly acquiredClasses = this.inOrder.u32();

  readonly byRankedRow = new ColumnGroup(this);
  /** Credits of the ranked row: `slots[creditStart … creditEnd − 1]`. */
  readonly creditStart = this.byRankedRow.u32();
  readonly creditEnd = this.byRankedRow.u32();
  /** Free machines that it acquired: `slots[laterStart … laterEnd − 1]`. */
  readonly laterStart = this.byRankedRow.u32();
  readonly laterEnd = this.byRankedRow.u32();

  #count = 0;
  /** Claims that other lanes have made in the pass: parts of `slots`, each from an index up to another. */
  #ofLanes: readonly ClaimRange[] = [];

  /** Index in `slots` of the next claim. */
  get count(): number {
    return this.#count;
  }

  /** Continues with the claim at an index of `slots`. */
  continueAt(index: number): void {
    this.#count = index;
  }

  reserveMachines(size: number): void {
    this.bySlot.reserve(size);
  }

  reserveRows(limit: number): void {
    this.byRankedRow.reserve(limit);
  }

  reserveClaims(count: number): void {
    this.inOrder.reserve(count);
  }

  isFree(slot: number): boolean {
    return this.claimedBy[slot] === 0;
  }

  /** Opens the list of a ranked row's credits: claims made with `credit` are added to it. */
  openCredits(rankedRow: number): void {
    this.creditStart[rankedRow] = this.#count;
    this.creditEnd[rankedRow] = this.#count;
  }

  /** Opens the list of what a ranked row acquires: claims made with `acquire` are added to it. */
  openLater(rankedRow: number): void {
    this.laterStart[rankedRow] = this.#count;
    this.laterEnd[rankedRow] = this.#count;
  }

  credit(rankedRow: number, slot: number): void {
    this.add(rankedRow, slot);
    this.creditEnd[rankedRow] = this.#count;
  }

  acquire(rankedRow: number, slot: number, classNumber: number): void {
    this.acquiredClasses[this.#count] = classNumber;
    this.add(rankedRow, slot);
    this.laterEnd[rankedRow] = this.#count;
  }

  /** Claims a machine without adding it to a list of the ranked row. */
  add(rankedRow: number, slot: number): void {
    this.claimedBy[slot] = rankedRow + 1;
    this.slots[this.#count++] = slot;
  }

  /** Undoes the claim on one machine, in whatever cycle it was made. */
  release(slot: number): void {
    this.claimedBy[slot] = 0;
  }

  /** Undoes the last claim and returns its machine. */
  pop(): number {
    const slot = this.slots[--this.#count]!;
    this.claimedBy[slot] = 0;
    return slot;
  }

  /** Undoes all claims from an index of `slots` on. */
  undoFrom(index: number): void {
    for (let i = index; i < this.#count; i++) this.claimedBy[this.slots[i]!] = 0;
    this.#count = Math.min(this.#count, index);
  }

  /** Adopts claims that other lanes have made: they are in `slots` and in the columns already. */
  adopt(ranges: readonly ClaimRange[]): void {
    this.#ofLanes = ranges;
  }

  /** Undoes all claims of a pass that began at an index of `slots`, those of other lanes included. */
  undoPass(start: number): void {
    this.undoFrom(start);
    for (const { from, to } of this.#ofLanes)
      for (let i = from; i < to; i++) this.claimedBy[this.slots[i]!] = 0;
    this.#ofLanes = [];
  }

  /** The parts of `slots` with the claims of a pass that began at an index. */
  ofPass(start: number): readonly ClaimRange[] {
    return [{ from: start, to: Math.max(start, this.#count) }, ...this.#ofLanes];
  }

  /** Empties the list of credits of a ranked row whose claims were undone. */
  dropCredits(rankedRow: number): void {
    this.creditEnd[rankedRow] = this.creditStart[rankedRow]!;
  }

  /** Forgets both lists of a ranked row. */
  forgetRow(rankedRow: number): void {
    this.forgetLater(rankedRow);
    this.creditStart[rankedRow] = 0;
    this.creditEnd[rankedRow] = 0;
  }

  /** Forgets what a ranked row acquired, and keeps its credits. */
  forgetLater(rankedRow: number): void {
    this.laterStart[rankedRow] = 0;
    this.laterEnd[rankedRow] = 0;
  }

  /** Undoes all claims on machines; the lists of ranked rows must be opened again before they are read. */
  releaseAll(): void {
    this.claimedBy.fill(0);
  }

  /** Forgets everything. Clearing whole columns is faster than resetting claims one by one, where there are many. */
  clear(): void {
    for (const column of this.byRankedRow.columns()) column.fill(0);
    this.claimedBy.fill(0);
    this.#count = 0;
    this.#ofLanes = [];
  }

  /** Slots that a ranked row claims, in claim order. */
  of(rankedRow: number): number[] {
    const slots: number[] = [];
    for (let i = this.creditStart[rankedRow]!; i < this.creditEnd[rankedRow]!; i++)
      slots.push(this.slots[i]!);
    for (let i = this.laterStart[rankedRow]!; i < this.laterEnd[rankedRow]!; i++) slots.push(this.slots[i]!);
    return slots;
  }
}
