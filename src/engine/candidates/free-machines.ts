// Free Idle and Speculative machines, which all clusters share, in the order a row acquires them. `ClassAvailability`
// tracks what remains of each class in a state; the candidate lists of a pattern order the classes it can use, cheapest
// first. Part of a `Cycle`; rows acquire from it through pool-pass.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import type { Domains, FleetView, Pattern } from '../../fleet/index.ts';
import { effectiveCost, MachineState } from '../../model/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import { CandidateList, type CandidateOrder, Candidates, type ClassFilter } from './candidate-list.ts';
import { ClassAvailability } from './class-availability.ts';

/** All candidate lists of a pattern: the cost of a Speculative machine depends on the row's interruption dollars. */
interface PatternCandidates {
  readonly pattern: Pattern;
  readonly idle: CandidateList;
  readonly byDollars: Map<number, Candidates>;
  /** Candidates by profile. */
  readonly byProfile: (ProfileCandidates | undefined)[];
}

/**
 * The candidate lists of a profile, valid for one cycle: in the next, its number may be reused, and availability has
 * changed.
 */
interface ProfileCandidates {
  readonly candidates: Candidates;
  readonly cycle: number;
}

/** Special Idle machines that fit a pattern, in pool order; those before `next` are claimed. */
interface Special {
  readonly slots: readonly number[];
  next: number;
}

export class FreeMachines {
  readonly #fleet: FleetView;
  readonly #idle: ClassAvailability;
  readonly #speculative: ClassAvailability;
  readonly #candidates: (PatternCandidates | undefined)[] = [];
  #patternsVersion = -1;
  #cycle = 0;
  #claimedBy: ReadonlyColumn<Int32Array> = new Int32Array(0);
  #rewinds = false;
  #isTentative = false;
  #special = new Map<number, Special>();
  /** The machine found last, with its class and availability: a cache, since it is likely to be taken next. */
  #found = NONE;
  #foundClass = NONE;
  #foundIn: ClassAvailability;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
    this.#idle = new ClassAvailability(fleet, fleet.machines.idleSlices);
    this.#speculative = new ClassAvailability(fleet, fleet.machines.speculativeSlices);
    this.#foundIn = this.#idle;
  }

  /** Prepares a cycle: all machines are available again. With `rewinds`, machines may be put back at any time during it. */
  begin(claimedBy: ReadonlyColumn<Int32Array>, rewinds = false): void {
    const { patterns } = this.#fleet;
    this.#claimedBy = claimedBy;
    this.#rewinds = rewinds;
    this.#isTentative = rewinds;
    this.#special = new Map();
    this.#found = NONE;
    this.#cycle++;
    this.#idle.begin(claimedBy);
    this.#speculative.begin(claimedBy);
    if (this.#patternsVersion === patterns.version) return;
    this.#patternsVersion = patterns.version;
    for (const [number, candidates] of this.#candidates.entries()) {
      if (patterns.find(number) !== candidates?.pattern) this.#candidates[number] = undefined;
    }
  }

  /** Free machines of a class that are in its slice; special Idle machines are not among them. */
  freeIdle(classNumber: number): number {
    return this.#idle.free(classNumber);
  }

  freeSpeculative(classNumber: number): number {
    return this.#speculative.free(classNumber);
  }

  /** Whether the class had such machines when the cycle began. */
  hadAny(classNumber: number): boolean {
    return this.#idle.holds(classNumber) || this.#speculative.holds(classNumber);
  }

  /** Unclaimed Idle machines with a target or a penalty, in pool order. */
  *freeSpecial(): Generator<number> {
    const { machines } = this.#fleet;
    const { offset, length } = machines.specialIdle;
    for (let i = offset; i < offset + length; i++) {
      const slot = machines.arena.data[i]!;
      if (this.#claimedBy[slot] === 0) yield slot;
    }
  }

  /** All candidates of a pattern; the profile determines the interruption dollars. */
  candidates(pattern: number, profile: number): Candidates {
    const known = this.#candidatesOf(pattern);
    const ready = known.byProfile[profile];
    if (ready?.cycle === this.#cycle) return ready.candidates;
    const { interruptionDollars } = this.#fleet.demand.profiles.entryOf(profile);
    const candidates = this.#candidatesAt(known, pattern, interruptionDollars);
    candidates.idle.refresh();
    candidates.speculative.refresh();
    known.byProfile[profile] = { candidates, cycle: this.#cycle };
    return candidates;
  }

  #candidatesAt({ idle, byDollars }: PatternCandidates, pattern: number, dollars: number): Candidates {
    let candidates = byDollars.get(dollars);
    if (candidates === undefined) {
      candidates = new Candidates(pattern, idle, this.#speculativeList(pattern, dollars));
      byDollars.set(dollars, candidates);
    }
    return candidates;
  }

  /** The candidates within one domain: a gang that compares many racks must not walk all candidates for each. */
  candidatesIn(pattern: number, profile: number, domains: Domains, domain: number): Candidates {
    const { idle, speculative } = this.candidates(pattern, profile);
    return new Candidates(pattern, idle.partIn(domains, domain), speculative.partIn(domains, domain));
  }

  /** The candidates by domain, for every domain that has any. */
  candidatesBy(pattern: number, profile: number, domains: Domains): ReadonlyMap<number, Candidates> {
    return this.candidates(pattern, profile).by(domains);
  }

  #candidatesOf(number: number): PatternCandidates {
    const known = this.#candidates[number];
    if (known !== undefined) return known;
    const made = this.#makeCandidates(this.#fleet.patterns.patternOf(number));
    this.#candidates[number] = made;
    return made;
  }

  #makeCandidates(pattern: Pattern): PatternCandidates {
    const priceOf = (c: number): number => this.#fleet.classes.price[c]!;
    const order: CandidateOrder = { costOf: priceOf, priceOf };
    const idle = new CandidateList(this.#idle, order, (c) => pattern.fits(c));
    return { pattern, idle, byDollars: new Map(), byProfile: [] };
  }

  #speculativeList(number: number, dollars: number): CandidateList {
    const { classes, patterns } = this.#fleet;
    const pattern = patterns.patternOf(number);
    const order: CandidateOrder = {
      costOf: (c) => effectiveCost(classes.price[c]!, classes.probability[c]!, dollars),
      priceOf: (c) => classes.price[c]!,
    };
    return new CandidateList(this.#speculative, order, (c) => pattern.fits(c));
  }

  /**
   * The next Idle machine for a row, or -1. `mayTakeTargeted` decides whether a machine on its way to another row may be
   * claimed.
   */
  nextIdle(
    candidates: Candidates,
    unfilled: Unfilled,
    key: number,
    allowed: ClassFilter | null,
    mayTakeTargeted: ClassFilter | null,
  ): number {
    const { machines } = this.#fleet;
    const plain = this.#find(this.#idle, candidates.idle.next(unfilled, allowed, this.#isTentative));
    if (machines.specialIdle.length === 0) return plain;
    const special = this.#specialOf(candidates.pattern);
    for (let i = special.next; i < special.slots.length; i++) {
      const slot = special.slots[i]!;
      if (this.#claimedBy[slot] !== 0) {
        // Tentative claims are undone, so only real claims advance `next`.
        if (i === special.next && !this.#isTentative) special.next++;
        continue;
      }
      const classNumber = machines.classOf[slot]!;
      if (!unfilled.adds(classNumber, true) || (allowed !== null && !allowed(classNumber))) continue;
      const target = machines.target[slot]!;
      if (target !== 0 && target !== key && mayTakeTargeted !== null && !mayTakeTargeted(classNumber))
        continue;
      return plain === -1 || machines.keepOrder(slot, plain) < 0 ? slot : plain;
    }
    return plain;
  }

  #specialOf(number: number): Special {
    let special = this.#special.get(number);
    if (special === undefined) {
      const { machines, patterns } = this.#fleet;
      const pattern = patterns.patternOf(number);
      const { offset, length } = machines.specialIdle;
      const slots = [...machines.arena.data.subarray(offset, offset + length)];
      special = { slots: slots.filter((slot) => pattern.fits(machines.classOf[slot]!)), next: 0 };
      this.#special.set(number, special);
    }
    return special;
  }

  /** The next Speculative machine for a row, or -1. */
  nextSpeculative(candidates: Candidates, unfilled: Unfilled, allowed: ClassFilter | null): number {
    return this.#find(this.#speculative, candidates.speculative.next(unfilled, allowed, this.#isTentative));
  }

  /** The first machine of a class, or NONE for no class. */
  #find(availability: ClassAvailability, classNumber: number): number {
    if (classNumber === NONE) return NONE;
    this.#found = availability.firstOf(classNumber);
    this.#foundClass = classNumber;
    this.#foundIn = availability;
    return this.#found;
  }

  /** The class of the next Idle machine without target and penalty for a row, or NONE. */
  nextIdleClass(candidates: Candidates, unfilled: Unfilled): number {
    return candidates.idle.next(unfilled, null, this.#isTentative);
  }

  nextSpeculativeClass(candidates: Candidates, unfilled: Unfilled): number {
    return candidates.speculative.next(unfilled, null, this.#isTentative);
  }

  /** Negative if the first Idle machine of class `a` precedes that of class `b` in keep order. */
  compareIdle(a: number, b: number): number {
    const { price } = this.#fleet.classes;
    return price[a]! - price[b]! || this.#idle.firstOrdinalOf(a) - this.#idle.firstOrdinalOf(b);
  }

  /** Negative if the first Speculative machine of class `a` precedes that of class `b` in the list. */
  compareSpeculative(list: CandidateList, a: number, b: number): number {
    const { price, probability } = this.#fleet.classes;
    // Fast path: most classes have equal price and probability, and so equal cost.
    const alike = price[a] === price[b] && probability[a] === probability[b];
    return (
      (alike ? 0 : list.compare(a, b)) ||
      this.#speculative.firstOrdinalOf(a) - this.#speculative.firstOrdinalOf(b)
    );
  }

  /** The first Idle machine of a class; NONE for no class. */
  firstIdle(classNumber: number): number {
    return this.#find(this.#idle, classNumber);
  }

  firstSpeculative(classNumber: number): number {
    return this.#find(this.#speculative, classNumber);
  }

  classOf(slot: number): number {
    return slot === this.#found ? this.#foundClass : this.#fleet.machines.classOf[slot]!;
  }

  /** Removes a claimed machine from the slice of its class; machines in no slice are ignored. */
  take(slot: number, classNumber: number): void {
    this.#availabilityOf(slot)?.take(slot, classNumber);
  }

  /** Returns a machine to its slice; it must be the one taken last. */
  putBack(slot: number): void {
    this.#availabilityOf(slot)?.putBack(slot);
  }

  #availabilityOf(slot: number): ClassAvailability | null {
    if (slot === this.#found) return this.#foundIn;
    const state = this.#fleet.machines.state[slot];
    if (state === MachineState.Idle) return this.#idle;
    return state === MachineState.Speculative ? this.#speculative : null;
  }

  /** Runs claims of a gang that returns everything it takes: groups that look empty meanwhile are not dropped. */
  tentatively(act: () => void): void {
    this.#isTentative = true;
    act();
    this.#isTentative = this.#rewinds;
  }
}
