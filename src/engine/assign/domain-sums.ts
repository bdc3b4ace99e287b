// What a gang finds in each domain, as sums: what is creditable, what is its own, and all there is including free
// machines. The choice of a domain compares these sums, in whole parts per million of what the gang wants.
// `cycle.sums`, for the gang that gang.ts is serving.

import { MachineState } from '../../model/index.ts';
import type { PatternAvailability } from '../candidates/domain-availability.ts';
import type { Cycle } from '../cycle.ts';
import { cappedParts, isBeyondDoubles, MILLION, partsPerMillion } from './coverage.ts';
import { type CostOfFree, DomainTrees } from './domain-tree.ts';
import { creatingInFlight, drainingFor, idleInFlight, ownSpeculative } from './in-flight.ts';
import { NONE, RowKind } from './ranked-rows.ts';

/** The sums of the gang being served; one instance serves all gangs, one after another. */
export class DomainSums {
  readonly #cycle: Cycle;
  #availability!: PatternAvailability;
  #rankedRow = NONE;
  /** False for a cluster that cannot bind: free machines do not count. */
  #pooled = false;
  /** Dimensions that the gang wants, and the amounts. */
  #dims: number[] = [];
  #wants: number[] = [];
  /** Domains with machines other than free ones. */
  homes: number[] = [];
  /** Unclaimed bound machines of the cluster that fit, in walk order. */
  bound: number[] = [];
  /** Idle, then Creating machines in flight for the gang. */
  inFlight: number[] = [];
  draining: number[] = [];
  // By domain and dimension, uncapped; zero except for homes. A sum beyond 2^53 is not exact, but more than is wanted.
  #creditable = new Float64Array(0);
  #own = new Float64Array(0);
  /** Machines that are not free machines: all of them, and the creditable ones. */
  #beside = new Float64Array(0);
  #besideCreditable = new Float64Array(0);
  /** By domain: number of machines that are not free machines, and whether it is a home. */
  #counts = new Int32Array(0);
  #isHome = new Uint8Array(0);
  readonly #trees = new DomainTrees();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Computes the sums of a gang. */
  begin(rankedRow: number): void {
    const cycle = this.#cycle;
    const availability = cycle.availability.of(rankedRow);
    this.#clear();
    this.#rankedRow = rankedRow;
    this.#availability = availability;
    this.#pooled = cycle.canBind(rankedRow);
    this.#reserve(availability);
    this.#readWants(rankedRow);
    this.#addBound(rankedRow);
    const hasInFlight = cycle.rankedRows.hasInFlight[rankedRow] === 1;
    const idle = hasInFlight ? idleInFlight(cycle, rankedRow) : [];
    const creating = hasInFlight ? creatingInFlight(cycle, rankedRow, false) : [];
    this.inFlight = [...idle, ...creating];
    this.draining = hasInFlight ? drainingFor(cycle, rankedRow, false) : [];
    // Idle machines in flight are free machines too.
    for (const slot of idle) this.#add(slot, true, true, !this.#pooled);
    for (const slot of creating) this.#add(slot, true, true, true);
    for (const slot of this.draining) this.#add(slot, false, true, true);
    if (!this.#pooled || !hasInFlight) return;
    for (const slot of ownSpeculative(cycle, rankedRow)) {
      if (!cycle.purchases.withholds(rankedRow, cycle.fleet.machines.classOf[slot]!))
        this.#add(slot, false, true, false);
    }
  }

  #clear(): void {
    if (this.#rankedRow === NONE) return;
    const { dims } = this.#availability;
    for (const domain of this.homes) {
      for (const column of this.#columns()) column.fill(0, domain * dims, (domain + 1) * dims);
      this.#counts[domain] = 0;
      this.#isHome[domain] = 0;
    }
    this.homes = [];
    this.bound = [];
    this.#rankedRow = NONE;
  }

  #columns(): Float64Array[] {
    return [this.#creditable, this.#own, this.#beside, this.#besideCreditable];
  }

  /** Replaces columns without copying: all are zero when this is called. */
  #reserve({ free, counts }: PatternAvailability): void {
    if (this.#creditable.length < free.length) {
      this.#creditable = new Float64Array(free.length * 2);
      this.#own = new Float64Array(free.length * 2);
      this.#beside = new Float64Array(free.length * 2);
      this.#besideCreditable = new Float64Array(free.length * 2);
    }
    if (this.#counts.length >= counts.length) return;
    this.#counts = new Int32Array(counts.length * 2);
    this.#isHome = new Uint8Array(counts.length * 2);
  }

  #readWants(rankedRow: number): void {
    const { demand, dimensions } = this.#cycle.fleet;
    const from = this.#cycle.rankedRows.row[rankedRow]! * dimensions.stride;
    this.#dims = [];
    this.#wants = [];
    for (let d = 0; d < dimensions.count; d++) {
      const wanted = demand.aggregate.data[from + d]!;
      if (wanted === 0) continue;
      this.#dims.push(d);
      this.#wants.push(wanted);
    }
  }

  #addBound(rankedRow: number): void {
    const cycle = this.#cycle;
    const { machines, patterns } = cycle.fleet;
    const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
    const key = cycle.rankedRows.key[rankedRow]!;
    const cluster = cycle.rankedRows.cluster[rankedRow]!;
    // An infeasible gang may also claim machines that worse-ranked rows were credited with.
    const walk =
      cycle.rankedRows.infeasible[rankedRow] === 1
        ? cycle.walk.begin(cluster)
        : cycle.credits.walkUnclaimedAtClose(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      if (!this.#isFree(slot, rankedRow) || !pattern.fits(machines.classOf[slot]!)) continue;
      this.bound.push(slot);
      this.#add(slot, true, cycle.isOwn(slot, key), true);
    }
  }

  /**
   * Whether the machine is unclaimed, or the gang is infeasible and the claimant is served later: such rows do not wait for
   * it. A row that is set aside claims before all others.
   */
  #isFree(slot: number, rankedRow: number): boolean {
    const { rankedRows } = this.#cycle;
    const by = this.#cycle.claims.claimedBy[slot]! - 1;
    if (by === NONE) return true;
    if (rankedRows.infeasible[rankedRow] === 0 || rankedRows.kind[by] === RowKind.SetAside) return false;
    return rankedRows.place[by]! > rankedRows.place[rankedRow]!;
  }

  #add(slot: number, creditable: boolean, own: boolean, beside: boolean): void {
    const { classes, dimensions, machines } = this.#cycle.fleet;
    const c = machines.classOf[slot]!;
    const domain = this.#availability.domains.of(c);
    if (this.#isHome[domain] === 0) {
      this.#isHome[domain] = 1;
      this.homes.push(domain);
    }
    if (beside) this.#counts[domain]!++;
    for (let i = 0; i < this.#dims.length; i++) {
      const d = this.#dims[i]!;
      const amount = classes.allocatable.data[c * dimensions.stride + d]!;
      const at = domain * this.#availability.dims + d;
      if (creditable) this.#creditable[at]! += amount;
      if (own) this.#own[at]! += amount;
      if (!beside) continue;
      this.#beside[at]! += amount;
      if (creditable) this.#besideCreditable[at]! += amount;
    }
  }

  /** All domains that may have a machine. */
  get domains(): readonly number[] {
    return this.#pooled ? this.#availability.list : this.homes;
  }

  /** Number of machines in a domain. */
  countOf(domain: number): number {
    if (!this.#pooled) return this.#counts[domain]!;
    this.#availability.refresh(domain);
    return this.#counts[domain]! + this.#availability.counts[domain]!;
  }

  /** All there is of a dimension in a domain. */
  #joint(domain: number, d: number): number {
    const at = domain * this.#availability.dims + d;
    return this.#pooled ? this.#beside[at]! + this.#availability.free[at]! : this.#beside[at]!;
  }

  satisfies(domain: number): boolean {
    if (this.#pooled) this.#availability.refresh(domain);
    for (let i = 0; i < this.#dims.length; i++) {
      if (this.#joint(domain, this.#dims[i]!) < this.#wants[i]!) return false;
    }
    return true;
  }

  /** Whether the creditable machines of a domain cover the gang. */
  isCreditable(domain: number): boolean {
    for (let i = 0; i < this.#dims.length; i++) {
      if (this.#creditable[domain * this.#availability.dims + this.#dims[i]!]! < this.#wants[i]!)
        return false;
    }
    return true;
  }

  // Coverage: parts per million, summed over the dimensions.

  creditable(domain: number): number {
    return this.#coverage(domain, this.#creditable);
  }

  own(domain: number): number {
    return this.#coverage(domain, this.#own);
  }

  #coverage(domain: number, column: Float64Array): number {
    let ppm = 0;
    for (let i = 0; i < this.#dims.length; i++) {
      ppm += cappedParts(column[domain * this.#availability.dims + this.#dims[i]!]!, this.#wants[i]!);
    }
    return ppm;
  }

  creditableAndIdle(domain: number): number {
    if (this.#pooled) this.#availability.refresh(domain);
    let ppm = 0;
    for (let i = 0; i < this.#dims.length; i++) {
      const at = domain * this.#availability.dims + this.#dims[i]!;
      const idle = this.#pooled ? this.#availability.idle[at]! : 0;
      ppm += cappedParts(this.#besideCreditable[at]! + idle, this.#wants[i]!);
    }
    return ppm;
  }

  joint(domain: number): number {
    if (this.#pooled) this.#availability.refresh(domain);
    let ppm = 0;
    for (let i = 0; i < this.#dims.length; i++) {
      ppm += cappedParts(this.#joint(domain, this.#dims[i]!), this.#wants[i]!);
    }
    return ppm;
  }

  /** Must be called before `worst`. */
  refreshAll(): void {
    if (this.#pooled) this.#availability.refreshAll();
  }

  /**
   * Coverage of the worst-covered dimension of a domain; NONE as soon as it is known to be below `least`, or if the domain
   * has no machine. Requires `refreshAll`.
   */
  worst(domain: number, least: number): number {
    if (this.#counts[domain] === 0 && (!this.#pooled || this.#availability.counts[domain] === 0)) return NONE;
    let worst = MILLION;
    for (let i = 0; i < this.#dims.length; i++) {
      const have = this.#joint(domain, this.#dims[i]!);
      const want = this.#wants[i]!;
      // Inexact, but by less than the one part that is subtracted.
      if (have < want * ((least - 1) / MILLION)) return NONE;
      worst = Math.min(worst, cappedParts(have, want));
      if (worst < least) return NONE;
    }
    return worst;
  }

  /** Parts per million without the cap. */
  uncapped(domain: number): number | bigint {
    if (this.#pooled) this.#availability.refresh(domain);
    let ppm = 0;
    for (let i = 0; i < this.#dims.length; i++) {
      const have = this.#joint(domain, this.#dims[i]!);
      const want = this.#wants[i]!;
      if (isBeyondDoubles(have, want)) return this.#uncappedExactly(domain);
      ppm += partsPerMillion(have, want);
    }
    return ppm;
  }

  #uncappedExactly(domain: number): bigint {
    let ppm = 0n;
    for (const [i, d] of this.#dims.entries()) {
      ppm += (BigInt(MILLION) * this.#jointExactly(domain, d)) / BigInt(this.#wants[i]!);
    }
    return ppm;
  }

  #jointExactly(domain: number, d: number): bigint {
    const { classes, dimensions, machines } = this.#cycle.fleet;
    let sum = this.#pooled ? this.#availability.freeExactly(domain, d) : 0n;
    for (const slot of [...this.bound, ...this.inFlight, ...this.draining]) {
      const c = machines.classOf[slot]!;
      // Idle machines in flight are free machines too.
      if (this.#pooled && machines.state[slot] === MachineState.Idle) continue;
      if (this.#availability.domains.of(c) === domain)
        sum += BigInt(classes.allocatable.data[c * dimensions.stride + d]!);
    }
    return sum;
  }

  /** The best domain of those that are not homes and that free machines alone can complete the gang in; NONE without. */
  bestElsewhere(costOf: CostOfFree): number {
    if (!this.#pooled) return NONE;
    const { number } = this.#cycle;
    const shape = {
      availability: this.#availability,
      tiers: this.#cycle.tiersOf(this.#rankedRow),
      interruptionDollars: this.#cycle.profileOf(this.#rankedRow).interruptionDollars,
      dims: this.#dims,
      wants: this.#wants,
    };
    return this.#trees.of(shape, number).best(this.#isHome, costOf);
  }

  /** What a domain lacks even with all there is, by dimension of the fleet; null if nothing. */
  missing(domain: number): Float64Array | null {
    if (this.satisfies(domain)) return null;
    const missing = new Float64Array(this.#availability.dims);
    for (const [i, d] of this.#dims.entries()) {
      missing[d] = Math.max(0, this.#wants[i]! - this.#joint(domain, d));
    }
    return missing;
  }
}
