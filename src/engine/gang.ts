// Gangs: rows whose machines must share one value of a key. A gang chooses one domain, keeps to it, and acquires
// whole or not at all; what is bound is kept and credited. See docs/engine.md, "Gangs".

import type { Domains } from '../fleet/index.ts';
import { compareText, type DomainCandidate, effectiveCost, MachineState } from '../model/index.ts';
import { acquire } from './acquire.ts';
import { ExactSums, partsPerMillion } from './coverage.ts';
import type { Cycle } from './cycle.ts';

const CANDIDATES_SHOWN = 6;

/** Machines a gang finds, by domain. Amounts are capped at what it wants, except the uncapped total. */
class DomainSums {
  readonly #cycle: Cycle;
  readonly #dims: readonly number[];
  readonly #wants: readonly number[];
  readonly names: readonly string[];
  readonly counts: Int32Array;
  readonly own: Float64Array;
  readonly creditable: Float64Array;
  readonly creditableAndIdle: Float64Array;
  readonly joint: Float64Array;
  readonly #total: ExactSums;

  constructor(cycle: Cycle, turn: number, names: readonly string[]) {
    const { stride, count } = cycle.fleet.dimensions;
    const row = cycle.turns.row[turn]!;
    const wanted = cycle.fleet.demand.aggregate.data.subarray(row * stride, row * stride + count);
    this.#cycle = cycle;
    this.#dims = [...wanted.keys()].filter((d) => wanted[d]! > 0);
    this.#wants = this.#dims.map((d) => wanted[d]!);
    this.names = names;
    this.counts = new Int32Array(names.length);
    const cells = names.length * this.#dims.length;
    this.own = new Float64Array(cells);
    this.creditable = new Float64Array(cells);
    this.creditableAndIdle = new Float64Array(cells);
    this.joint = new Float64Array(cells);
    this.#total = new ExactSums(cells);
  }

  /** Counts `count` machines of a class in a domain, towards the joint sum and those given. */
  add(domain: number, classNumber: number, count: number, sums: readonly Float64Array[]): void {
    this.counts[domain]! += count;
    for (const [i, at] of this.#cells(domain)) this.#total.add(at, this.#offered(classNumber, i), count);
    for (const sum of [this.joint, ...sums]) this.credit(domain, classNumber, count, sum);
  }

  /** Adds to one sum only. */
  credit(domain: number, classNumber: number, count: number, sum: Float64Array): void {
    for (const [i, at] of this.#cells(domain)) {
      sum[at] = Math.min(this.#wants[i]!, sum[at]! + this.#offered(classNumber, i) * count);
    }
  }

  satisfies(domain: number): boolean {
    return this.#cells(domain).every(([i, at]) => this.joint[at]! >= this.#wants[i]!);
  }

  /** Sum over the dimensions, in parts per million. */
  coverage(domain: number, sum: Float64Array): number {
    return this.#cells(domain).reduce((ppm, [i, at]) => ppm + partsPerMillion(sum[at]!, this.#wants[i]!), 0);
  }

  worstCoverage(domain: number): number {
    const each = this.#cells(domain).map(([i, at]) => partsPerMillion(this.joint[at]!, this.#wants[i]!));
    return Math.min(1_000_000, ...each);
  }

  /** What the joint sum lacks, by dimension of the fleet; null if nothing. */
  missing(domain: number): Float64Array | null {
    if (this.satisfies(domain)) return null;
    const missing = new Float64Array(this.#cycle.fleet.dimensions.count);
    for (const [i, at] of this.#cells(domain)) missing[this.#dims[i]!] = this.#wants[i]! - this.joint[at]!;
    return missing;
  }

  uncapped(domain: number): bigint {
    return this.#cells(domain).reduce(
      (ppm, [i, at]) => ppm + this.#total.partsPerMillion(at, this.#wants[i]!),
      0n,
    );
  }

  #offered(classNumber: number, i: number): number {
    const { classes, dimensions } = this.#cycle.fleet;
    return classes.allocatable.data[classNumber * dimensions.stride + this.#dims[i]!]!;
  }

  /** (dimension, cell) pairs of a domain. */
  #cells(domain: number): [number, number][] {
    return this.#dims.map((_, i) => [i, domain * this.#dims.length + i]);
  }
}

/** Serves one gang: chooses its domain, credits what it has there, and acquires the rest if that completes it. */
export function serveGang(cycle: Cycle, turn: number): void {
  const { demand } = cycle.fleet;
  const domains = domainsOf(cycle, turn);
  const sums = sumDomains(cycle, turn);
  const order = rankDomains(cycle, turn, sums);
  const best = order[0];
  const satisfiable = best === undefined ? demand.empty[cycle.turns.row[turn]!] === 1 : sums.satisfies(best);
  cycle.beginWant(turn);
  cycle.openCredits(turn);
  if (best !== undefined && !cycle.want.covered) creditDomain(cycle, turn, best, satisfiable);
  cycle.openLater(turn);
  if (best !== undefined && satisfiable && cycle.canBind(cycle.turns.cluster[turn]!) && !cycle.want.covered) {
    acquire(cycle, turn, (c) => domains.of(c) === best, drainsIn(cycle, turn, best));
  }
  cycle.noteRestamps(turn);
  cycle.gangs.set(turn, {
    order: order.map((domain) => sums.names[domain]!),
    domain: best === undefined ? null : sums.names[best]!,
    satisfiable,
    candidates: candidatesOf(order, sums),
    missing: best === undefined ? null : sums.missing(best),
  });
  if (!cycle.want.covered) cycle.addUnmet(turn, null);
}

export function domainsOf(cycle: Cycle, turn: number): Domains {
  const { demand, domains } = cycle.fleet;
  return domains.by(demand.profiles.entryOf(cycle.turns.profile[turn]!).sameKey!);
}

function drainsIn(cycle: Cycle, turn: number, domain: number): number[] {
  const domains = domainsOf(cycle, turn);
  const { machines } = cycle.fleet;
  return cycle.drainingFor(turn, false).filter((slot) => domains.of(machines.classOf[slot]!) === domain);
}

function sumDomains(cycle: Cycle, turn: number): DomainSums {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const fitting = pattern.fittingClasses();
  const domains = domainsOf(cycle, turn);
  // Looking classes up first gives every domain its number.
  for (const c of fitting) domains.of(c);
  const sums = new DomainSums(cycle, turn, domains.names);
  const { own, creditable, creditableAndIdle } = sums;
  const key = cycle.turns.key[turn]!;

  const runs = machines.boundOf(cycle.turns.cluster[turn]!);
  for (const run of runs === undefined ? [] : [runs.configured, runs.configuring]) {
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = machines.arena.data[i]!;
      const c = machines.classOf[slot]!;
      if (!cycle.isFree(slot) || !pattern.fits(c)) continue;
      sums.add(domains.of(c), c, 1, [creditable, creditableAndIdle]);
      if (cycle.isOwn(slot, key)) sums.credit(domains.of(c), c, 1, own);
    }
  }
  for (const slot of [...cycle.comingIdle(turn), ...cycle.comingCreating(turn, false)]) {
    const c = machines.classOf[slot]!;
    sums.add(domains.of(c), c, 1, [creditable, creditableAndIdle, own]);
  }
  for (const slot of cycle.drainingFor(turn, false)) {
    const c = machines.classOf[slot]!;
    sums.add(domains.of(c), c, 1, [own]);
  }
  if (!cycle.canBind(cycle.turns.cluster[turn]!)) return sums;

  for (const c of fitting) {
    const freeIdle = cycle.pools.freeIdle(c);
    const freeSpeculative = cycle.pools.freeSpeculative(c);
    if (freeIdle > 0) sums.add(domains.of(c), c, freeIdle, [creditableAndIdle]);
    if (freeSpeculative > 0) sums.add(domains.of(c), c, freeSpeculative, []);
  }
  for (const slot of cycle.pools.freeSpecial()) {
    const c = machines.classOf[slot]!;
    if (machines.target[slot] !== key && pattern.fits(c)) sums.add(domains.of(c), c, 1, [creditableAndIdle]);
  }
  for (const slot of cycle.targeted(turn)) {
    const speculative = machines.state[slot] === MachineState.Speculative;
    if (speculative && machines.held[slot] === 0 && cycle.isFree(slot)) {
      const c = machines.classOf[slot]!;
      sums.credit(domains.of(c), c, 1, own);
    }
  }
  return sums;
}

/** Domains that have anything for the gang, best first. */
function rankDomains(cycle: Cycle, turn: number, sums: DomainSums): number[] {
  const found = [...sums.names.keys()].filter((domain) => sums.counts[domain]! > 0);
  const keys = new Map(found.map((domain) => [domain, new DomainKeys(cycle, turn, sums, domain)]));
  return found.sort((a, b) => keys.get(a)!.compare(keys.get(b)!));
}

/** The keys by which a domain is better than another; dear ones are worked out only where the cheap ones tie. */
class DomainKeys {
  readonly #cycle: Cycle;
  readonly #turn: number;
  readonly #sums: DomainSums;
  readonly #domain: number;
  readonly #satisfiable: boolean;
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
    this.#domain = domain;
    this.#satisfiable = sums.satisfies(domain);
    this.#creditable = sums.coverage(domain, sums.creditable);
    this.#own = sums.coverage(domain, sums.own);
    this.#creditableAndIdle = sums.coverage(domain, sums.creditableAndIdle);
    this.#joint = sums.coverage(domain, sums.joint);
  }

  compare(other: DomainKeys): number {
    if (this.#satisfiable !== other.#satisfiable) return this.#satisfiable ? -1 : 1;
    const order = this.#satisfiable ? this.#compareSatisfiable(other) : this.#compareUnsatisfiable(other);
    return (
      order ||
      this.#sums.counts[other.#domain]! - this.#sums.counts[this.#domain]! ||
      compareText(this.#sums.names[this.#domain]!, this.#sums.names[other.#domain]!)
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
    this.#uncapped ??= this.#sums.uncapped(this.#domain);
    return this.#uncapped;
  }

  #costToTake(): number {
    this.#cost ??= costToTake(this.#cycle, this.#turn, this.#domain);
    return this.#cost;
  }
}

/** Dollars per hour of what the gang would acquire in a domain, in the order it would: a trial that is undone. */
function costToTake(cycle: Cycle, turn: number, domain: number): number {
  const { classes, demand, machines } = cycle.fleet;
  const dollars = demand.profiles.entryOf(cycle.turns.profile[turn]!).interruptionDollars;
  const domains = domainsOf(cycle, turn);
  let cost = 0;
  cycle.pools.onTrial(() => {
    cycle.beginWant(turn);
    cycle.openCredits(turn);
    creditDomain(cycle, turn, domain, true);
    cycle.openLater(turn);
    if (cycle.canBind(cycle.turns.cluster[turn]!)) {
      acquire(cycle, turn, (c) => domains.of(c) === domain, drainsIn(cycle, turn, domain));
    }
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
  const coming = [...cycle.comingIdle(turn), ...cycle.comingCreating(turn, false)].filter((slot) => {
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
