// Machines in flight: on their way to a row, found by their target. Only machines that fit the row count; one that no
// longer fits could not be bound when it arrives. Used by credit.ts, spread.ts, domain-sums.ts, acquire.ts,
// domain-candidates.ts and preempt.ts.

import { MachineState } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';

const NOTHING: number[] = [];

/** Fitting machines on their way to a ranked row, in id order. */
export function targeted(cycle: Cycle, rankedRow: number): number[] {
  const { machines, patterns } = cycle.fleet;
  const slice = machines.targetedAt(cycle.rankedRows.key[rankedRow]!);
  if (slice === undefined) return NOTHING;
  const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
  const slots: number[] = [];
  for (let i = slice.offset; i < slice.offset + slice.length; i++) {
    const slot = machines.arena.data[i]!;
    if (pattern.fits(machines.classOf[slot]!)) slots.push(slot);
  }
  return slots;
}

/** Fitting machines with the ranked row's target that pass a test. Most ranked rows have none and return at once. */
export function unboundWhere(cycle: Cycle, rankedRow: number, test: (slot: number) => boolean): number[] {
  return cycle.rankedRows.hasInFlight[rankedRow] === 0 ? NOTHING : targeted(cycle, rankedRow).filter(test);
}

/** Unclaimed Idle machines in flight for a ranked row, in pool order, which among Idle ones is `keepOrder`. */
export function idleInFlight(cycle: Cycle, rankedRow: number): number[] {
  const { machines } = cycle.fleet;
  const slots = unboundWhere(cycle, rankedRow, (slot) => {
    return (
      machines.state[slot] === MachineState.Idle && machines.blocked[slot] === 0 && cycle.claims.isFree(slot)
    );
  });
  return slots.sort(machines.keepOrder);
}

/** Unclaimed Creating machines in flight for a ranked row, by id. */
export function creatingInFlight(cycle: Cycle, rankedRow: number, withBlocked: boolean): number[] {
  const { machines } = cycle.fleet;
  return unboundWhere(cycle, rankedRow, (slot) => {
    const blocked = machines.blocked[slot] === 1;
    return (
      machines.state[slot] === MachineState.Creating && (withBlocked || !blocked) && cycle.claims.isFree(slot)
    );
  });
}

/** Machines that drain for a ranked row, by id. */
export function drainingFor(cycle: Cycle, rankedRow: number, withBlocked: boolean): number[] {
  return cycle.rankedRows.hasInFlight[rankedRow] === 0
    ? NOTHING
    : findDraining(cycle, rankedRow, withBlocked);
}

/** Separate function: a closure in `drainingFor` would allocate a context on every call. */
function findDraining(cycle: Cycle, rankedRow: number, withBlocked: boolean): number[] {
  const { machines } = cycle.fleet;
  return unboundWhere(cycle, rankedRow, (slot) => {
    return machines.state[slot] === MachineState.Draining && (withBlocked || machines.blocked[slot] === 0);
  });
}

/** Unclaimed Speculative machines with the ranked row's target: its own, though they are free machines like any other. */
export function ownSpeculative(cycle: Cycle, rankedRow: number): number[] {
  const { machines } = cycle.fleet;
  return unboundWhere(cycle, rankedRow, (slot) => {
    return (
      machines.state[slot] === MachineState.Speculative &&
      machines.blocked[slot] === 0 &&
      cycle.claims.isFree(slot)
    );
  });
}

/** Machines that drain for rows which are gone, and that a lender may adopt if it is left unmet; by id. */
export function adoptableBy(cycle: Cycle, rankedRow: number): readonly number[] {
  if (!cycle.sharing.lends(rankedRow)) return NOTHING;
  const slots = cycle.adoptable.of(cycle.rankedRows.cluster[rankedRow]!);
  if (slots.length === 0) return NOTHING;
  const pattern = cycle.patternOf(rankedRow);
  return slots.filter((slot) => pattern.fits(cycle.fleet.machines.classOf[slot]!));
}
