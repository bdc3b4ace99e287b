// Gangs: rows whose machines must share one value of a key. A gang chooses one domain, keeps to it, and acquires
// whole or not at all; what is bound is kept and credited. See docs/engine.md, "Gangs".

import type { Domains } from '../fleet/index.ts';
import { compareText, type DomainCandidate, effectiveCost, MachineState } from '../model/index.ts';
import { acquireIn } from './acquire.ts';
import { ExactSums, partsPerMillion } from './coverage.ts';
import type { Cycle } from './cycle.ts';
import { comingCreating, comingIdle, drainingFor, targeted } from './flight.ts';
import { addUnmet } from './unmet.ts';

const CANDIDATES_SHOWN = 6;

/** What a machine counts towards, beside the joint sum of its domain. */
const Towards = { Joint: 0, Idle: 1, Creditable: 2 } as const;

/** Machines a gang finds, by domain. Amounts are capped at what it wants, except the uncapped total. */
class DomainSums {
  readonly #offered: Float64Array;
  readonly #stride: number;
  /** Dimensions the gang wants something of, and how much. */
  readonly #dims: number[] = [];
  readonly #wants: number[] = [];
  readonly #dimensionCount: number;
  readonly names: readonly string[];
  readonly counts: Int32Array;
  /** Of those, machines that may be credited. */
  readonly credits: Int32Array;
  readonly own: Float64Array;
  readonly creditable: Float64Array;
  readonly creditableAndIdle: Float64Array;
  readonly joint: Float64Array;
  readonly #total: ExactSums;

  constructor(cycle: Cycle, turn: number, names: readonly string[]) {
    const { stride, count } = cycle.fleet.dimensions;
    const from = cycle.turns.row[turn]! * stride;
    for (let d = 0; d < count; d++) {
      const wanted = cycle.fleet.demand.aggregate.data[from + d]!;
      if (wanted === 0) continue;
      this.#dims.push(d);
      this.#wants.push(wanted);
    }
    this.#offered = cycle.fleet.classes.allocatable.data;
    this.#stride = stride;
    this.#dimensionCount = count;
    this.names = names;
    this.counts = new Int32Array(names.length);
    this.credits = new Int32Array(names.length);
    const cells = names.length * this.#dims.length;
    this.own = new Float64Array(cells);
    this.creditable = new Float64Array(cells);
    this.creditableAndIdle = new Float64Array(cells);
    this.joint = new Float64Array(cells);
    this.#total = new ExactSums(cells);
  }

  /** Counts `count` machines of a class in a domain. */
  add(domain: number, classNumber: number, count: number, towards: number): void {
    this.counts[domain]! += count;
    if (towards === Towards.Creditable) this.credits[domain]! += count;
    const { length } = this.#dims;
    for (let i = 0; i < length; i++) {
      const amount = this.#offered[classNumber * this.#stride + this.#dims[i]!]!;
      if (amount === 0) continue;
      const at = domain * length + i;
      const want = this.#wants[i]!;
      this.#total.add(at, amount, count);
      this.joint[at] = Math.min(want, this.joint[at]! + amount * count);
      if (towards === Towards.Joint) continue;
      this.creditableAndIdle[at] = Math.min(want, this.creditableAndIdle[at]! + amount * count);
      if (towards === Towards.Creditable)
        this.creditable[at] = Math.min(want, this.creditable[at]! + amount * count);
    }
  }

  /** Marks a counted machine as the gang's own. */
  addOwn(domain: number, classNumber: number): void {
    const { length } = this.#dims;
    for (let i = 0; i < length; i++) {
      const amount = this.#offered[classNumber * this.#stride + this.#dims[i]!]!;
      const at = domain * length + i;
      this.own[at] = Math.min(this.#wants[i]!, this.own[at]! + amount);
    }
  }

  satisfies(domain: number): boolean {
    const { length } = this.#dims;
    for (let i = 0; i < length; i++) if (this.joint[domain * length + i]! < this.#wants[i]!) return false;
    return true;
  }

  /** Sum over the dimensions, in parts per million. */
  coverage(domain: number, sum: Float64Array): number {
    const { length } = this.#dims;
    let ppm = 0;
    for (let i = 0; i < length; i++) ppm += partsPerMillion(sum[domain * length + i]!, this.#wants[i]!);
    return ppm;
  }

  worstCoverage(domain: number): number {
    const { length } = this.#dims;
    let worst = 1_000_000;
    for (let i = 0; i < length; i++) {
      worst = Math.min(worst, partsPerMillion(this.joint[domain * length + i]!, this.#wants[i]!));
    }
    return worst;
  }

  /** What the joint sum lacks, by dimension of the fleet; null if nothing. */
  missing(domain: number): Float64Array | null {
    if (this.satisfies(domain)) return null;
    const missing = new Float64Array(this.#dimensionCount);
    for (const [i, d] of this.#dims.entries()) {
      missing[d] = this.#wants[i]! - this.joint[domain * this.#dims.length + i]!;
    }
    return missing;
  }

  uncapped(domain: number): bigint {
    let ppm = 0n;
    for (const [i, want] of this.#wants.entries()) {
      ppm += this.#total.partsPerMillion(domain * this.#dims.length + i, want);
    }
    return ppm;
  }
}

/** Serves one gang: chooses its domain, credits what it has there, and acquires the rest if that completes it. */
export function serveGang(cycle: Cycle, turn: number): void {
  const { demand } = cycle.fleet;
  const sums = sumDomains(cycle, turn);
  const keys = keysOf(cycle, turn, sums);
  let best: DomainKeys | undefined;
  for (const candidate of keys) if (best === undefined || candidate.compare(best) < 0) best = candidate;
  const satisfiable = best === undefined ? demand.empty[cycle.turns.row[turn]!] === 1 : best.satisfiable;
  // A gang that stays short is claimed for twice: its domains are ranked as they stood before it claimed anything.
  cycle.pools.onTrial(() => claimIn(cycle, turn, best));
  const domain = best === undefined ? null : sums.names[best.domain]!;
  if (cycle.want.covered) {
    cycle.noteRestamps(turn, cycle.restamped);
    cycle.gangs.set(turn, { order: [], domain, satisfiable, candidates: [], missing: null });
    return;
  }
  cycle.undo(turn);
  const order = keys.toSorted((a, b) => a.compare(b)).map((key) => key.domain);
  claimIn(cycle, turn, best);
  cycle.noteRestamps(turn, cycle.restamped);
  const missing = best === undefined ? null : sums.missing(best.domain);
  const candidates = candidatesOf(order, sums);
  cycle.gangs.set(turn, {
    order: order.map((d) => sums.names[d]!),
    domain,
    satisfiable,
    candidates,
    missing,
  });
  addUnmet(cycle, turn, null);
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

function sumDomains(cycle: Cycle, turn: number): DomainSums {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const fitting = pattern.fittingClasses();
  const domains = domainsOf(cycle, turn);
  // Looking classes up first gives every domain its number.
  for (const c of fitting) domains.of(c);
  const sums = new DomainSums(cycle, turn, domains.names);
  const key = cycle.turns.key[turn]!;

  const runs = machines.boundOf(cycle.turns.cluster[turn]!);
  for (const run of runs === undefined ? [] : [runs.configured, runs.configuring]) {
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = machines.arena.data[i]!;
      const c = machines.classOf[slot]!;
      if (!cycle.isFree(slot) || !pattern.fits(c)) continue;
      sums.add(domains.of(c), c, 1, Towards.Creditable);
      if (cycle.isOwn(slot, key)) sums.addOwn(domains.of(c), c);
    }
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
  if (!cycle.canBind(cycle.turns.cluster[turn]!)) return sums;

  for (const c of fitting) {
    const freeIdle = cycle.pools.freeIdle(c);
    const freeSpeculative = cycle.pools.freeSpeculative(c);
    if (freeIdle > 0) sums.add(domains.of(c), c, freeIdle, Towards.Idle);
    if (freeSpeculative > 0) sums.add(domains.of(c), c, freeSpeculative, Towards.Joint);
  }
  for (const slot of cycle.pools.freeSpecial()) {
    const c = machines.classOf[slot]!;
    if (machines.target[slot] !== key && pattern.fits(c)) sums.add(domains.of(c), c, 1, Towards.Idle);
  }
  for (const slot of targeted(cycle, turn)) {
    const speculative = machines.state[slot] === MachineState.Speculative;
    if (speculative && machines.held[slot] === 0 && cycle.isFree(slot)) {
      const c = machines.classOf[slot]!;
      sums.addOwn(domains.of(c), c);
    }
  }
  return sums;
}

/** The keys of every domain that has anything for the gang. */
function keysOf(cycle: Cycle, turn: number, sums: DomainSums): DomainKeys[] {
  const keys: DomainKeys[] = [];
  for (let domain = 0; domain < sums.names.length; domain++) {
    if (sums.counts[domain]! > 0) keys.push(new DomainKeys(cycle, turn, sums, domain));
  }
  return keys;
}

/** The keys by which a domain is better than another; dear ones are worked out only where the cheap ones tie. */
class DomainKeys {
  readonly #cycle: Cycle;
  readonly #turn: number;
  readonly #sums: DomainSums;
  readonly domain: number;
  readonly satisfiable: boolean;
  /** Machines stand here that the gang may be credited with. */
  readonly hasCredit: boolean;
  readonly #creditable: number;
  readonly #own: number;
  readonly #creditableAndIdle: number;
  readonly #joint: number;
  #uncapped: bigint | undefined;
  #cost: number | undefined;

  constructor(cycle: Cycle, turn: number, sums: DomainSums, domain: number) {
    this.#cycle = cycle;
    this.#turn = turn;
    this.#sums = sums;
    this.domain = domain;
    this.satisfiable = sums.satisfies(domain);
    this.hasCredit = sums.credits[domain]! > 0;
    this.#creditable = sums.coverage(domain, sums.creditable);
    this.#own = sums.coverage(domain, sums.own);
    this.#creditableAndIdle = sums.coverage(domain, sums.creditableAndIdle);
    this.#joint = sums.coverage(domain, sums.joint);
  }

  compare(other: DomainKeys): number {
    if (this.satisfiable !== other.satisfiable) return this.satisfiable ? -1 : 1;
    const order = this.satisfiable ? this.#compareSatisfiable(other) : this.#compareUnsatisfiable(other);
    return (
      order ||
      this.#sums.counts[other.domain]! - this.#sums.counts[this.domain]! ||
      compareText(this.#sums.names[this.domain]!, this.#sums.names[other.domain]!)
    );
  }

  #compareSatisfiable(other: DomainKeys): number {
    const order =
      other.#creditable - this.#creditable ||
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
      other.#creditable - this.#creditable ||
      other.#joint - this.#joint ||
      other.#creditableAndIdle - this.#creditableAndIdle
    );
  }

  #uncappedTotal(): bigint {
    this.#uncapped ??= this.#sums.uncapped(this.domain);
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
  const runs = machines.boundOf(cycle.turns.cluster[turn]!);
  for (const run of runs === undefined ? [] : [runs.configured, runs.configuring]) {
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = machines.arena.data[i]!;
      const c = machines.classOf[slot]!;
      if (!cycle.isFree(slot) || !pattern.fits(c) || domains.of(c) !== domain) continue;
      if (cycle.isOwn(slot, key)) own.push(slot);
      else if (cycle.isAnothers(slot, key)) others.push(slot);
      else orphans.push(slot);
    }
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

function candidatesOf(order: readonly number[], sums: DomainSums): DomainCandidate[] {
  return order
    .map((domain) => ({
      domain: sums.names[domain]!,
      coverage: sums.coverage(domain, sums.joint),
      worstCoverage: sums.worstCoverage(domain),
      satisfiable: sums.satisfies(domain),
    }))
    .sort((a, b) => b.worstCoverage - a.worstCoverage || compareText(a.domain, b.domain))
    .slice(0, CANDIDATES_SHOWN);
}
