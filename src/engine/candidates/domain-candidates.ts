// What a strict-spread row could acquire, domain by domain: candidate lists, and machines on their way to it. Used by
// spread.ts as `cycle.domainCandidates`.

import type { Domains } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import { unboundWhere } from '../assign/in-flight.ts';
import { NONE } from '../assign/ranked-rows.ts';
import { SpreadTest } from '../assign/skew.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { Cycle } from '../cycle.ts';
import type { CandidateList, Candidates } from './candidate-list.ts';
import type { ClassFilter } from './class-groups.ts';

/** The first class is not computed. */
const UNKNOWN = -2;

interface DomainEntry {
  readonly domain: number;
  readonly candidates: Candidates;
  readonly isHere: ClassFilter;
}

const NO_CLASSES: readonly number[] = [];
const NO_ENTRIES: readonly DomainEntry[] = [];

/** Free machines and machines in flight for a strict-spread row, domain by domain; for one row at a time. */
export class DomainCandidates {
  readonly #cycle: Cycle;
  /** The row's test; it includes the row's credits. */
  readonly test: SpreadTest;
  #rankedRow = NONE;
  #domains!: Domains;
  /** Of all tiers, one after the other. */
  #entries: readonly DomainEntry[] = [];
  /** By tier: the end of its entries; of `#tiers` tiers. */
  readonly #ends: number[] = [];
  #tiers = 0;
  /** Entries before this one may still have a machine for the row in a domain without one; the others never will. */
  #open = 0;
  /** Classes of machines that are on their way to the row. */
  #inFlight = NO_CLASSES;
  /**
   * By entry: the class of its first machine for the row, of those without target and penalty; NONE, UNKNOWN. What is
   * unfilled only shrinks and other rows wait, so until a machine is claimed there it has machines, and NONE stays true; in
   * a list with a fixed order it also stays first, as long as it reduces what is unfilled.
   */
  readonly #idle: number[] = [];
  readonly #speculative: number[] = [];

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.test = new SpreadTest((unfilled, counted) => {
      return this.#addsElsewhere(unfilled, counted) || this.#addsComing(unfilled, counted);
    });
  }

  begin(rankedRow: number, domains: Domains): void {
    const { fleet, rankedRows } = this.#cycle;
    const { creditEnd, creditStart, slots } = this.#cycle.claims;
    this.#rankedRow = rankedRow;
    this.#domains = domains;
    this.#collect();
    this.#open = this.#entries.length;
    this.#inFlight =
      rankedRows.hasInFlight[rankedRow] === 0 ? NO_CLASSES : classesInFlight(this.#cycle, rankedRow, domains);
    for (let at = 0; at < this.#open; at++) {
      this.#idle[at] = UNKNOWN;
      this.#speculative[at] = UNKNOWN;
    }
    this.test.begin(domains, this.#cycle.profileOf(rankedRow).maxSkew);
    for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
      this.test.count(fleet.machines.classOf[slots[i]!]!);
    }
  }

  #collect(): void {
    const { pattern, profile } = this.#cycle.rankedRows;
    const rankedRow = this.#rankedRow;
    const tiers = this.#cycle.tiersOf(rankedRow);
    this.#entries = NO_ENTRIES;
    this.#tiers = tiers.length;
    for (let i = 0; i < tiers.length; i++) {
      const entries = this.#entriesOf(tiers[i]!.candidates(pattern[rankedRow]!, profile[rankedRow]!));
      this.#entries = this.#entries.length === 0 ? entries : [...this.#entries, ...entries];
      this.#ends[i] = this.#entries.length;
    }
  }

  #entriesOf(candidates: Candidates): readonly DomainEntry[] {
    const byDomain = candidates.by(this.#domains);
    const entries = entriesOf(byDomain, this.#domains);
    if (this.#cycle.fleet.machines.specialIdle.length === 0) return entries;
    return [...entries, ...this.#further(candidates, byDomain)];
  }

  /** Domains in which only Idle machines with a target or a penalty are left. */
  #further(candidates: Candidates, byDomain: ReadonlyMap<number, Candidates>): readonly DomainEntry[] {
    const { fleet, freeMachines } = this.#cycle;
    const domains = this.#domains;
    const further = new Set<number>();
    for (const slot of freeMachines.freeSpecial()) {
      const c = fleet.machines.classOf[slot]!;
      const domain = domains.of(c);
      if (domain >= 0 && candidates.special.fits(c) && !byDomain.has(domain)) further.add(domain);
    }
    return [...further].map((domain) => entryOf(domains, domain, candidates.in(domains, domain)));
  }

  // What is unfilled only shrinks, and a domain that has a machine of the row keeps it.
  #addsElsewhere(unfilled: Unfilled, counted: SpreadTest): boolean {
    for (; this.#open > 0; this.#open--) {
      const at = this.#open - 1;
      if (counted.hasCounted(this.#entries[at]!.domain)) continue;
      if (this.#hasIdle(at, unfilled) || this.#firstSpeculative(at, unfilled, false) !== NONE) return true;
    }
    return false;
  }

  #addsComing(unfilled: Unfilled, counted: SpreadTest): boolean {
    for (const c of this.#inFlight) {
      if (!counted.hasCounted(this.#domains.of(c)) && unfilled.adds(c, true)) return true;
    }
    return false;
  }

  #hasIdle(at: number, unfilled: Unfilled): boolean {
    const { fleet, freeMachines } = this.#cycle;
    if (fleet.machines.specialIdle.length === 0) return this.#firstIdle(at, unfilled, false) !== NONE;
    const { candidates, isHere } = this.#entries[at]!;
    return freeMachines.nextIdle(candidates, unfilled, 0, isHere, null) !== NONE;
  }

  /** The first class of an entry; unless it `mustBeFirst`, any class that reduces what is unfilled. */
  #firstIdle(at: number, unfilled: Unfilled, mustBeFirst: boolean): number {
    const { candidates } = this.#entries[at]!;
    const known = this.#idle[at]!;
    if (isStillFirst(known, candidates.idle, unfilled, mustBeFirst)) return known;
    const first = this.#cycle.freeMachines.nextIdleClass(candidates, unfilled);
    this.#idle[at] = first;
    return first;
  }

  #firstSpeculative(at: number, unfilled: Unfilled, mustBeFirst: boolean): number {
    const { candidates } = this.#entries[at]!;
    const known = this.#speculative[at]!;
    if (isStillFirst(known, candidates.speculative, unfilled, mustBeFirst)) return known;
    const first = this.#cycle.freeMachines.nextSpeculativeClass(candidates, unfilled);
    this.#speculative[at] = first;
    return first;
  }

  /** A machine of a class was claimed for the row: invalidates the first classes of its domain. */
  took(classNumber: number): void {
    const domain = this.#domains.of(classNumber);
    for (let at = 0; at < this.#entries.length; at++) {
      if (this.#entries[at]!.domain !== domain) continue;
      this.#idle[at] = UNKNOWN;
      this.#speculative[at] = UNKNOWN;
    }
  }

  /** The next machine in a domain that passes the test, or NONE: tier by tier, Idle before Speculative. */
  next(mayTakeTargeted: ClassFilter | null): number {
    let from = 0;
    for (let tier = 0; tier < this.#tiers; tier++) {
      const end = this.#ends[tier]!;
      let slot = this.#nextIdle(from, end, mayTakeTargeted);
      if (slot === NONE) slot = this.#nextSpeculative(from, end);
      if (slot !== NONE) return slot;
      from = end;
    }
    return NONE;
  }

  #nextIdle(from: number, end: number, mayTakeTargeted: ClassFilter | null): number {
    const { fleet, freeMachines, rankedRows, unfilled } = this.#cycle;
    const { classOf, keepOrder, specialIdle } = fleet.machines;
    if (specialIdle.length === 0) return this.#nextPlain(from, end);
    const key = rankedRows.key[this.#rankedRow]!;
    let next = NONE;
    for (let at = from; at < end; at++) {
      const { domain, candidates, isHere } = this.#entries[at]!;
      if (!this.test.passesIn(domain)) continue;
      const slot = freeMachines.nextIdle(candidates, unfilled, key, isHere, mayTakeTargeted);
      if (slot === NONE) continue;
      const precedes =
        next === NONE ||
        (candidates.idle.compare(classOf[slot]!, classOf[next]!, unfilled) || keepOrder(slot, next)) < 0;
      if (precedes) next = slot;
    }
    return next;
  }

  /** Fast path if no Idle machine has a target or a penalty: compares classes instead of machines. */
  #nextPlain(from: number, end: number): number {
    const { freeMachines, unfilled } = this.#cycle;
    let next = NONE;
    for (let at = from; at < end; at++) {
      const { domain, candidates } = this.#entries[at]!;
      if (!this.test.passesIn(domain)) continue;
      const c = this.#firstIdle(at, unfilled, true);
      if (c === NONE) continue;
      if (next === NONE || candidates.idle.compareFirst(c, next, unfilled) < 0) next = c;
    }
    return freeMachines.firstIdle(next);
  }

  #nextSpeculative(from: number, end: number): number {
    const { freeMachines, unfilled } = this.#cycle;
    let next = NONE;
    for (let at = from; at < end; at++) {
      const { domain, candidates } = this.#entries[at]!;
      if (!this.test.passesIn(domain)) continue;
      const c = this.#firstSpeculative(at, unfilled, true);
      if (c === NONE) continue;
      if (next === NONE || candidates.speculative.compareFirst(c, next, unfilled) < 0) next = c;
    }
    return freeMachines.firstSpeculative(next);
  }
}

/** Whether a class that was found earlier is what a search would find now. */
function isStillFirst(known: number, list: CandidateList, unfilled: Unfilled, mustBeFirst: boolean): boolean {
  if (known === NONE) return true;
  return known !== UNKNOWN && (list.isFixed || !mustBeFirst) && unfilled.adds(known, true);
}

function entryOf(domains: Domains, domain: number, candidates: Candidates): DomainEntry {
  return { domain, candidates, isHere: (c) => domains.of(c) === domain };
}

/** Entries are shared by all rows with the same candidate lists. */
const ENTRIES = new WeakMap<ReadonlyMap<number, Candidates>, readonly DomainEntry[]>();

function entriesOf(byDomain: ReadonlyMap<number, Candidates>, domains: Domains): readonly DomainEntry[] {
  let entries = ENTRIES.get(byDomain);
  if (entries === undefined) {
    const named = [...byDomain].filter(([domain]) => domain >= 0);
    entries = named.map(([domain, candidates]) => entryOf(domains, domain, candidates));
    ENTRIES.set(byDomain, entries);
  }
  return entries;
}

/** Classes with the key of machines that are on their way to a ranked row and have not arrived. */
export function classesInFlight(cycle: Cycle, rankedRow: number, domains: Domains): number[] {
  const { classOf, blocked, state } = cycle.fleet.machines;
  const inFlight = unboundWhere(cycle, rankedRow, (slot) => {
    const isInFlight = state[slot] === MachineState.Creating || state[slot] === MachineState.Draining;
    return isInFlight && blocked[slot] === 0 && cycle.claims.isFree(slot) && domains.of(classOf[slot]!) >= 0;
  });
  return inFlight.map((slot) => classOf[slot]!);
}
