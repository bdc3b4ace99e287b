// What is on its way to a row in draining machines: those that drain for it, for a row that borrows what the drains of
// better-ranked rows of its cluster will leave over, and what it may adopt. Phase 1 takes other rows' machines and reserved
// Idle ones only for what these will not cover. Used by solve.ts, spread.ts, domain.ts and preempt.ts.

import { MachineState } from '../../src/model/index.ts';
import { drainingFor, fits, type OracleState, type Row, type Slot } from './ledger.ts';
import { borrow, borrowable, enterRemainders, type Remainder, remaindersFor } from './remainders.ts';
import { Shortage } from './shortage.ts';

export interface Coming {
  /** Remainders of machines that drain for better-ranked rows. */
  readonly leftovers: readonly Remainder[];
  /** Machines that drain for the row itself. */
  readonly drains: readonly Slot[];
  /** Machines that drain for rows which are gone, and that the row may adopt in Phase 2; by id. */
  readonly adoptable: readonly Slot[];
}

export const NOTHING_COMING: Coming = { leftovers: [], drains: [], adoptable: [] };

/** What is coming to the row at its turn in Phase 1. */
export function comingTo(oracleState: OracleState, row: Row): Coming {
  return {
    leftovers: row.borrows ? remaindersFor(oracleState.leftovers, row) : [],
    drains: drainingFor(oracleState, row),
    adoptable: row.lends ? adoptableBy(oracleState, row) : [],
  };
}

/**
 * "A draining machine whose target's row is gone counts in (b) for the first unmet row of that cluster it fits": by id,
 * those that no earlier row has adopted (R99).
 */
export function adoptableBy({ liveKeys, retargets, slots }: OracleState, row: Row): readonly Slot[] {
  return slots.filter(
    (slot) =>
      slot.machine.state === MachineState.Draining &&
      slot.targetKey !== null &&
      !liveKeys.has(slot.targetKey) &&
      slot.machine.target?.cluster === row.key.cluster &&
      !retargets.has(slot.id) &&
      fits(row, slot),
  );
}

/** What would be missing once everything had come, in the order of Phase 2: first leftovers, then own drains (R101). */
export function afterComing(row: Row, short: Shortage, { leftovers, drains }: Coming): Shortage {
  const later = short.copy();
  for (const { amount } of borrowable(leftovers, row, later.deficit())) later.borrow(amount);
  for (const slot of drains) later.take(slot);
  return later;
}

/** What would be missing once everything had come and the row had adopted what it may, by id (R101). */
export function afterAdopting(row: Row, short: Shortage, coming: Coming): Shortage {
  const later = afterComing(row, short, coming);
  for (const slot of coming.adoptable) if (!later.covered && later.adds(slot)) later.take(slot);
  return later;
}

/**
 * After a row's turn in Phase 1: an unmet borrower will use what earlier drains leave over, and what its own drains leave
 * over is there for later rows. Phase 2 will do the same, with its picks (R101).
 */
export function forecastDrains(oracleState: OracleState, row: Row): void {
  const short = Shortage.of(row, row.claims);
  if (row.borrows) {
    for (const { amount } of borrow(oracleState.leftovers, row, short.deficit())) short.borrow(amount);
  }
  enterRemainders(oracleState.leftovers, row, drainingFor(oracleState, row), short.deficit());
}
