// What a strict-spread row could take, domain by domain: the shelves of each, and machines that are on their way to it.

import type { Domains } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { targeted } from './flight.ts';
import type { ClassFilter, Shelves } from './shelf.ts';
import { SpreadTest } from './skew.ts';
import { NONE } from './turns.ts';
import type { Want } from './want.ts';

const NO_COUNTS: ReadonlyMap<number, number> = new Map();

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
  /** Stands that may still have something in a domain without a machine of the row; the others never will again. */
  readonly #open: Stand[];

  constructor(cycle: Cycle, turn: number, domains: Domains) {
    this.#cycle = cycle;
    this.#turn = turn;
    this.#domains = domains;
    this.#stands = this.#all();
    this.#open = [...this.#stands];
  }

  #all(): Stand[] {
    const { fleet, pools, turns } = this.#cycle;
    const domains = this.#domains;
    const number = turns.pattern[this.#turn]!;
    const pattern = fleet.patterns.patternOf(number);
    const dollars = fleet.demand.profiles.entryOf(turns.profile[this.#turn]!).interruptionDollars;
    const byDomain = pools.shelvesBy(number, dollars, domains);
    const stands: Stand[] = [];
    const add = (domain: number, shelves: Shelves): void => {
      if (domain >= 0) stands.push({ domain, shelves, isHere: (c) => domains.of(c) === domain });
    };
    for (const [domain, shelves] of byDomain) add(domain, shelves);
    const further = new Set<number>();
    for (const slot of pools.freeSpecial()) {
      const c = fleet.machines.classOf[slot]!;
      if (pattern.fits(c) && !byDomain.has(domains.of(c))) further.add(domains.of(c));
    }
    for (const domain of further) add(domain, pools.shelvesIn(number, dollars, domains, domain));
    return stands;
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
    const { pools } = this.#cycle;
    for (; this.#open.length > 0; this.#open.pop()) {
      const { domain, shelves, isHere } = this.#open.at(-1)!;
      if (counts.has(domain)) continue;
      if (pools.nextIdle(shelves, want, 0, isHere, null) !== NONE) return true;
      if (pools.nextSpeculative(shelves, want, null) !== NONE) return true;
    }
    return false;
  }

  /** The next Idle machine in a domain that passes the test, or NONE. */
  nextIdle(test: SpreadTest, mayTakeTargeted: ClassFilter | null): number {
    const { fleet, pools, turns, want } = this.#cycle;
    const key = turns.key[this.#turn]!;
    let next = NONE;
    for (const { domain, shelves, isHere } of this.#stands) {
      if (!test.passesIn(domain)) continue;
      const slot = pools.nextIdle(shelves, want, key, isHere, mayTakeTargeted);
      if (slot !== NONE && (next === NONE || fleet.machines.keepOrder(slot, next) < 0)) next = slot;
    }
    return next;
  }

  /** The next Speculative machine in a domain that passes the test, or NONE. */
  nextSpeculative(test: SpreadTest): number {
    const { fleet, pools, want } = this.#cycle;
    const { classOf, idOrder } = fleet.machines;
    let next = NONE;
    for (const { domain, shelves } of this.#stands) {
      if (!test.passesIn(domain)) continue;
      const slot = pools.nextSpeculative(shelves, want, null);
      if (slot === NONE) continue;
      const order = (a: number, b: number): number =>
        shelves.speculative.compare(classOf[a]!, classOf[b]!) || idOrder(a, b);
      if (next === NONE || order(slot, next) < 0) next = slot;
    }
    return next;
  }
}

/** Classes with the key of machines that are on their way to a turn and not here yet. */
export function comingClasses(cycle: Cycle, turn: number, domains: Domains): number[] {
  const { machines } = cycle.fleet;
  const classes: number[] = [];
  for (const slot of targeted(cycle, turn)) {
    const state = machines.state[slot];
    const coming = state === MachineState.Creating || state === MachineState.Draining;
    if (!coming || machines.held[slot] === 1 || !cycle.isFree(slot)) continue;
    if (domains.of(machines.classOf[slot]!) >= 0) classes.push(machines.classOf[slot]!);
  }
  return classes;
}
