// Gangs: rows whose machines must share one value of a key. A gang chooses one domain, keeps to it, and acquires
// whole or not at all; what is bound is kept and credited. See docs/engine.md, "Gangs".

import type { Domains } from '../fleet/index.ts';
import { compareText, type DomainCandidate, effectiveCost, MachineState } from '../model/index.ts';
import { acquireIn } from './acquire.ts';
import type { Cycle, GangView } from './cycle.ts';
import { comingCreating, comingIdle, drainingFor, targeted } from './flight.ts';
import { DomainSums, Towards } from './sums.ts';
import { NONE } from './turns.ts';
import { addUnmet } from './unmet.ts';

const CANDIDATES_SHOWN = 6;

/** Serves one gang: chooses its domain, credits what it has there, and acquires the rest if that completes it. */
export function serveGang(cycle: Cycle, turn: number): void {
  if (!cycle.isExplained(turn) && serveAtHome(cycle, turn)) return;
  const { demand } = cycle.fleet;
  const { names } = domainsOf(cycle, turn);
  const sums = sumDomains(cycle, turn, null);
  const keys = keysOf(cycle, turn, sums);
  const best = bestOf(keys);
  const satisfiable = best === undefined ? demand.empty[cycle.turns.row[turn]!] === 1 : best.satisfiable;
  const seen = cycle.isExplained(turn) ? candidatesOf(keys, sums, names) : [];
  // A gang that stays short is claimed for twice: its domains are ranked as they stood before it claimed anything.
  cycle.pools.onTrial(() => claimIn(cycle, turn, best));
  const domain = best === undefined ? null : names[best.domain]!;
  if (cycle.want.covered) {
    settleGang(cycle, turn, domain, satisfiable, { order: [], candidates: seen, missing: null });
    return;
  }
  cycle.undo(turn);
  const order = keys.toSorted((a, b) => a.compare(b));
  claimIn(cycle, turn, best);
  settleGang(cycle, turn, domain, satisfiable, {
    order: order.map((key) => names[key.domain]!),
    candidates: candidatesOf(order, sums, names),
    missing: best === undefined ? null : sums.missing(best.place),
  });
  addUnmet(cycle, turn, null);
}

/**
 * A gang that can be completed where it may be credited with machines never goes elsewhere, so only those domains are
 * looked at. Says false if that does not cover it; then nothing is claimed.
 */
function serveAtHome(cycle: Cycle, turn: number): boolean {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const domains = domainsOf(cycle, turn);
  const homes = new Set<number>();
  const walk = cycle.walk.begin(cycle.turns.cluster[turn]!);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    const c = machines.classOf[slot]!;
    if (cycle.isFree(slot) && pattern.fits(c)) homes.add(domains.of(c));
  }
  if (homes.size === 0) return false;
  for (const slot of [...comingIdle(cycle, turn), ...comingCreating(cycle, turn, false)]) {
    homes.add(domains.of(machines.classOf[slot]!));
  }
  const sums = sumDomains(cycle, turn, [...homes]);
  const best = bestOf(keysOf(cycle, turn, sums));
  if (best === undefined || !best.satisfiable || best.creditable === 0) return false;
  cycle.pools.onTrial(() => claimIn(cycle, turn, best));
  if (!cycle.want.covered) {
    cycle.undo(turn);
    return false;
  }
  settleGang(cycle, turn, domains.names[best.domain]!, true);
  return true;
}

/** Notes what a gang chose; the rest is of interest only if it is short. */
export function settleGang(
  cycle: Cycle,
  turn: number,
  domain: string | null,
  satisfiable: boolean,
  short: Pick<GangView, 'order' | 'candidates' | 'missing'> = { order: [], candidates: [], missing: null },
): void {
  cycle.noteRestamps(turn, cycle.restamped);
  cycle.gangs.set(turn, { domain, satisfiable, ...short });
}

function bestOf(keys: readonly DomainKeys[]): DomainKeys | undefined {
  let best: DomainKeys | undefined;
  for (const candidate of keys) if (best === undefined || candidate.compare(best) < 0) best = candidate;
  return best;
}

/** Credits what a gang has in its domain, and acquires the rest if that completes it. */
function claimIn(cycle: Cycle, turn: number, best: DomainKeys | undefined): void {
  cycle.beginWant(turn);
  cycle.openCredits(turn);
  cycle.openLater(turn);
  if (best === undefined || cycle.want.covered) return;
  const { domain, satisfiable } = best;
  if (best.hasCredit) creditDomain(cycle, turn, domain, satisfiable);
  cycle.openLater(turn);
  if (!satisfiable || cycle.want.covered || !cycle.canBind(cycle.turns.cluster[turn]!)) return;
  acquireIn(cycle, turn, domainsOf(cycle, turn), domain, drainsIn(cycle, turn, domain));
}

export function domainsOf(cycle: Cycle, turn: number): Domains {
  const { demand, domains } = cycle.fleet;
  return domains.by(demand.profiles.entryOf(cycle.turns.profile[turn]!).sameKey!);
}

function drainsIn(cycle: Cycle, turn: number, domain: number): number[] {
  const domains = domainsOf(cycle, turn);
  const { machines } = cycle.fleet;
  return drainingFor(cycle, turn, false).filter((slot) => domains.of(machines.classOf[slot]!) === domain);
}

/** Adds up what the gang finds: in all domains, or in those of `scope` only. */
function sumDomains(cycle: Cycle, turn: number, scope: readonly number[] | null): DomainSums {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const domains = domainsOf(cycle, turn);
  // Looking classes up first gives every domain its number.
  if (scope === null) for (const c of pattern.fittingClasses()) domains.of(c);
  const { length } = domains.names;
  const sums = new DomainSums(cycle, turn, scope ?? [...domains.names.keys()], length);
  const key = cycle.turns.key[turn]!;

  const walk = cycle.walk.begin(cycle.turns.cluster[turn]!);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    const c = machines.classOf[slot]!;
    if (!cycle.isFree(slot) || !pattern.fits(c)) continue;
    sums.add(domains.of(c), c, 1, Towards.Creditable);
    if (cycle.isOwn(slot, key)) sums.addOwn(domains.of(c), c);
  }
  for (const slot of [...comingIdle(cycle, turn), ...comingCreating(cycle, turn, false)]) {
    const c = machines.classOf[slot]!;
    sums.add(domains.of(c), c, 1, Towards.Creditable);
    sums.addOwn(domains.of(c), c);
  }
  for (const slot of drainingFor(cycle, turn, false)) {
    const c = machines.classOf[slot]!;
    sums.add(domains.of(c), c, 1, Towards.Joint);
    sums.addOwn(domains.of(c), c);
  }
  if (cycle.canBind(cycle.turns.cluster[turn]!)) addPools(cycle, turn, domains, sums, scope);
  return sums;
}

function addPools(
  cycle: Cycle,
  turn: number,
  domains: Domains,
  sums: DomainSums,
  scope: readonly number[] | null,
): void {
  const { demand, machines, patterns } = cycle.fleet;
  const { pools, turns } = cycle;
  const pattern = patterns.patternOf(turns.pattern[turn]!);
  const dollars = demand.profiles.entryOf(turns.profile[turn]!).interruptionDollars;
  const shelves =
    scope === null
      ? [pools.shelves(turns.pattern[turn]!, dollars)]
      : scope.map((domain) => pools.shelvesIn(turns.pattern[turn]!, dollars, domains, domain));
  for (const { idle, speculative } of shelves) {
    for (const group of idle.groups) {
      for (const c of group)
        if (pools.freeIdle(c) > 0) sums.add(domains.of(c), c, pools.freeIdle(c), Towards.Idle);
    }
    for (const group of speculative.groups) {
      for (const c of group) {
        const free = pools.freeSpeculative(c);
        if (free > 0) sums.add(domains.of(c), c, free, Towards.Joint);
      }
    }
  }
  const key = turns.key[turn]!;
  for (const slot of pools.freeSpecial()) {
    const c = machines.classOf[slot]!;
    if (machines.target[slot] !== key && pattern.fits(c)) sums.add(domains.of(c), c, 1, Towards.Idle);
  }
  for (const slot of targeted(cycle, turn)) {
    const speculative = machines.state[slot] === MachineState.Speculative;
    if (speculative && machines.held[slot] === 0 && cycle.isFree(slot)) {
      sums.addOwn(domains.of(machines.classOf[slot]!), machines.classOf[slot]!);
    }
  }
}

/** The keys of every domain that has anything for the gang. */
function keysOf(cycle: Cycle, turn: number, sums: DomainSums): DomainKeys[] {
  const { names } = domainsOf(cycle, turn);
  const keys: DomainKeys[] = [];
  for (const [place, domain] of sums.scope.entries()) {
    if (sums.counts[place]! > 0) keys.push(new DomainKeys(cycle, turn, sums, place, names[domain]!));
  }
  return keys;
}

/** The keys by which a domain is better than another; dear ones are worked out only where the cheap ones tie. */
class DomainKeys {
  readonly #cycle: Cycle;
  readonly #turn: number;
  readonly #sums: DomainSums;
  /** Number of the domain, its place in the sums, and its name. */
  readonly domain: number;
  readonly place: number;
  readonly #name: string;
  readonly satisfiable: boolean;
  /** Machines stand here that the gang may be credited with. */
  readonly hasCredit: boolean;
  readonly creditable: number;
  readonly #own: number;
  readonly #creditableAndIdle: number;
  readonly #joint: number;
  #uncapped: bigint | undefined;
  #cost: number | undefined;

  constructor(cycle: Cycle, turn: number, sums: DomainSums, place: number, name: string) {
    this.#cycle = cycle;
    this.#turn = turn;
    this.#sums = sums;
    this.domain = sums.scope[place]!;
    this.place = place;
    this.#name = name;
    this.satisfiable = sums.satisfies(place);
    this.hasCredit = sums.credits[place]! > 0;
    this.creditable = sums.coverage(place, sums.creditable);
    this.#own = sums.coverage(place, sums.own);
    this.#creditableAndIdle = sums.coverage(place, sums.creditableAndIdle);
    this.#joint = sums.coverage(place, sums.joint);
  }

  compare(other: DomainKeys): number {
    if (this.satisfiable !== other.satisfiable) return this.satisfiable ? -1 : 1;
    const order = this.satisfiable ? this.#compareSatisfiable(other) : this.#compareUnsatisfiable(other);
    return (
      order ||
      this.#sums.counts[other.place]! - this.#sums.counts[this.place]! ||
      compareText(this.#name, other.#name)
    );
  }

  #compareSatisfiable(other: DomainKeys): number {
    const order =
      other.creditable - this.creditable ||
      other.#own - this.#own ||
      other.#creditableAndIdle - this.#creditableAndIdle;
    if (order !== 0) return order;
    const mine = this.#uncappedTotal();
    const theirs = other.#uncappedTotal();
    if (mine !== theirs) return mine < theirs ? -1 : 1;
    const cost = this.#costToTake();
    const otherCost = other.#costToTake();
    return cost === otherCost ? 0 : cost - otherCost;
  }

  #compareUnsatisfiable(other: DomainKeys): number {
    return (
      other.#own - this.#own ||
      other.creditable - this.creditable ||
      other.#joint - this.#joint ||
      other.#creditableAndIdle - this.#creditableAndIdle
    );
  }

  #uncappedTotal(): bigint {
    this.#uncapped ??= this.#sums.uncapped(this.place);
    return this.#uncapped;
  }

  #costToTake(): number {
    this.#cost ??= costToTake(this.#cycle, this.#turn, this);
    return this.#cost;
  }
}

/** Dollars per hour of what the gang would acquire in a domain, in the order it would: a trial that is undone. */
function costToTake(cycle: Cycle, turn: number, key: DomainKeys): number {
  const { classes, demand, machines } = cycle.fleet;
  const dollars = demand.profiles.entryOf(cycle.turns.profile[turn]!).interruptionDollars;
  let cost = 0;
  cycle.pools.onTrial(() => {
    claimIn(cycle, turn, key);
    for (let i = cycle.laterStart[turn]!; i < cycle.laterEnd[turn]!; i++) {
      const c = machines.classOf[cycle.claims[i]!]!;
      cost += effectiveCost(classes.price[c]!, classes.probability[c]!, dollars);
    }
    cycle.undo(turn);
  });
  return cost;
}

/**
 * Credits what the gang has in a domain, its own first: bound, then in flight; then machines of nobody, then of
 * other live rows. A gang that cannot be completed keeps to bound machines of its own and of nobody.
 */
function creditDomain(cycle: Cycle, turn: number, domain: number, completable: boolean): void {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const domains = domainsOf(cycle, turn);
  const key = cycle.turns.key[turn]!;
  const own: number[] = [];
  const orphans: number[] = [];
  const others: number[] = [];
  // Configured machines come first, each run in keep order; among equals in whose they are, that is the order.
  const walk = cycle.walk.begin(cycle.turns.cluster[turn]!);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
    const c = machines.classOf[slot]!;
    if (!cycle.isFree(slot) || !pattern.fits(c) || domains.of(c) !== domain) continue;
    if (cycle.isOwn(slot, key)) own.push(slot);
    else if (cycle.isAnothers(slot, key)) others.push(slot);
    else orphans.push(slot);
  }
  const coming = [...comingIdle(cycle, turn), ...comingCreating(cycle, turn, false)].filter((slot) => {
    return domains.of(machines.classOf[slot]!) === domain;
  });
  for (const slot of completable ? [...own, ...coming, ...orphans] : [...own, ...orphans]) {
    if (cycle.want.covered) return;
    if (!cycle.want.adds(machines.classOf[slot]!, true)) continue;
    cycle.credit(turn, slot, true);
    cycle.pools.take(slot);
  }
  if (!completable || others.length === 0) return;
  const drains = drainsIn(cycle, turn, domain);
  for (const slot of others) {
    if (cycle.want.covered) return;
    if (cycle.beyond(turn, drains).adds(machines.classOf[slot]!, true)) cycle.credit(turn, slot, true);
  }
}

function candidatesOf(
  order: readonly DomainKeys[],
  sums: DomainSums,
  names: readonly string[],
): DomainCandidate[] {
  return order
    .map(({ domain, place, satisfiable }) => ({
      domain: names[domain]!,
      coverage: sums.coverage(place, sums.joint),
      worstCoverage: sums.worstCoverage(place),
      satisfiable,
    }))
    .sort((a, b) => b.worstCoverage - a.worstCoverage || compareText(a.domain, b.domain))
    .slice(0, CANDIDATES_SHOWN);
}
