// Free machines of a pattern, domain by domain, so that a gang compares racks without walking all classes. The sums of a
// domain are computed when a gang first reads them, and again only once a machine of it was claimed or returned, or was
// added or removed between two cycles. Used by Phase 1 for gangs (domain-sums.ts, gang.ts, infeasible.ts), by Phase 2
// (preempt.ts) and for verdicts (verdict.ts, fitting-machines.ts). `PatternAvailability` is of one pattern,
// `GangAvailability` of all patterns that gangs use.

import { withRoom } from '../../collections/columns.ts';
import type { Domains, Pattern } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';

/** States of machines that can serve a row, now or after a transition. Blocked machines are counted separately. */
const USABLE = [
  MachineState.Speculative,
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
];

/** The domains of one topology label, and counters of changes in each: of free machines, and of machines in any state. */
export class Topology {
  readonly domains: Domains;
  #freeChanges = new Uint32Array(0);
  #memberChanges = new Uint32Array(0);
  /** In all domains. */
  freeChanges = 0;
  memberChanges = 0;

  constructor(domains: Domains) {
    this.domains = domains;
  }

  freeChangesIn(domain: number): number {
    return this.#freeChanges[domain]!;
  }

  memberChangesIn(domain: number): number {
    return this.#memberChanges[domain]!;
  }

  /** Makes room for all numbered domains. */
  reserve(): void {
    this.#freeChanges = withRoom(this.#freeChanges, this.domains.names.length);
    this.#memberChanges = withRoom(this.#memberChanges, this.domains.names.length);
  }

  /** A machine of a class was removed from the free machines or returned. */
  noteFreeChange(classNumber: number): void {
    const domain = this.domains.of(classNumber);
    if (domain < 0 || domain >= this.#freeChanges.length) return;
    this.#freeChanges[domain]!++;
    this.freeChanges++;
  }

  /** A machine was added to a class or removed from it. */
  noteMemberChange(classNumber: number): void {
    const domain = this.domains.of(classNumber);
    if (domain < 0 || domain >= this.#memberChanges.length) return;
    this.#memberChanges[domain]!++;
    this.memberChanges++;
  }
}

const NEVER = -1;

/** The free machines of one pattern. */
export class PatternAvailability {
  readonly #cycle: Cycle;
  readonly #topology: Topology;
  readonly #pattern: Pattern;
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
  /** By domain: its change counter when the sums were computed. */
  readonly #seen: Float64Array;
  /** The total change counter when the sums of all domains were brought up to date. */
  #allSeen = NEVER;
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

  constructor(cycle: Cycle, topology: Topology, pattern: Pattern) {
    const { domains } = topology;
    const fitting = pattern.fittingClasses();
    this.#cycle = cycle;
    this.#topology = topology;
    this.#pattern = pattern;
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
    this.#seen = new Float64Array(length).fill(NEVER);
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

  /** Brings the sums of all domains up to date. */
  refreshAll(): void {
    const { freeChanges } = this.#topology;
    if (this.#allSeen === freeChanges) return;
    this.#allSeen = freeChanges;
    for (const domain of this.list) this.refresh(domain);
  }

  /** Brings the sums of a domain up to date. */
  refresh(domain: number): void {
    const freeChanges = this.#topology.freeChangesIn(domain);
    if (this.#seen[domain] === freeChanges) return;
    this.#seen[domain] = freeChanges;
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
      const speculative = freeMachines.freeSpeculative(c);
      if (idle + speculative > 0) this.#add(domain, c, idle, speculative);
    }
    for (const slot of this.specialIn(domain)) {
      if (this.#cycle.claims.isFree(slot)) this.#add(domain, this.#cycle.fleet.machines.classOf[slot]!, 1, 0);
    }
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

const NOTHING: readonly number[] = [];

/** The availability of every pattern that gangs use, kept between cycles and updated incrementally. */
export class GangAvailability {
  readonly #cycle: Cycle;
  #topologies: Topology[] = [];
  #byPattern = new Map<number, PatternAvailability>();
  #earlier = new Map<number, PatternAvailability>();
  #isTentative = false;
  /** Classes with machines claimed in this cycle, and by class whether it is one of them. */
  #touched: number[] = [];
  #isTouched = new Uint8Array(0);
  /** By class: one more than the number of its machines in a usable state; 0 if not computed. */
  #members = new Int32Array(0);
  #restockedSeen = NEVER;
  #countedSeen = NEVER;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Applies the changes since the previous cycle, and drops all patterns that no gang used in it. */
  beginCycle(): void {
    const { counted, restocked } = this.#cycle.fleet.machines;
    this.#earlier = this.#byPattern;
    this.#byPattern = new Map();
    this.#isTentative = false;
    const moved = counted.since(this.#countedSeen);
    const changed = restocked.since(this.#restockedSeen);
    this.#countedSeen = counted.end;
    this.#restockedSeen = restocked.end;
    if (moved === null || changed === null) {
      this.#earlier.clear();
      this.#topologies = [];
      this.#members.fill(0);
    } else {
      for (const c of new Set(moved)) {
        this.#members[c] = 0;
        if (this.#isInUse(c)) this.#eachTopology((t) => t.noteMemberChange(c));
      }
      for (const c of new Set(changed)) if (this.#isInUse(c)) this.#eachTopology((t) => t.noteFreeChange(c));
      // Claimed machines are free again.
      for (const c of this.#touched) if (this.#isInUse(c)) this.#eachTopology((t) => t.noteFreeChange(c));
    }
    for (const c of this.#touched) this.#isTouched[c] = 0;
    this.#touched = [];
  }

  /** A removed class is in no list of classes, so no kept entry contains it. */
  #isInUse(classNumber: number): boolean {
    return this.#cycle.fleet.classes.attributes[classNumber] !== undefined;
  }

  #eachTopology(act: (topology: Topology) => void): void {
    for (const topology of this.#topologies) act(topology);
  }

  /** Machines of a class in a usable state, claimed or not. */
  membersOf(classNumber: number): number {
    const { classes, machines } = this.#cycle.fleet;
    this.#members = withRoom(this.#members, classes.size);
    if (this.#members[classNumber] === 0) {
      let members = 0;
      for (const state of USABLE) members += machines.countOf(classNumber, state);
      this.#members[classNumber] = members + 1;
    }
    return this.#members[classNumber]! - 1;
  }

  /**
   * Machines of a class in a usable state that are not blocked. Not cached: read once for each class and pattern that
   * changed.
   */
  unblockedOf(classNumber: number): number {
    const { machines } = this.#cycle.fleet;
    let unblocked = 0;
    for (const state of USABLE) unblocked += machines.unblockedCountOf(classNumber, state);
    return unblocked;
  }

  /** Machines of a class that are Failed or Deleting. */
  unusableOf(classNumber: number): number {
    const { machines } = this.#cycle.fleet;
    return (
      machines.countOf(classNumber, MachineState.Failed) +
      machines.countOf(classNumber, MachineState.Deleting)
    );
  }

  /** The free machines of a gang's pattern, by domain. */
  of(rankedRow: number): PatternAvailability {
    const { pattern, profile } = this.#cycle.rankedRows;
    return this.for(pattern[rankedRow]!, profile[rankedRow]!);
  }

  /** The free machines for gangs with a pattern and a profile. */
  for(pattern: number, profile: number): PatternAvailability {
    let availability = this.#byPattern.get(pattern);
    if (availability === undefined) {
      availability = this.#open(pattern, profile);
      this.#byPattern.set(pattern, availability);
    }
    return availability;
  }

  /** A free machine was claimed or returned: invalidates the sums of its domain. */
  noteFreeChange(classNumber: number): void {
    if (this.#isTentative) return;
    if (classNumber >= this.#isTouched.length)
      this.#isTouched = withRoom(this.#isTouched, this.#cycle.fleet.classes.size);
    if (this.#isTouched[classNumber] === 0) {
      this.#isTouched[classNumber] = 1;
      this.#touched.push(classNumber);
    }
    for (const topology of this.#topologies) topology.noteFreeChange(classNumber);
  }

  /** Runs claims of a gang that returns everything it takes and reads no sums. */
  tentatively(act: () => void): void {
    this.#isTentative = true;
    this.#cycle.freeMachines.tentatively(act);
    this.#isTentative = false;
  }

  #open(number: number, profile: number): PatternAvailability {
    const { demand, dimensions, domains, patterns } = this.#cycle.fleet;
    const pattern = patterns.patternOf(number);
    const earlier = this.#earlier.get(number);
    if (earlier?.fitting === pattern.fittingClasses() && earlier.dims === dimensions.count) {
      earlier.beginCycle();
      return earlier;
    }
    const byKey = domains.by(demand.profiles.entryOf(profile).sameKey!);
    let topology = this.#topologies.find((known) => known.domains === byKey);
    if (topology === undefined) {
      topology = new Topology(byKey);
      this.#topologies.push(topology);
    }
    const availability = new PatternAvailability(this.#cycle, topology, pattern);
    topology.reserve();
    return availability;
  }
}
