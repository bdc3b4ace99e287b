// Gangs: rows whose machines must share one value of a key. A gang chooses one domain, keeps to it, and acquires
// whole or not at all; what is bound is kept and credited. See docs/engine.md, "Gangs".

import { compareText, effectiveCost, MachineState } from '../model/index.ts';
import { ExactSums, partsPerMillion } from './coverage.ts';
import type { Cycle, GangView, Served } from './cycle.ts';
import { acquire, boundSlots, Serving } from './serve.ts';
import type { Turn } from './turns.ts';

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

  constructor(cycle: Cycle, turn: Turn, names: readonly string[]) {
    const { stride, count } = cycle.fleet.dimensions;
    const wanted = cycle.fleet.demand.aggregate.data.subarray(turn.row * stride, turn.row * stride + count);
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

/** Serves one gang. */
export function serveGang(cycle: Cycle, turn: Turn): Served {
  const serving = new Serving(cycle, turn);
  const { demand } = cycle.fleet;
  const domains = cycle.fleet.domains.by(demand.profiles.entryOf(turn.profile).sameKey!);
  const sums = sumDomains(serving);
  const order = rankDomains(serving, sums);
  const best = order[0];
  cycle.want.beginRow(turn.row);
  const satisfiable = best === undefined ? demand.empty[turn.row] === 1 : sums.satisfies(best);
  if (best !== undefined && !cycle.want.covered) {
    if (satisfiable) {
      creditDomain(serving, best, true);
      if (serving.canBind && !cycle.want.covered) {
        acquire(serving, (c) => domains.of(c) === best, drainsIn(serving, best));
      }
    } else creditDomain(serving, best, false);
  }
  const view: GangView = {
    order: order.map((domain) => sums.names[domain]!),
    domain: best === undefined ? null : sums.names[best]!,
    satisfiable,
    candidates: candidatesOf(order, sums),
  };
  return serving.finish({ gang: view });
}

function drainsIn(serving: Serving, domain: number): number[] {
  const { cycle, turn } = serving;
  const domains = domainsOf(serving);
  return cycle
    .drainingFor(turn, false)
    .filter((slot) => domains.of(cycle.fleet.machines.classOf[slot]!) === domain);
}

function domainsOf(serving: Serving): ReturnType<Cycle['fleet']['domains']['by']> {
  const { fleet } = serving.cycle;
  return fleet.domains.by(fleet.demand.profiles.entryOf(serving.turn.profile).sameKey!);
}

function sumDomains(serving: Serving): DomainSums {
  const { cycle, turn } = serving;
  const { classes, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(turn.pattern);
  const domains = domainsOf(serving);
  // Looking classes up first gives every domain its number.
  for (let c = 0; c < classes.size; c++)
    if (classes.attributes[c] !== undefined && pattern.fits(c)) domains.of(c);
  const sums = new DomainSums(cycle, turn, domains.names);
  const { own, creditable, creditableAndIdle } = sums;

  for (const slot of boundSlots(cycle, turn.cluster)) {
    const c = machines.classOf[slot]!;
    if (!cycle.isFree(slot) || !pattern.fits(c)) continue;
    sums.add(domains.of(c), c, 1, [creditable, creditableAndIdle]);
    if (cycle.isOwn(slot, turn.key)) sums.credit(domains.of(c), c, 1, own);
  }
  const { idle, creating } = cycle.inFlight(turn, false);
  for (const slot of [...idle, ...creating]) {
    const c = machines.classOf[slot]!;
    sums.add(domains.of(c), c, 1, [creditable, creditableAndIdle, own]);
  }
  for (const slot of cycle.drainingFor(turn, false)) {
    const c = machines.classOf[slot]!;
    sums.add(domains.of(c), c, 1, [own]);
  }
  if (!serving.canBind) return sums;

  for (let c = 0; c < classes.size; c++) {
    const freeIdle = cycle.pools.freeIdle(c);
    const freeSpeculative = cycle.pools.freeSpeculative(c);
    if (freeIdle + freeSpeculative === 0 || !pattern.fits(c)) continue;
    if (freeIdle > 0) sums.add(domains.of(c), c, freeIdle, [creditableAndIdle]);
    if (freeSpeculative > 0) sums.add(domains.of(c), c, freeSpeculative, []);
  }
  for (const slot of cycle.pools.freeSpecial()) {
    const c = machines.classOf[slot]!;
    if (machines.target[slot] !== turn.key && pattern.fits(c))
      sums.add(domains.of(c), c, 1, [creditableAndIdle]);
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
function rankDomains(serving: Serving, sums: DomainSums): number[] {
  const found = [...sums.names.keys()].filter((domain) => sums.counts[domain]! > 0);
  const memo = new Map<number, DomainKeys>();
  for (const domain of found) memo.set(domain, new DomainKeys(serving, sums, domain));
  return found.sort((a, b) => memo.get(a)!.compare(memo.get(b)!));
}

/** The keys by which a domain is better than another; dear ones are worked out only where the cheap ones tie. */
class DomainKeys {
  readonly #serving: Serving;
  readonly #sums: DomainSums;
  readonly #domain: number;
  readonly #satisfiable: boolean;
  readonly #creditable: number;
  readonly #own: number;
  readonly #creditableAndIdle: number;
  readonly #joint: number;
  #uncapped: bigint | undefined;
  #cost: number | undefined;

  constructor(serving: Serving, sums: DomainSums, domain: number) {
    this.#serving = serving;
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
    this.#cost ??= costToTake(this.#serving, this.#domain);
    return this.#cost;
  }
}

/** Dollars per hour of what the gang would acquire in a domain, in the order it would: a trial that is undone. */
function costToTake(serving: Serving, domain: number): number {
  const { cycle, turn } = serving;
  const { classes, demand, machines } = cycle.fleet;
  const dollars = demand.profiles.entryOf(turn.profile).interruptionDollars;
  const domains = domainsOf(serving);
  const trial = new Serving(cycle, turn);
  cycle.want.beginRow(turn.row);
  creditDomain(trial, domain, true);
  const credited = trial.claims.length;
  if (trial.canBind) acquire(trial, (c) => domains.of(c) === domain, drainsIn(serving, domain));
  let cost = 0;
  for (const slot of trial.claims.slice(credited)) {
    const c = machines.classOf[slot]!;
    cost += effectiveCost(classes.price[c]!, classes.probability[c]!, dollars);
  }
  for (const slot of trial.claims) cycle.claimedBy[slot] = 0;
  cycle.pools.putBack(trial.claims, turn.pattern, dollars);
  return cost;
}

/**
 * Credits what the gang has in a domain, its own first: bound, then in flight; then machines of nobody, then of
 * other live rows. A gang that cannot be completed keeps to bound machines of its own and of nobody.
 */
function creditDomain(serving: Serving, domain: number, completable: boolean): void {
  const { cycle, turn } = serving;
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(turn.pattern);
  const domains = domainsOf(serving);
  const own: number[] = [];
  const orphans: number[] = [];
  const others: number[] = [];
  // Configured machines come first, each run in keep order; among equals in whose they are, that is the order.
  for (const slot of boundSlots(cycle, turn.cluster)) {
    const c = machines.classOf[slot]!;
    if (!cycle.isFree(slot) || !pattern.fits(c) || domains.of(c) !== domain) continue;
    if (cycle.isOwn(slot, turn.key)) own.push(slot);
    else if (cycle.isAnothers(slot, turn.key)) others.push(slot);
    else orphans.push(slot);
  }
  const inDomain = (slot: number): boolean => domains.of(machines.classOf[slot]!) === domain;
  const { idle, creating } = cycle.inFlight(turn, false);
  const coming = [...idle, ...creating].filter(inDomain);
  for (const slot of completable ? [...own, ...coming, ...orphans, ...others] : [...own, ...orphans]) {
    if (cycle.want.covered) return;
    if (cycle.want.adds(machines.classOf[slot]!, true)) serving.claim(slot);
  }
}

function candidatesOf(order: readonly number[], sums: DomainSums): GangView['candidates'] {
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
