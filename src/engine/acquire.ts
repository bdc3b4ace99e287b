// Acquisition: what a row still lacks after credit is taken from the shared pools, Idle machines before Speculative
// ones, each in pool order, until the row is covered.

import type { Domains } from '../fleet/index.ts';
import type { Candidates, ClassFilter } from './candidate-list.ts';
import type { Cycle } from './cycle.ts';
import { drainingFor } from './flight.ts';

/** Whether a machine with another row's target may be taken: only for what is not already draining towards this row. */
export function beyondDrains(cycle: Cycle, turn: number, drains: readonly number[]): ClassFilter | null {
  return drains.length === 0 ? null : addsBeyond(cycle, turn, drains);
}

/** By itself, since what a function closes over is put aside whenever it is called, and most rows have no drains. */
function addsBeyond(cycle: Cycle, turn: number, drains: readonly number[]): ClassFilter {
  return (classNumber) => cycle.beyond(turn, drains).adds(classNumber, true);
}

/** Takes free machines in pool order until the row is covered or the pools have nothing more for it. */
export function acquire(cycle: Cycle, turn: number): void {
  const { freeMachines, turns } = cycle;
  acquireFrom(
    cycle,
    turn,
    freeMachines.candidates(turns.pattern[turn]!, turns.profile[turn]!),
    null,
    drainingFor(cycle, turn, true),
  );
}

/** The same from one domain only. */
export function acquireIn(
  cycle: Cycle,
  turn: number,
  domains: Domains,
  domain: number,
  drains: readonly number[],
): void {
  const { freeMachines, turns } = cycle;
  const candidates = freeMachines.candidatesIn(turns.pattern[turn]!, turns.profile[turn]!, domains, domain);
  acquireFrom(cycle, turn, candidates, (c) => domains.of(c) === domain, drains);
}

function acquireFrom(
  cycle: Cycle,
  turn: number,
  candidates: Candidates,
  allowed: ClassFilter | null,
  drains: readonly number[],
): void {
  const { freeMachines, turns, unfilled } = cycle;
  const mayTakeTargeted = beyondDrains(cycle, turn, drains);
  // Whose it is matters for machines with a target only.
  const key = cycle.fleet.machines.specialIdle.length === 0 ? 0 : turns.key[turn]!;
  while (!unfilled.covered) {
    const slot = freeMachines.nextIdle(candidates, unfilled, key, allowed, mayTakeTargeted);
    if (slot === -1) break;
    cycle.take(turn, slot);
  }
  while (!unfilled.covered) {
    const slot = freeMachines.nextSpeculative(candidates, unfilled, allowed);
    if (slot === -1) break;
    cycle.take(turn, slot);
  }
}
