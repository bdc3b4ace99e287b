// Acquisition: what a row still lacks after credit comes from the shared free machines, tier by tier, Idle before
// Speculative ones, each in pool order, until the row is covered. Called by serve.ts and gang.ts; spread.ts shares
// `beyondDrains`.

import type { Domains } from '../../fleet/index.ts';
import type { Candidates } from '../candidates/candidate-list.ts';
import type { ClassFilter } from '../candidates/class-groups.ts';
import type { Cycle } from '../cycle.ts';
import { adoptableBy, drainingFor } from './in-flight.ts';
import { NONE } from './ranked-rows.ts';

/**
 * Whether a machine with another row's target may be claimed: only for what is not already draining towards this row, and
 * what it may not adopt. Null: always.
 */
export function beyondDrains(cycle: Cycle, rankedRow: number, drains: readonly number[]): ClassFilter | null {
  if (cycle.fleet.machines.specialIdle.length === 0) return null;
  const adoptable = adoptableBy(cycle, rankedRow);
  const isNothing = drains.length + adoptable.length === 0 && !cycle.sharing.hasLeftovers(rankedRow);
  return isNothing ? null : addsBeyond(cycle, rankedRow, drains, adoptable);
}

/** Separate function: a closure in `beyondDrains` would allocate a context on every call, and most rows have no drains. */
function addsBeyond(
  cycle: Cycle,
  rankedRow: number,
  drains: readonly number[],
  adoptable: readonly number[],
): ClassFilter {
  return (classNumber) => cycle.beyondAdopted(rankedRow, drains, adoptable).adds(classNumber, true);
}

/** Claims free machines in pool order until the row is covered or has no candidates left. */
export function acquire(cycle: Cycle, rankedRow: number): void {
  const drains = drainingFor(cycle, rankedRow, true);
  if (!acquireFromTiers(cycle, rankedRow, drains)) acquireFromTiers(cycle, rankedRow, drains);
}

/** Returns false if a purchase was stopped: from then on the row has other tiers. */
function acquireFromTiers(cycle: Cycle, rankedRow: number, drains: readonly number[]): boolean {
  const { pattern, profile } = cycle.rankedRows;
  for (const tier of cycle.tiersOf(rankedRow)) {
    const candidates = tier.candidates(pattern[rankedRow]!, profile[rankedRow]!);
    if (!acquireFrom(cycle, rankedRow, candidates, null, drains)) return false;
    if (cycle.unfilled.covered) return true;
  }
  return true;
}

/** Whether a row that has acquired what it may would buy a machine if the ceiling on spending were not reached. */
export function wouldBuy(cycle: Cycle, rankedRow: number): boolean {
  const { freeMachines, rankedRows, unfilled } = cycle;
  const { pattern, profile } = rankedRows;
  return cycle.purchases.wouldChange(rankedRow, () =>
    cycle.tiersOf(rankedRow).some((tier) => {
      const candidates = tier.candidates(pattern[rankedRow]!, profile[rankedRow]!);
      return freeMachines.nextSpeculative(candidates, unfilled) !== NONE;
    }),
  );
}

/** Acquires from one domain only. */
export function acquireIn(
  cycle: Cycle,
  rankedRow: number,
  domains: Domains,
  domain: number,
  drains: readonly number[],
): void {
  const { pattern, profile } = cycle.rankedRows;
  for (const tier of cycle.tiersOf(rankedRow)) {
    const candidates = tier.candidates(pattern[rankedRow]!, profile[rankedRow]!).in(domains, domain);
    acquireFrom(cycle, rankedRow, candidates, (c) => domains.of(c) === domain, drains);
    if (cycle.unfilled.covered) return;
  }
}

/**
 * `isHere` accepts the classes of the candidates; null: of all classes. Special machines are not sorted by domain. Returns
 * false if a purchase was stopped.
 */
function acquireFrom(
  cycle: Cycle,
  rankedRow: number,
  candidates: Candidates,
  isHere: ClassFilter | null,
  drains: readonly number[],
): boolean {
  const { freeMachines, purchases, rankedRows, unfilled } = cycle;
  const mayTakeTargeted = beyondDrains(cycle, rankedRow, drains);
  // The key matters only for machines with a target.
  const key = cycle.fleet.machines.specialIdle.length === 0 ? 0 : rankedRows.key[rankedRow]!;
  while (!unfilled.covered) {
    const slot = freeMachines.nextIdle(candidates, unfilled, key, isHere, mayTakeTargeted);
    if (slot === -1) break;
    cycle.pass.take(rankedRow, slot);
  }
  while (!unfilled.covered) {
    const slot = freeMachines.nextSpeculative(candidates, unfilled);
    if (slot === -1) break;
    if (purchases.areLimited && !purchases.pays(rankedRow, slot)) return false;
    cycle.pass.take(rankedRow, slot);
  }
  return true;
}
