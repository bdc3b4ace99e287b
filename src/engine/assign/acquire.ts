// Acquisition: what a row still lacks after credit comes from the shared free machines, Idle before Speculative ones, each
// in pool order, until the row is covered.

import type { Domains } from '../../fleet/index.ts';
import type { Candidates, ClassFilter } from '../candidates/candidate-list.ts';
import type { Cycle } from '../cycle.ts';
import { drainingFor } from './in-flight.ts';

/** Whether a machine with another row's target may be claimed: only for what is not already draining towards this row. */
export function beyondDrains(cycle: Cycle, turn: number, drains: readonly number[]): ClassFilter | null {
  return drains.length === 0 ? null : addsBeyond(cycle, turn, drains);
}

/** Separate function: a closure in `beyondDrains` would allocate a context on every call, and most rows have no drains. */
function addsBeyond(cycle: Cycle, turn: number, drains: readonly number[]): ClassFilter {
  return (classNumber) => cycle.beyond(turn, drains).adds(classNumber, true);
}

/** Claims free machines in pool order until the row is covered or has no candidates left. */
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

/** Acquires from one domain only. */
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
  // The key matters only for machines with a target.
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
