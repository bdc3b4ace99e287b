// Strict spread: a plain row whose machines must stay even over the domains of a topology label. Bound machines count,
// whatever their skew; every added machine goes to a domain that is at most maxSkew − 1 above the emptiest. `creditSpread`
// is called by credit.ts, before and in the pass over the free machines; `acquireEvenly` by serve.ts, in the pass.

import type { Domains } from '../../fleet/index.ts';
import { classesInFlight } from '../candidates/domain-candidates.ts';
import type { Cycle } from '../cycle.ts';
import { addUnmet } from '../unmet.ts';
import type { SpreadView } from '../views.ts';
import { beyondDrains } from './acquire.ts';
import { Credit } from './credits.ts';
import { creatingInFlight, drainingFor, idleInFlight } from './in-flight.ts';
import { NONE } from './ranked-rows.ts';
import { type SpreadTest, spreadDomains } from './skew.ts';

/** Classes with the label that fit a ranked row and have free Idle or Speculative machines now. */
function freeClasses(cycle: Cycle, rankedRow: number, domains: Domains): Set<number> {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
  const found = new Set<number>();
  for (const c of pattern.fittingClasses()) {
    if (cycle.freeFor(rankedRow, c) > 0 && domains.of(c) >= 0) found.add(c);
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
  const offers = new Set([...free, ...classesInFlight(cycle, rankedRow, domains)]);
  const { laterEnd, laterStart, slots } = cycle.claims;
  for (let i = laterStart[rankedRow]!; i < laterEnd[rankedRow]!; i++) {
    offers.add(cycle.fleet.machines.classOf[slots[i]!]!);
  }
  return { counts: test.counts(), offers, free };
}

/**
 * Credits a strict-spread row. `early`: before the pass over the free machines. A row with machines in flight waits then,
 * because their test depends on the free machines.
 */
export function creditSpread(cycle: Cycle, rankedRow: number, early: boolean): Credit {
  const { unfilled } = cycle;
  const hasInFlight = cycle.rankedRows.hasInFlight[rankedRow] === 1;
  if (early && hasInFlight) return Credit.Waits;
  const domains = spreadDomains(cycle, rankedRow);
  const list = cycle.evenList.begin(rankedRow, domains);
  list.collectOwnAndOrphans();
  if (!list.credit([], early)) return Credit.Waits;
  if (unfilled.covered) return Credit.Covered;
  if (hasInFlight) {
    cycle.domainCandidates.begin(rankedRow, domains);
    creditInFlight(cycle, rankedRow, cycle.domainCandidates.test);
    if (unfilled.covered) return Credit.Covered;
  }
  if (!cycle.sharing.takesOver(rankedRow)) return Credit.Short;
  list.collectOthers(early);
  if (!list.credit(hasInFlight ? drainingFor(cycle, rankedRow, true) : [], early)) return Credit.Waits;
  return unfilled.covered ? Credit.Covered : Credit.Short;
}

/** Acquires free machines that keep a credited row even; each step searches all of them again. */
export function acquireEvenly(cycle: Cycle, rankedRow: number): void {
  const { domainCandidates, purchases, unfilled } = cycle;
  const { test } = domainCandidates;
  const domains = spreadDomains(cycle, rankedRow);
  domainCandidates.begin(rankedRow, domains);
  const mayTakeTargeted = cycle.canBind(rankedRow)
    ? beyondDrains(cycle, rankedRow, drainingFor(cycle, rankedRow, true))
    : null;
  if (cycle.canBind(rankedRow)) {
    while (!unfilled.covered) {
      test.settle(unfilled);
      const slot = domainCandidates.next(mayTakeTargeted);
      if (slot === NONE) break;
      if (purchases.areLimited && !purchases.pays(rankedRow, slot)) {
        beginAgain(cycle, rankedRow, domains);
        continue;
      }
      const classNumber = cycle.freeMachines.classOf(slot);
      cycle.pass.take(rankedRow, slot);
      domainCandidates.took(classNumber);
      test.count(classNumber);
    }
  }
  if (unfilled.covered) return;
  const view = viewOf(cycle, rankedRow, domains, test);
  const isStopped =
    cycle.canBind(rankedRow) &&
    purchases.wouldChange(rankedRow, () => {
      beginAgain(cycle, rankedRow, domains);
      test.settle(unfilled);
      return domainCandidates.next(mayTakeTargeted) !== NONE;
    });
  addUnmet(cycle, rankedRow, view, isStopped);
}

/** Collects the candidates of a row again; what it has acquired so far is counted. */
function beginAgain(cycle: Cycle, rankedRow: number, domains: Domains): void {
  const { claims, domainCandidates, fleet } = cycle;
  domainCandidates.begin(rankedRow, domains);
  for (let i = claims.laterStart[rankedRow]!; i < claims.laterEnd[rankedRow]!; i++)
    domainCandidates.test.count(fleet.machines.classOf[claims.slots[i]!]!);
}

/** Credits machines in flight that keep the row even: at each step the first that does. */
function creditInFlight(cycle: Cycle, rankedRow: number, test: SpreadTest): void {
  const { unfilled } = cycle;
  const { machines } = cycle.fleet;
  const slots = [...idleInFlight(cycle, rankedRow), ...creatingInFlight(cycle, rankedRow, true)];
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
