// What is on its way to a row in draining machines: those that drain for it, those that drain for a row of its cluster that
// is gone and, for a row that borrows, what the drains of better-ranked rows of its cluster will leave over. Phase 1 takes
// other rows' machines and reserved Idle ones only for what these will not cover. Used by solve.ts, spread.ts and domain.ts.

import { MachineState } from '../../src/model/index.ts';
import { drainingFor, fits, type OracleState, type Row, type Slot } from './ledger.ts';
import { borrow, borrowable, enterRemainders, type Remainder, remaindersFor } from './remainders.ts';
import { Shortage } from './shortage.ts';

export interface Coming {
  /** Remainders of machines that drain for better-ranked rows. */
  readonly leftovers: readonly Remainder[];
  /** Machines that drain for the row itself. */
  readonly drains: readonly Slot[];
  /** Machines that drain for a row that is gone, and that this row may adopt. */
  readonly orphans: readonly Slot[];
}

export const NOTHING_COMING: Coming = { leftovers: [], drains: [], orphans: [] };

/** What is coming to the row at its turn in Phase 1. Whether a strict-spread row may adopt is known in Phase 2 only. */
export function comingTo(oracleState: OracleState, row: Row): Coming {
  return {
    leftovers: row.borrows ? remaindersFor(oracleState.leftovers, row) : [],
    drains: drainingFor(oracleState, row),
    orphans: row.lends && row.spread === undefined ? adoptable(oracleState, row, oracleState.expected) : [],
  };
}

/**
 * What would be missing once everything had come, in the order of Phase 2: leftovers, own drains, drains to adopt (R101).
 * Returns the adopted ones too.
 */
function onceCome(
  row: Row,
  short: Shortage,
  { leftovers, drains, orphans }: Coming,
): { readonly later: Shortage; readonly adopted: readonly Slot[] } {
  const later = short.copy();
  for (const { amount } of borrowable(leftovers, row, later.deficit())) later.borrow(amount);
  for (const slot of drains) later.take(slot);
  const adopted: Slot[] = [];
  for (const slot of orphans) {
    if (later.covered || !later.adds(slot)) continue;
    later.take(slot);
    adopted.push(slot);
  }
  return { later, adopted };
}

/** What would be missing once everything had come. */
export function afterComing(row: Row, short: Shortage, coming: Coming): Shortage {
  return onceCome(row, short, coming).later;
}

/**
 * After a row's turn in Phase 1: an unmet borrower will use what earlier drains leave over, and what its own drains and those
 * it will adopt leave over is there for later rows. Phase 2 will do the same, with its picks (R101).
 */
export function forecastDrains(oracleState: OracleState, row: Row): void {
  const short = Shortage.of(row, row.claims);
  const { adopted } = onceCome(row, short, comingTo(oracleState, row));
  if (row.borrows) {
    for (const { amount } of borrow(oracleState.leftovers, row, short.deficit())) short.borrow(amount);
  }
  for (const { id } of adopted) oracleState.expected.add(id);
  const arriving = [...drainingFor(oracleState, row), ...adopted];
  enterRemainders(oracleState.leftovers, row, arriving, short.deficit());
}

/**
 * "A draining machine whose target's row is gone counts in (b) for the first unmet row of that cluster it fits": by id,
 * those that no earlier row has adopted (R99).
 */
export function adoptable(
  { liveKeys, slots }: OracleState,
  row: Row,
  adopted: { has(id: string): boolean },
): readonly Slot[] {
  return slots.filter(
    (slot) =>
      slot.machine.state === MachineState.Draining &&
      slot.targetKey !== null &&
      !liveKeys.has(slot.targetKey) &&
      slot.machine.target?.cluster === row.key.cluster &&
      !adopted.has(slot.id) &&
      fits(row, slot),
  );
}
