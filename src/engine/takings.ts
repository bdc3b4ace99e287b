// What each row takes of machines after Phase 1: of those that it claims, and with sharing of what better-ranked rows leave
// over of theirs. What rows take of a machine never exceeds it. Used by served-tally.ts and machine-users.ts.

import { Credit } from './assign/credits.ts';
import { RowKind } from './assign/ranked-rows.ts';
import { hostedGangs } from './assign/unfilled.ts';
import type { Cycle } from './cycle.ts';

/** Called for one row after another; an `amount` is by dimension and valid during the call. */
export interface TakingsVisitor {
  begin(rankedRow: number): void;
  /** A part of a machine that the row claims or, with `isShare`, borrows. The amount may be zero. */
  take(slot: number, amount: Float64Array, isShare: boolean): void;
  end(rankedRow: number): void;
}

/** Rows of a cluster that needed no free machines, whose takings last until the cluster is served again; or the others. */
export type RowsOfCluster = 'settled' | 'open';

export class Takings {
  readonly #cycle: Cycle;
  /** By dimension: what the row being visited has yet to take, and what it takes of one machine. */
  readonly #want: Float64Array;
  readonly #amount: Float64Array;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.#want = new Float64Array(cycle.fleet.dimensions.stride);
    this.#amount = new Float64Array(cycle.fleet.dimensions.stride);
  }

  /** Visits rows of a cluster: those that do not share, then those that do, each in the order they are served. */
  visit(cluster: number, rows: RowsOfCluster, visitor: TakingsVisitor): void {
    this.visitOthers(cluster, rows, visitor);
    this.visitLenders(cluster, rows, visitor);
  }

  /** Visits rows of a cluster that do not share. */
  visitOthers(cluster: number, rows: RowsOfCluster, visitor: TakingsVisitor): void {
    const { rankedRows, result } = this.#cycle;
    const [start, end] = [rankedRows.start[cluster]!, rankedRows.end[cluster]!];
    const { outcome, pending, pendingEnd } = this.#cycle.credits;
    if (rows === 'settled') {
      for (let rankedRow = start; rankedRow < end; rankedRow++)
        if (outcome[rankedRow] === Credit.Covered) this.#visitUnshared(rankedRow, visitor);
    } else {
      for (let i = start; i < pendingEnd[cluster]!; i++) this.#visitUnshared(pending[i]!, visitor);
      for (const rankedRow of result.unhosted.get(cluster) ?? []) this.#visitUnshared(rankedRow, visitor);
    }
  }

  #visitUnshared(rankedRow: number, visitor: TakingsVisitor): void {
    if (!this.#cycle.sharing.lends(rankedRow)) this.visitClaims(rankedRow, visitor);
  }

  /** A row that does not share takes of its claims in the order it claimed them. */
  visitClaims(rankedRow: number, visitor: TakingsVisitor): void {
    const { claims, fleet, rankedRows } = this.#cycle;
    const { count, stride } = fleet.dimensions;
    const from = rankedRows.row[rankedRow]! * stride;
    const needs = needsOf(this.#cycle, rankedRow);
    visitor.begin(rankedRow);
    // The amounts of a row that is set aside are unknown.
    const isKnown = rankedRows.kind[rankedRow] !== RowKind.SetAside;
    for (let d = 0; d < count; d++)
      this.#want[d] = isKnown ? fleet.demand.aggregate.data[from + d]! * needs : 0;
    const { slots, creditStart, creditEnd, laterStart, laterEnd } = claims;
    for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++)
      this.#takeOf(slots[i]!, rankedRow, visitor);
    for (let i = laterStart[rankedRow]!; i < laterEnd[rankedRow]!; i++)
      this.#takeOf(slots[i]!, rankedRow, visitor);
    visitor.end(rankedRow);
  }

  #takeOf(slot: number, rankedRow: number, visitor: TakingsVisitor): void {
    const { fleet, rankedRows } = this.#cycle;
    const { classes, demand, dimensions, machines } = fleet;
    const { count, stride } = dimensions;
    const c = machines.classOf[slot]!;
    const row = rankedRows.row[rankedRow]!;
    // A fold counts whole gangs; what remains of a machine serves none.
    const gangs = rankedRows.kind[rankedRow] === RowKind.Fold ? hostedGangs(fleet, c, row) : null;
    for (let d = 0; d < count; d++) {
      const room =
        gangs === null
          ? classes.allocatable.data[c * stride + d]!
          : gangs * demand.aggregate.data[row * stride + d]!;
      // An infinite number of gangs, if one wants nothing, times nothing.
      const taken = this.#want[d] === 0 ? 0 : Math.min(this.#want[d]!, room);
      this.#amount[d] = taken;
      this.#want[d]! -= taken;
    }
    visitor.take(slot, this.#amount, false);
  }

  /** Visits rows of a cluster that share. */
  visitLenders(cluster: number, rows: RowsOfCluster, visitor: TakingsVisitor): void {
    const { credits, rankedRows, sharing } = this.#cycle;
    const isSettled = rows === 'settled';
    if (!sharing.isActive) return;
    if (!isSettled && rankedRows.start[cluster] === credits.pendingEnd[cluster]) return;
    let current: number | null = null;
    sharing.visit(cluster, isSettled, {
      row: (rankedRow) => {
        if (current !== null) visitor.end(current);
        current = (credits.outcome[rankedRow] === Credit.Covered) === isSettled ? rankedRow : null;
        if (current !== null) visitor.begin(rankedRow);
      },
      borrowed: (slot, amount) => {
        if (current !== null) visitor.take(slot, amount, true);
      },
      filled: (slot, amount) => {
        if (current !== null) visitor.take(slot, amount, false);
      },
    });
    if (current !== null) visitor.end(current);
  }
}

/** Needs that a ranked row serves. Members that a fold does not host have ranked rows of their own. */
export function needsOf({ rankedRows, result }: Cycle, rankedRow: number): number {
  if (rankedRows.kind[rankedRow] !== RowKind.Fold) return 1;
  return result.hosted.get(rankedRow) ?? rankedRows.members[rankedRow]!;
}
