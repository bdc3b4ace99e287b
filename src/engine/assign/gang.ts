// Gangs: rows whose machines must share one value of a key. A gang chooses one domain, keeps to it, and acquires all
// machines or none; bound machines are kept and credited. See docs/internals/engine.md, "Gangs". Called by serve.ts.

import type { Domains } from '../../fleet/index.ts';
import { compareText, type DomainCandidate, effectiveCost } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';
import { addUnmet } from '../unmet.ts';
import { acquireIn } from './acquire.ts';
import type { DomainSums } from './domain-sums.ts';
import { NONE } from './ranked-rows.ts';
import { restampedBy } from './restamps.ts';

const CANDIDATES_SHOWN = 6;

/** Serves one gang: chooses its domain, credits what it has there, and acquires the rest if that completes it. */
export function serveGang(cycle: Cycle, rankedRow: number): void {
  const { demand } = cycle.fleet;
  const { purchases, sums } = cycle;
  sums.begin(rankedRow);
  const domain = bestDomain(cycle, rankedRow);
  const satisfiable =
    domain === NONE ? demand.empty[cycle.rankedRows.row[rankedRow]!] === 1 : isSatisfiable(sums, domain);
  const seen = cycle.isExplained(rankedRow) ? candidatesOf(cycle, rankedRow) : [];
  const claim = (): void => claimIn(cycle, rankedRow, domain, satisfiable);
  // What is in the domain covers the gang, unless some of it still drains. A gang that stays short claims twice, since its
  // domains are ranked by their state before its first claim.
  if (satisfiable && sums.draining.length === 0 && !purchases.areLimited) claim();
  else cycle.freeMachines.tentatively(claim);
  if (purchases.areLimited && !purchases.paysAll(rankedRow, cycle.claims.of(rankedRow))) {
    // Without purchases another domain may be the best one.
    cycle.pass.undo(rankedRow);
    serveGang(cycle, rankedRow);
    return;
  }
  if (cycle.unfilled.covered) {
    settleWhole(cycle, rankedRow, domain, satisfiable, seen);
    return;
  }
  cycle.pass.undo(rankedRow);
  const isStopped = !satisfiable && couldBuy(cycle, rankedRow);
  const order = rankDomains(cycle, rankedRow);
  const candidates = candidatesOf(cycle, rankedRow);
  const missing = domain === NONE ? null : sums.missing(domain);
  claimIn(cycle, rankedRow, domain, satisfiable);
  cycle.result.addRestamped(restampedBy(cycle, rankedRow));
  cycle.result.chooseDomain(rankedRow, { domain, satisfiable, order, candidates, missing });
  addUnmet(cycle, rankedRow, null, isStopped);
}

/** Whether some domain could complete a gang if the ceiling on spending were not reached. */
function couldBuy({ purchases, sums }: Cycle, rankedRow: number): boolean {
  const isStopped = purchases.wouldChange(rankedRow, () => {
    sums.begin(rankedRow);
    return sums.domains.some((domain) => isSatisfiable(sums, domain));
  });
  if (purchases.areWithheld(rankedRow)) sums.begin(rankedRow);
  return isStopped;
}

/** Records that a gang is complete in a domain. */
function settleWhole(
  cycle: Cycle,
  rankedRow: number,
  domain: number,
  satisfiable = true,
  candidates: readonly DomainCandidate[] = [],
): void {
  cycle.result.addRestamped(restampedBy(cycle, rankedRow));
  cycle.result.chooseDomain(rankedRow, { domain, satisfiable, order: [], candidates, missing: null });
}

/** Credits what a gang has in its domain, and acquires the rest if that completes it. */
function claimIn(cycle: Cycle, rankedRow: number, domain: number, satisfiable: boolean): void {
  beginClaims(cycle, rankedRow);
  if (domain === NONE || cycle.unfilled.covered) return;
  creditDomain(cycle, rankedRow, domain, satisfiable);
  cycle.claims.openLater(rankedRow);
  if (!satisfiable || cycle.unfilled.covered || !cycle.canBind(rankedRow)) return;
  acquireIn(cycle, rankedRow, domainsOf(cycle, rankedRow), domain, drainsIn(cycle, rankedRow, domain));
}

function beginClaims(cycle: Cycle, rankedRow: number): void {
  cycle.beginUnfilled(rankedRow);
  cycle.claims.openCredits(rankedRow);
  cycle.claims.openLater(rankedRow);
}

export function domainsOf(cycle: Cycle, rankedRow: number): Domains {
  const { demand, domains } = cycle.fleet;
  return domains.by(demand.profiles.entryOf(cycle.rankedRows.profile[rankedRow]!).sameKey!);
}

function drainsIn(cycle: Cycle, rankedRow: number, domain: number): number[] {
  const domains = domainsOf(cycle, rankedRow);
  const { machines } = cycle.fleet;
  return cycle.sums.draining.filter((slot) => domains.of(machines.classOf[slot]!) === domain);
}

/**
 * The domain that a gang chooses; NONE if no domain has anything. Each key is computed only where all keys before it tie.
 */
function bestDomain(cycle: Cycle, rankedRow: number): number {
  const { sums } = cycle;
  let best = completing(cycle, rankedRow);
  if (best.length > 0) {
    best = largest(best, (domain) => sums.creditableAndIdle(domain));
    best = smallest(best, (domain) => sums.uncapped(domain));
    best = smallest(best, (domain) => costToTake(cycle, rankedRow, domain));
  } else {
    best = ownFirst(sums);
    best = largest(best, (domain) => sums.joint(domain));
    best = largest(best, (domain) => sums.creditableAndIdle(domain));
  }
  best = largest(best, (domain) => sums.countOf(domain));
  const { names } = domainsOf(cycle, rankedRow);
  return best.reduce(
    (first, domain) => (first === NONE || compareText(names[domain]!, names[first]!) < 0 ? domain : first),
    NONE,
  );
}

/**
 * Of the domains that can complete a gang, those with the most creditable machines, then the most of its own. A gang that
 * can be completed where it has creditable machines never goes elsewhere, and where these alone complete it, free machines
 * have no influence. Only if neither holds, other domains count, and of those it has no machine in only the best.
 */
function completing(cycle: Cycle, rankedRow: number): readonly number[] {
  const { sums } = cycle;
  const homes = sums.homes.filter((domain) => sums.creditable(domain) > 0);
  const whole = homes.filter((domain) => sums.isCreditable(domain));
  if (whole.length > 0) return largest(whole, (domain) => sums.own(domain));
  const satisfiable = homes.filter((domain) => sums.satisfies(domain));
  if (satisfiable.length > 0) {
    const most = largest(satisfiable, (domain) => sums.creditable(domain));
    return largest(most, (domain) => sums.own(domain));
  }
  const all = largest(
    sums.homes.filter((domain) => isSatisfiable(sums, domain)),
    (domain) => sums.own(domain),
  );
  if (all.length > 0 && sums.own(all[0]!) > 0) return all;
  const elsewhere = sums.bestElsewhere((domain) => costOfFree(cycle, rankedRow, domain));
  return elsewhere === NONE ? all : [...all, elsewhere];
}

/** Whether a domain can complete a gang. A gang with an empty aggregate still names a domain only if it has machines. */
function isSatisfiable(sums: DomainSums, domain: number): boolean {
  return sums.satisfies(domain) && sums.countOf(domain) > 0;
}

/** If no domain can complete a gang: those with the most of its own, then the most creditable machines. */
function ownFirst(sums: DomainSums): readonly number[] {
  const homes = sums.homes.filter((domain) => sums.own(domain) > 0 || sums.creditable(domain) > 0);
  if (homes.length === 0) return sums.domains.filter((domain) => sums.countOf(domain) > 0);
  const most = largest(homes, (domain) => sums.own(domain));
  return largest(most, (domain) => sums.creditable(domain));
}

type Key = (domain: number) => number | bigint;

function largest(domains: readonly number[], key: Key): readonly number[] {
  return extreme(domains, key, (a, b) => a > b);
}

function smallest(domains: readonly number[], key: Key): readonly number[] {
  return extreme(domains, key, (a, b) => a < b);
}

function extreme(
  domains: readonly number[],
  key: Key,
  isBetter: (a: number | bigint, b: number | bigint) => boolean,
): readonly number[] {
  if (domains.length < 2) return domains;
  let best = key(domains[0]!);
  let equal = [domains[0]!];
  for (let i = 1; i < domains.length; i++) {
    const own = key(domains[i]!);
    if (isBetter(own, best)) {
      best = own;
      equal = [domains[i]!];
    } else if (!isBetter(best, own)) equal.push(domains[i]!);
  }
  return equal;
}

/** The domains that could ever complete a gang and have machines for it now, best first: Phase 2 tries these. */
function rankDomains(cycle: Cycle, rankedRow: number): number[] {
  const { sums } = cycle;
  const { names } = domainsOf(cycle, rankedRow);
  const possible = cycle.availability.of(rankedRow).domainsThatCouldCover(cycle.rankedRows.row[rankedRow]!);
  if (possible.length === 0) cycle.result.addInfeasible(rankedRow);
  return possible
    .filter((domain) => sums.countOf(domain) > 0)
    .map((domain) => new DomainKeys(cycle, rankedRow, domain, names[domain]!))
    .sort((a, b) => a.compare(b))
    .map(({ domain }) => domain);
}

/** Sort keys of a domain; expensive ones are computed only where the cheap ones tie. */
class DomainKeys {
  readonly #cycle: Cycle;
  readonly #rankedRow: number;
  readonly domain: number;
  readonly #name: string;
  readonly #satisfiable: boolean;
  readonly #creditable: number;
  readonly #own: number;
  readonly #creditableAndIdle: number;
  readonly #joint: number;
  readonly #count: number;
  #uncapped: number | bigint | undefined;
  #cost: number | undefined;

  constructor(cycle: Cycle, rankedRow: number, domain: number, name: string) {
    const { sums } = cycle;
    this.#cycle = cycle;
    this.#rankedRow = rankedRow;
    this.domain = domain;
    this.#name = name;
    this.#satisfiable = sums.satisfies(domain);
    this.#creditable = sums.creditable(domain);
    this.#own = sums.own(domain);
    this.#creditableAndIdle = sums.creditableAndIdle(domain);
    this.#joint = sums.joint(domain);
    this.#count = sums.countOf(domain);
  }

  compare(other: DomainKeys): number {
    if (this.#satisfiable !== other.#satisfiable) return this.#satisfiable ? -1 : 1;
    const order = this.#satisfiable ? this.#compareSatisfiable(other) : this.#compareUnsatisfiable(other);
    return order || other.#count - this.#count || compareText(this.#name, other.#name);
  }

  #compareSatisfiable(other: DomainKeys): number {
    const order =
      other.#creditable - this.#creditable ||
      other.#own - this.#own ||
      other.#creditableAndIdle - this.#creditableAndIdle;
    if (order !== 0) return order;
    const mine = this.#uncappedTotal();
    const theirs = other.#uncappedTotal();
    if (mine < theirs) return -1;
    if (mine > theirs) return 1;
    const cost = this.#costToTake();
    const otherCost = other.#costToTake();
    return cost === otherCost ? 0 : cost - otherCost;
  }

  #compareUnsatisfiable(other: DomainKeys): number {
    return (
      other.#own - this.#own ||
      other.#creditable - this.#creditable ||
      other.#joint - this.#joint ||
      other.#creditableAndIdle - this.#creditableAndIdle
    );
  }

  #uncappedTotal(): number | bigint {
    this.#uncapped ??= this.#cycle.sums.uncapped(this.domain);
    return this.#uncapped;
  }

  #costToTake(): number {
    this.#cost ??= costToTake(this.#cycle, this.#rankedRow, this.domain);
    return this.#cost;
  }
}

/** Dollars per hour of what the gang would acquire in a domain beyond what it is credited with there. */
function costToTake(cycle: Cycle, rankedRow: number, domain: number): number {
  // Without draining machines nothing is awaited, so everything creditable is credited and nothing is acquired.
  if (cycle.sums.draining.length === 0 && cycle.sums.isCreditable(domain)) return 0;
  return costOfTrial(cycle, rankedRow, () => claimIn(cycle, rankedRow, domain, true));
}

/** Dollars per hour of what the gang would acquire in a domain if it had no machine there. */
function costOfFree(cycle: Cycle, rankedRow: number, domain: number): number {
  return costOfTrial(cycle, rankedRow, () => {
    beginClaims(cycle, rankedRow);
    acquireIn(cycle, rankedRow, domainsOf(cycle, rankedRow), domain, []);
  });
}

/** Dollars per hour of what a gang acquires by claims, in the order of acquisition; the claims are undone. */
function costOfTrial(cycle: Cycle, rankedRow: number, claim: () => void): number {
  const { classes, machines } = cycle.fleet;
  const dollars = cycle.profileOf(rankedRow).interruptionDollars;
  let cost = 0;
  cycle.availability.tentatively(() => {
    claim();
    const { laterEnd, laterStart, slots } = cycle.claims;
    for (let i = laterStart[rankedRow]!; i < laterEnd[rankedRow]!; i++) {
      const c = machines.classOf[slots[i]!]!;
      cost += effectiveCost(classes.price[c]!, classes.probability[c]!, dollars);
    }
    cycle.pass.undo(rankedRow);
  });
  return cost;
}

/**
 * Credits what the gang has in a domain: its own bound machines, then those in flight to it, then orphans, then machines of
 * other live rows. A gang that cannot be completed keeps to its own bound machines and orphans.
 */
function creditDomain(cycle: Cycle, rankedRow: number, domain: number, completable: boolean): void {
  const { machines } = cycle.fleet;
  const { sums } = cycle;
  const domains = domainsOf(cycle, rankedRow);
  const key = cycle.rankedRows.key[rankedRow]!;
  const isHere = (slot: number): boolean => domains.of(machines.classOf[slot]!) === domain;
  const own: number[] = [];
  const orphans: number[] = [];
  const others: number[] = [];
  // Configured machines come first, each slice in keep order; each of the three lists keeps that order.
  for (const slot of sums.bound) {
    if (!isHere(slot)) continue;
    if (cycle.isOwn(slot, key)) own.push(slot);
    else if (cycle.isAnothers(slot, key)) others.push(slot);
    else orphans.push(slot);
  }
  const inFlight = completable ? sums.inFlight.filter(isHere) : [];
  for (const slot of [...own, ...inFlight, ...orphans]) {
    if (cycle.unfilled.covered) return;
    if (!cycle.unfilled.adds(machines.classOf[slot]!, true)) continue;
    cycle.pass.credit(rankedRow, slot, true);
  }
  if (!completable || others.length === 0) return;
  const drains = drainsIn(cycle, rankedRow, domain);
  for (const slot of others) {
    if (cycle.unfilled.covered) return;
    if (cycle.beyond(rankedRow, drains).adds(machines.classOf[slot]!, true))
      cycle.credits.credit(rankedRow, slot, true);
  }
}

/** The domains with the highest coverage of their worst-covered dimension. */
function candidatesOf(cycle: Cycle, rankedRow: number): DomainCandidate[] {
  const { sums } = cycle;
  const { names } = domainsOf(cycle, rankedRow);
  const shown: { readonly domain: number; readonly worst: number }[] = [];
  sums.refreshAll();
  for (const domain of sums.domains) {
    const last = shown[CANDIDATES_SHOWN - 1];
    const worst = sums.worst(domain, last?.worst ?? 0);
    if (worst === NONE) continue;
    if (last?.worst === worst && compareText(names[last.domain]!, names[domain]!) < 0) continue;
    shown.push({ domain, worst });
    shown.sort((a, b) => b.worst - a.worst || compareText(names[a.domain]!, names[b.domain]!));
    shown.length = Math.min(shown.length, CANDIDATES_SHOWN);
  }
  return shown.map(({ domain, worst }) => ({
    domain: names[domain]!,
    coverage: sums.joint(domain),
    worstCoverage: worst,
    satisfiable: sums.satisfies(domain),
  }));
}
