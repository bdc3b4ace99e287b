// What a strict-spread row could take, domain by domain: the shelves of each, and machines that are on their way to it.

import type { Domains } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { unboundWhere } from './flight.ts';
import type { ClassFilter, Shelves } from './shelf.ts';
import { SpreadTest } from './skew.ts';
import { NONE } from './turns.ts';
import type { Want } from './want.ts';

const NO_COUNTS: ReadonlyMap<number, number> = new Map();
/** Nobody has looked which class comes first. */
const UNKNOWN = -2;

/** What the pools have for a row in one domain. */
interface Stand {
  readonly domain: number;
  readonly shelves: Shelves;
  readonly isHere: ClassFilter;
}

/** What the pools and machines on their way have for a strict-spread row, domain by domain. */
export class Stands {
  readonly #cycle: Cycle;
  readonly #turn: number;
  readonly #domains: Domains;
  readonly #stands: readonly Stand[];
  /** Stands before this one may still have something in a domain without a machine of the row; the others never will. */
  #open: number;
  /**
   * By stand: the class of its first machine for the row, of those without target and penalty; NONE, UNKNOWN. The row's
   * want only shrinks and others wait, so it stays first until a machine is taken there or it adds nothing more.
   */
  readonly #idle: number[];
  readonly #speculative: number[];

  constructor(cycle: Cycle, turn: number, domains: Domains) {
    this.#cycle = cycle;
    this.#turn = turn;
    this.#domains = domains;
    this.#stands = this.#all();
    this.#open = this.#stands.length;
    this.#idle = new Array<number>(this.#stands.length).fill(UNKNOWN);
    this.#speculative = new Array<number>(this.#stands.length).fill(UNKNOWN);
  }

  #all(): readonly Stand[] {
    const { fleet, pools, turns } = this.#cycle;
    const domains = this.#domains;
    const number = turns.pattern[this.#turn]!;
    const dollars = fleet.demand.profiles.entryOf(turns.profile[this.#turn]!).interruptionDollars;
    const byDomain = pools.shelvesBy(number, dollars, domains);
    const stands = standsOf(byDomain, domains);
    if (fleet.machines.specialIdle.length === 0) return stands;
    const pattern = fleet.patterns.patternOf(number);
    const further = new Set<number>();
    for (const slot of pools.freeSpecial()) {
      const c = fleet.machines.classOf[slot]!;
      const domain = domains.of(c);
      if (domain >= 0 && pattern.fits(c) && !byDomain.has(domain)) further.add(domain);
    }
    const shelvesIn = (domain: number): Shelves => pools.shelvesIn(number, dollars, domains, domain);
    return [...stands, ...[...further].map((domain) => standOf(domains, domain, shelvesIn(domain)))];
  }

  /** A fresh test of the row: what it claims so far is counted. */
  test(): SpreadTest {
    const { claims, creditEnd, creditStart, fleet } = this.#cycle;
    const coming = comingClasses(this.#cycle, this.#turn, this.#domains);
    const test = new SpreadTest(this.#cycle, this.#turn, NO_COUNTS, (want, counts) => {
      if (this.#addsElsewhere(want, counts)) return true;
      return coming.some((c) => !counts.has(this.#domains.of(c)) && want.adds(c, true));
    });
    for (let i = creditStart[this.#turn]!; i < creditEnd[this.#turn]!; i++) {
      test.count(fleet.machines.classOf[claims[i]!]!);
    }
    return test;
  }

  // The row's want only shrinks, and a domain that has a machine of the row keeps it.
  #addsElsewhere(want: Want, counts: ReadonlyMap<number, number>): boolean {
    for (; this.#open > 0; this.#open--) {
      const at = this.#open - 1;
      if (counts.has(this.#stands[at]!.domain)) continue;
      if (this.#hasIdle(at, want) || this.#firstSpeculative(at, want) !== NONE) return true;
    }
    return false;
  }

  #hasIdle(at: number, want: Want): boolean {
    const { fleet, pools } = this.#cycle;
    if (fleet.machines.specialIdle.length === 0) return this.#firstIdle(at, want) !== NONE;
    const { shelves, isHere } = this.#stands[at]!;
    return pools.nextIdle(shelves, want, 0, isHere, null) !== NONE;
  }

  #firstIdle(at: number, want: Want): number {
    const known = this.#idle[at]!;
    if (known === NONE || (known !== UNKNOWN && want.adds(known, true))) return known;
    const first = this.#cycle.pools.nextIdleClass(this.#stands[at]!.shelves, want);
    this.#idle[at] = first;
    return first;
  }

  #firstSpeculative(at: number, want: Want): number {
    const known = this.#speculative[at]!;
    if (known === NONE || (known !== UNKNOWN && want.adds(known, true))) return known;
    const first = this.#cycle.pools.nextSpeculativeClass(this.#stands[at]!.shelves, want);
    this.#speculative[at] = first;
    return first;
  }

  /** A machine of a class was taken for the row: something else comes first in its domain. */
  took(classNumber: number): void {
    const domain = this.#domains.of(classNumber);
    const at = this.#stands.findIndex((stand) => stand.domain === domain);
    this.#idle[at] = UNKNOWN;
    this.#speculative[at] = UNKNOWN;
  }

  /** The next Idle machine in a domain that passes the test, or NONE. */
  nextIdle(test: SpreadTest, mayTakeTargeted: ClassFilter | null): number {
    const { fleet, pools, turns, want } = this.#cycle;
    if (fleet.machines.specialIdle.length === 0) return this.#nextPlain(test);
    const key = turns.key[this.#turn]!;
    let next = NONE;
    for (const { domain, shelves, isHere } of this.#stands) {
      if (!test.passesIn(domain)) continue;
      const slot = pools.nextIdle(shelves, want, key, isHere, mayTakeTargeted);
      if (slot !== NONE && (next === NONE || fleet.machines.keepOrder(slot, next) < 0)) next = slot;
    }
    return next;
  }

  /** The same where no Idle machine has a target or a penalty: machines need not be looked at, only classes. */
  #nextPlain(test: SpreadTest): number {
    const { pools, want } = this.#cycle;
    let next = NONE;
    for (let at = 0; at < this.#stands.length; at++) {
      if (!test.passesIn(this.#stands[at]!.domain)) continue;
      const c = this.#firstIdle(at, want);
      if (c !== NONE && (next === NONE || pools.compareIdle(c, next) < 0)) next = c;
    }
    return pools.firstIdle(next);
  }

  /** The next Speculative machine in a domain that passes the test, or NONE. */
  nextSpeculative(test: SpreadTest): number {
    const { pools, want } = this.#cycle;
    let next = NONE;
    for (let at = 0; at < this.#stands.length; at++) {
      const { domain, shelves } = this.#stands[at]!;
      if (!test.passesIn(domain)) continue;
      const c = this.#firstSpeculative(at, want);
      if (c === NONE) continue;
      if (next === NONE || pools.compareSpeculative(shelves.speculative, c, next) < 0) next = c;
    }
    return pools.firstSpeculative(next);
  }
}

function standOf(domains: Domains, domain: number, shelves: Shelves): Stand {
  return { domain, shelves, isHere: (c) => domains.of(c) === domain };
}

/** Stands are the same for all rows that find the same shelves. */
const STANDS = new WeakMap<ReadonlyMap<number, Shelves>, readonly Stand[]>();

function standsOf(byDomain: ReadonlyMap<number, Shelves>, domains: Domains): readonly Stand[] {
  let stands = STANDS.get(byDomain);
  if (stands === undefined) {
    const named = [...byDomain].filter(([domain]) => domain >= 0);
    stands = named.map(([domain, shelves]) => standOf(domains, domain, shelves));
    STANDS.set(byDomain, stands);
  }
  return stands;
}

/** Classes with the key of machines that are on their way to a turn and not here yet. */
export function comingClasses(cycle: Cycle, turn: number, domains: Domains): number[] {
  const { classOf, held, state } = cycle.fleet.machines;
  const coming = unboundWhere(cycle, turn, (slot) => {
    const isComing = state[slot] === MachineState.Creating || state[slot] === MachineState.Draining;
    return isComing && held[slot] === 0 && cycle.isFree(slot) && domains.of(classOf[slot]!) >= 0;
  });
  return coming.map((slot) => classOf[slot]!);
}
