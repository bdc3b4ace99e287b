// Free machines of a pattern, domain by domain, so that a gang compares racks without walking all classes. The sums of a
// domain are computed when a gang first reads them; machines claimed or returned afterwards are added and subtracted.
// Used by Phase 1 for gangs (domain-sums.ts, domain-tree.ts, gang.ts, infeasible.ts), by Phase 2 (preempt.ts) and for
// verdicts (verdict.ts, fitting-machines.ts), through `GangAvailability`, which has one for each pattern of gangs.

import { ChangeRing } from '../../collections/change-ring.ts';
import type { Domains, Pattern } from '../../fleet/index.ts';
import { compareText } from '../../model/index.ts';
import { isPurchasedClass } from '../assign/purchases.ts';
import type { Cycle } from '../cycle.ts';
import { changeOfEntry, classOfEntry, FreeChange, type Topology } from './topology.ts';

const NEVER = -1;
/** Claims that are read in the time in which a class is added up. */
const CLAIMS_PER_CLASS = 4;

/** The free machines of one pattern. */
export class PatternAvailability {
  readonly #cycle: Cycle;
  readonly #topology: Topology;
  readonly #pattern: Pattern;
  /** Without Speculative machines that are purchased. */
  readonly #isOwnedOnly: boolean;
  /** Classes that fit: unordered, and by domain, those of domain d at `#start[d] … #start[d + 1] − 1`. */
  readonly fitting: Uint32Array;
  readonly #classes: Uint32Array;
  readonly #start: Uint32Array;
  /** By domain, from `#start[d]` up to `#nonEmptyEnd[d]`: the classes that had free machines when the cycle began. */
  readonly #nonEmpty: Uint32Array;
  readonly #nonEmptyEnd: Uint32Array;
  readonly #nonEmptySeen: Float64Array;
  /** Domains with fitting classes. */
  readonly list: readonly number[];
  readonly dims: number;
  // By domain and dimension. A sum beyond 2^53 is not exact, but larger than any row's aggregate.
  readonly idle: Float64Array;
  /** Sum over Idle and Speculative machines. */
  readonly free: Float64Array;
  readonly counts: Int32Array;
  /** Position in the log of the topology up to which changes are applied. */
  #applied: number;
  /** By domain: 1 if its sums must be computed from its classes; and the number of such domains. */
  readonly #stale: Uint8Array;
  #staleCount: number;
  /** Domains whose sums changed, and by domain the position of its last entry. */
  readonly changes = new ChangeRing();
  readonly changedAt: Float64Array;
  #byName: DomainsByName | null = null;
  /**
   * Sums over the machines of a domain in a usable state, and over those of them that are not blocked; `#most` is the largest `#capacity` by
   * dimension.
   */
  readonly #capacity: Float64Array;
  readonly #unblocked: Float64Array;
  /** Sum that includes Failed and Deleting machines. */
  readonly #all: Float64Array;
  readonly #most: Float64Array;
  /** The counters of member changes, in total and by domain, when these sums were computed. */
  #membersSeen = NEVER;
  readonly #membersSeenIn: Float64Array;
  #special: Map<number, number[]> | null = null;

  constructor(cycle: Cycle, topology: Topology, pattern: Pattern, isOwnedOnly: boolean) {
    const { domains } = topology;
    const fitting = pattern.fittingClasses();
    this.#cycle = cycle;
    this.#topology = topology;
    this.#pattern = pattern;
    this.#isOwnedOnly = isOwnedOnly;
    this.fitting = fitting;
    // Looking up a class assigns a number to its domain.
    for (const c of fitting) domains.of(c);
    const { length } = domains.names;
    const start = new Uint32Array(length + 2);
    for (const c of fitting) start[domains.of(c) + 2]!++;
    for (let domain = 2; domain < start.length; domain++) start[domain]! += start[domain - 1]!;
    this.#classes = new Uint32Array(fitting.length);
    for (const c of fitting) this.#classes[start[domains.of(c) + 1]!++] = c;
    this.#start = start;
    this.#nonEmpty = new Uint32Array(fitting.length);
    this.#nonEmptyEnd = new Uint32Array(length);
    this.#nonEmptySeen = new Float64Array(length).fill(NEVER);
    this.list = [...domains.names.keys()].filter((domain) => start[domain + 1]! > start[domain]!);
    this.dims = cycle.fleet.dimensions.count;
    this.idle = new Float64Array(length * this.dims);
    this.free = new Float64Array(length * this.dims);
    this.counts = new Int32Array(length);
    this.#capacity = new Float64Array(length * this.dims);
    this.#unblocked = new Float64Array(length * this.dims);
    this.#all = new Float64Array(length * this.dims);
    this.#most = new Float64Array(this.dims);
    this.#applied = topology.freeChanges.end;
    this.#stale = new Uint8Array(length);
    for (const domain of this.list) this.#stale[domain] = 1;
    this.#staleCount = this.list.length;
    this.changedAt = new Float64Array(length).fill(NEVER);
    this.#membersSeenIn = new Float64Array(length).fill(NEVER);
  }

  get domains(): Domains {
    return this.#topology.domains;
  }

  /** Invalidates the special machines, which are Idle and have a target or a reclamation penalty: a cycle changes both. */
  beginCycle(): void {
    this.#special = null;
  }

  classesIn(domain: number): Uint32Array {
    return this.#classes.subarray(this.#start[domain], this.#start[domain + 1]);
  }

  /** The domains of `list` by name, and the place of each among them. */
  get byName(): DomainsByName {
    if (this.#byName === null) {
      const { names } = this.domains;
      const domains = Uint32Array.from(this.list).sort((a, b) => compareText(names[a]!, names[b]!));
      const placeOf = new Int32Array(this.counts.length);
      for (let place = 0; place < domains.length; place++) placeOf[domains[place]!] = place;
      this.#byName = { domains, placeOf };
    }
    return this.#byName;
  }

  /** Brings the sums of all domains up to date. */
  refreshAll(): void {
    this.applyChanges();
    if (this.#staleCount > 0) for (const domain of this.list) this.refresh(domain);
  }

  /** Applies claims on free machines since the last call, and adds the domains concerned to `changes`. */
  applyChanges(): void {
    const { freeChanges } = this.#topology;
    const { end } = freeChanges;
    if (this.#applied === end) return;
    // Few classes are added up again faster than many claims are read, most of which concern other patterns.
    const isCheaper = end - this.#applied > CLAIMS_PER_CLASS * this.fitting.length;
    if (isCheaper || freeChanges.hasLost(this.#applied))
      for (const domain of this.list) this.#invalidate(domain);
    else for (let at = this.#applied; at < end; at++) this.#apply(freeChanges.at(at));
    this.#applied = end;
  }

  #apply(entry: number): void {
    const c = classOfEntry(entry);
    if (!this.#pattern.fits(c)) return;
    const domain = this.domains.of(c);
    if (domain < 0 || domain >= this.counts.length || this.#stale[domain] === 1) return;
    const change = changeOfEntry(entry);
    if (change === FreeChange.Restocked || !this.#isExact(domain)) {
      this.#invalidate(domain);
      return;
    }
    const isReturned = change === FreeChange.IdleReturned || change === FreeChange.SpeculativeReturned;
    const isIdle = change === FreeChange.IdleTaken || change === FreeChange.IdleReturned;
    if (!isIdle && !this.#isBuyable(c)) return;
    const machines = isReturned ? 1 : -1;
    this.#add(domain, c, isIdle ? machines : 0, isIdle ? 0 : machines);
    this.#noteChanged(domain);
  }

  /** Nothing can be subtracted from a sum that is not exact. */
  #isExact(domain: number): boolean {
    for (let at = domain * this.dims; at < (domain + 1) * this.dims; at++)
      if (this.free[at]! > Number.MAX_SAFE_INTEGER) return false;
    return true;
  }

  #invalidate(domain: number): void {
    if (this.#stale[domain] === 1) return;
    this.#stale[domain] = 1;
    this.#staleCount++;
    this.#noteChanged(domain);
  }

  #noteChanged(domain: number): void {
    this.changedAt[domain] = this.changes.end;
    this.changes.add(domain);
  }

  /** Brings the sums of a domain up to date. */
  refresh(domain: number): void {
    this.applyChanges();
    if (this.#stale[domain] === 0) return;
    this.#stale[domain] = 0;
    this.#staleCount--;
    for (let at = domain * this.dims; at < (domain + 1) * this.dims; at++) {
      this.idle[at] = 0;
      this.free[at] = 0;
    }
    this.counts[domain] = 0;
    const { freeMachines } = this.#cycle;
    this.#listNonEmpty(domain);
    for (let i = this.#start[domain]!; i < this.#nonEmptyEnd[domain]!; i++) {
      const c = this.#nonEmpty[i]!;
      const idle = freeMachines.freeIdle(c);
      const speculative = this.#isBuyable(c) ? freeMachines.freeSpeculative(c) : 0;
      if (idle + speculative > 0) this.#add(domain, c, idle, speculative);
    }
    for (const slot of this.specialIn(domain)) {
      if (this.#cycle.claims.isFree(slot)) this.#add(domain, this.#cycle.fleet.machines.classOf[slot]!, 1, 0);
    }
  }

  #isBuyable(classNumber: number): boolean {
    return !this.#isOwnedOnly || !isPurchasedClass(this.#cycle.fleet, classNumber);
  }

  /** Lists the classes with free machines: most have none, and claiming a machine does not change which do. */
  #listNonEmpty(domain: number): void {
    const memberChanges = this.#topology.memberChangesIn(domain);
    if (this.#nonEmptySeen[domain] === memberChanges) return;
    this.#nonEmptySeen[domain] = memberChanges;
    const { freeMachines } = this.#cycle;
    let end = this.#start[domain]!;
    for (let i = end; i < this.#start[domain + 1]!; i++) {
      if (freeMachines.hadAny(this.#classes[i]!)) this.#nonEmpty[end++] = this.#classes[i]!;
    }
    this.#nonEmptyEnd[domain] = end;
  }

  #add(domain: number, classNumber: number, idle: number, speculative: number): void {
    const { classes, dimensions } = this.#cycle.fleet;
    const from = classNumber * dimensions.stride;
    const to = domain * this.dims;
    for (let d = 0; d < this.dims; d++) {
      const amount = classes.allocatable.data[from + d]!;
      this.idle[to + d]! += amount * idle;
      this.free[to + d]! += amount * (idle + speculative);
    }
    this.counts[domain]! += idle + speculative;
  }

  /** Fitting Idle machines of a domain with a target or a penalty, claimed or not: they are in no slice of a class. */
  specialIn(domain: number): readonly number[] {
    if (this.#special === null) {
      const { machines } = this.#cycle.fleet;
      const { offset, length } = machines.specialIdle;
      this.#special = new Map();
      for (let i = offset; i < offset + length; i++) {
        const slot = machines.arena.data[i]!;
        const c = machines.classOf[slot]!;
        if (!this.#pattern.fits(c)) continue;
        const slots = this.#special.get(this.domains.of(c));
        if (slots === undefined) this.#special.set(this.domains.of(c), [slot]);
        else slots.push(slot);
      }
    }
    return this.#special.get(domain) ?? NOTHING;
  }

  /** The sum of a dimension over the free machines of a domain, also where `free` is not exact. */
  freeExactly(domain: number, d: number): bigint {
    const { claims, fleet, freeMachines } = this.#cycle;
    const { data, stride } = fleet.classes.allocatable;
    let sum = 0n;
    for (const c of this.classesIn(domain)) {
      const speculative = this.#isBuyable(c) ? freeMachines.freeSpeculative(c) : 0;
      sum += BigInt(data[c * stride + d]!) * BigInt(freeMachines.freeIdle(c) + speculative);
    }
    for (const slot of this.specialIn(domain))
      if (claims.isFree(slot)) sum += BigInt(data[fleet.machines.classOf[slot]! * stride + d]!);
    return sum;
  }

  /** Domains whose machines, claimed or not, would cover a row. */
  domainsThatCouldCover(row: number): readonly number[] {
    const { demand, dimensions } = this.#cycle.fleet;
    this.#countDomains();
    const from = row * dimensions.stride;
    for (let d = 0; d < this.dims; d++) if (this.#most[d]! < demand.aggregate.data[from + d]!) return NOTHING;
    return this.list.filter((domain) => this.#covers(this.#capacity, domain, row));
  }

  /** Whether the machines of a domain in any state, Failed and Deleting included, would cover a row. */
  wouldSufficeInAll(row: number): boolean {
    this.#countDomains();
    return this.list.some((domain) => this.#covers(this.#all, domain, row));
  }

  /**
   * Whether the machines of a domain that are not blocked, claimed or not, would cover a row together with its own blocked
   * machines in `own`.
   */
  wouldSuffice(row: number, own: readonly number[]): boolean {
    this.#countDomains();
    const unblocked = own.length === 0 ? this.#unblocked : this.#unblockedWith(own);
    return this.list.some((domain) => this.#covers(unblocked, domain, row));
  }

  #unblockedWith(slots: readonly number[]): Float64Array {
    const { machines, classes, dimensions } = this.#cycle.fleet;
    const unblocked = this.#unblocked.slice();
    for (const slot of slots) {
      const c = machines.classOf[slot]!;
      const to = this.#topology.domains.of(c) * this.dims;
      for (let d = 0; d < this.dims; d++)
        unblocked[to + d]! += classes.allocatable.data[c * dimensions.stride + d]!;
    }
    return unblocked;
  }

  #covers(amounts: Float64Array, domain: number, row: number): boolean {
    const { demand, dimensions } = this.#cycle.fleet;
    const from = row * dimensions.stride;
    for (let d = 0; d < this.dims; d++) {
      if (amounts[domain * this.dims + d]! < demand.aggregate.data[from + d]!) return false;
    }
    return true;
  }

  #countDomains(): void {
    const { memberChanges } = this.#topology;
    if (this.#membersSeen === memberChanges) return;
    this.#membersSeen = memberChanges;
    this.#most.fill(0);
    for (const domain of this.list) {
      this.#countAll(domain);
      for (let d = 0; d < this.dims; d++) {
        this.#most[d] = Math.max(this.#most[d]!, this.#capacity[domain * this.dims + d]!);
      }
    }
  }

  /** Adds up all machines of a domain, if some were added or removed. */
  #countAll(domain: number): void {
    const memberChanges = this.#topology.memberChangesIn(domain);
    if (this.#membersSeenIn[domain] === memberChanges) return;
    this.#membersSeenIn[domain] = memberChanges;
    const { classes, dimensions } = this.#cycle.fleet;
    const to = domain * this.dims;
    this.#capacity.fill(0, to, to + this.dims);
    this.#unblocked.fill(0, to, to + this.dims);
    this.#all.fill(0, to, to + this.dims);
    for (let i = this.#start[domain]!; i < this.#start[domain + 1]!; i++) {
      const c = this.#classes[i]!;
      const members = this.#cycle.availability.membersOf(c);
      const unblocked = this.#cycle.availability.unblockedOf(c);
      const total = members + this.#cycle.availability.unusableOf(c);
      for (let d = 0; d < this.dims; d++) {
        const each = classes.allocatable.data[c * dimensions.stride + d]!;
        this.#capacity[to + d]! += members * each;
        this.#unblocked[to + d]! += unblocked * each;
        this.#all[to + d]! += total * each;
      }
    }
  }
}

interface DomainsByName {
  readonly domains: Uint32Array;
  readonly placeOf: Int32Array;
}

const NOTHING: readonly number[] = [];
