// Strict spread: a plain row whose machines must stay even over the domains of a key. Bound machines count, whatever their
// skew; every added machine goes to a domain that is at most maxSkew − 1 above the emptiest.

import type { Domains } from '../../fleet/index.ts';
import { comingClasses } from '../candidates/domain-candidates.ts';
import type { Cycle } from '../cycle.ts';
import { addUnmet } from '../unmet.ts';
import type { SpreadView } from '../views.ts';
import { beyondDrains } from './acquire.ts';
import { Credit } from './credits.ts';
import { comingCreating, comingIdle, drainingFor } from './in-flight.ts';
import { NONE } from './ranked-rows.ts';
import { type SpreadTest, spreadDomains } from './skew.ts';

/** Classes with the key that fit a ranked row and have free Idle or Speculative machines now. */
function freeClasses(cycle: Cycle, rankedRow: number, domains: Domains): Set<number> {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
  const found = new Set<number>();
  for (const c of pattern.fittingClasses()) {
    if (cycle.freeMachines.freeIdle(c) + cycle.freeMachines.freeSpeculative(c) > 0 && domains.of(c) >= 0)
      found.add(c);
  }
  for (const slot of cycle.freeMachines.freeSpecial()) {
    const c = machines.classOf[slot]!;
    if (pattern.fits(c) && domains.of(c) >= 0) found.add(c);
  }
  return found;
}

/** The view of a row that is still short after acquisition; machines it acquired were free when it was served. */
function viewOf(cycle: Cycle, rankedRow: number, domains: Domains, test: SpreadTest): SpreadView {
  const free = freeClasses(cycle, rankedRow, domains);
  const offers = new Set([...free, ...comingClasses(cycle, rankedRow, domains)]);
  const { laterEnd, laterStart, slots } = cycle.claims;
  for (let i = laterStart[rankedRow]!; i < laterEnd[rankedRow]!; i++) {
    offers.add(cycle.fleet.machines.classOf[slots[i]!]!);
  }
  return { counts: test.counts(), offers, free };
}

/**
 * Credits a strict-spread row. With `early`, a row with machines in flight waits: their test depends on the free machines.
 */
export function creditSpread(cycle: Cycle, rankedRow: number, early: boolean): Credit {
  const { unfilled } = cycle;
  const coming = cycle.rankedRows.coming[rankedRow] === 1;
  if (early && coming) return Credit.Waits;
  const domains = spreadDomains(cycle, rankedRow);
  const list = cycle.even.begin(rankedRow, domains);
  list.collectMine();
  if (!list.credit([], early)) return Credit.Waits;
  if (unfilled.covered) return Credit.Covered;
  if (coming) {
    cycle.domainCandidates.begin(rankedRow, domains);
    creditComing(cycle, rankedRow, cycle.domainCandidates.test);
    if (unfilled.covered) return Credit.Covered;
  }
  list.collectOthers(early);
  if (!list.credit(coming ? drainingFor(cycle, rankedRow, true) : [], early)) return Credit.Waits;
  return unfilled.covered ? Credit.Covered : Credit.Short;
}

/** Acquires free machines that keep a credited row even: Idle first, and Idle again after each Speculative one. */
export function acquireEvenly(cycle: Cycle, rankedRow: number): void {
  const { domainCandidates, unfilled } = cycle;
  const { test } = domainCandidates;
  const domains = spreadDomains(cycle, rankedRow);
  domainCandidates.begin(rankedRow, domains);
  if (cycle.canBind(rankedRow)) {
    const mayTakeTargeted = beyondDrains(cycle, rankedRow, drainingFor(cycle, rankedRow, true));
    while (!unfilled.covered) {
      test.settle(unfilled);
      let slot = domainCandidates.nextIdle(mayTakeTargeted);
      if (slot === NONE) slot = domainCandidates.nextSpeculative();
      if (slot === NONE) break;
      const classNumber = cycle.freeMachines.classOf(slot);
      cycle.pass.take(rankedRow, slot);
      domainCandidates.took(classNumber);
      test.count(classNumber);
    }
  }
  if (!unfilled.covered) addUnmet(cycle, rankedRow, viewOf(cycle, rankedRow, domains, test));
}

/** Credits machines in flight that keep the row even: at each step the first that does. */
function creditComing(cycle: Cycle, rankedRow: number, test: SpreadTest): void {
  const { unfilled } = cycle;
  const { machines } = cycle.fleet;
  const slots = [...comingIdle(cycle, rankedRow), ...comingCreating(cycle, rankedRow, true)];
  while (!unfilled.covered) {
    test.settle(unfilled);
    const next = slots.find((slot) => {
      const classNumber = machines.classOf[slot]!;
      return cycle.claims.isFree(slot) && unfilled.adds(classNumber, true) && test.passes(classNumber);
    });
    if (next === undefined) return;
    cycle.pass.credit(rankedRow, next, true);
    test.count(machines.classOf[next]!);
  }
}
