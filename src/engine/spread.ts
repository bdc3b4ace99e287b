// Strict spread: a plain row whose machines must stay even over the domains of a key. Bound machines count, whatever
// their skew; every machine that is added goes to a domain that is at most maxSkew − 1 above the emptiest.

import type { Domains, Pattern } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import { beyondDrains } from './acquire.ts';
import { Credit, type Cycle, type SpreadView } from './cycle.ts';
import { comingCreating, comingIdle, drainingFor, targeted } from './flight.ts';
import { NONE } from './turns.ts';
import { addUnmet } from './unmet.ts';
import type { Want } from './want.ts';

/** The spread test of one row: how many machines each domain has, and what the emptiest is. */
export class SpreadTest {
  readonly domains: Domains;
  readonly #maxSkew: number;
  readonly #counts: Map<number, number>;
  readonly #offers: ReadonlySet<number>;
  #minimum = 0;

  constructor(cycle: Cycle, turn: number, counts: ReadonlyMap<number, number>, offers: ReadonlySet<number>) {
    const { spreadKey, maxSkew } = cycle.fleet.demand.profiles.entryOf(cycle.turns.profile[turn]!);
    this.domains = cycle.fleet.domains.by(spreadKey!);
    this.#maxSkew = maxSkew;
    this.#counts = new Map(counts);
    this.#offers = offers;
  }

  view(free: ReadonlySet<number>): SpreadView {
    return { counts: this.#counts, offers: this.#offers, free };
  }

  /** Counts a machine of the class; one without the key counts nowhere. */
  count(classNumber: number): void {
    const domain = this.domains.of(classNumber);
    if (domain >= 0) this.#counts.set(domain, this.countIn(domain) + 1);
  }

  countIn(domain: number): number {
    return this.#counts.get(domain) ?? 0;
  }

  /**
   * Settles the minimum for the next step. A domain without a machine of the row counts only while something there
   * would bring the row nearer; otherwise it would keep the row from machines it can use for ever.
   */
  settle(want: Want): void {
    let minimum = Number.POSITIVE_INFINITY;
    for (const count of this.#counts.values()) minimum = Math.min(minimum, count);
    this.#minimum = minimum === Number.POSITIVE_INFINITY ? 0 : minimum;
    for (const c of this.#offers) {
      if (this.#minimum === 0) return;
      if (!this.#counts.has(this.domains.of(c)) && want.adds(c, true)) this.#minimum = 0;
    }
  }

  /** Whether one more machine of the class keeps the row even. */
  passes(classNumber: number): boolean {
    const domain = this.domains.of(classNumber);
    return domain >= 0 && this.countIn(domain) <= this.#minimum + this.#maxSkew - 1;
  }
}

/** Classes with the key whose machines a turn could take now: free Idle and Speculative ones, and those on their way. */
function offersTo(cycle: Cycle, turn: number, domains: Domains): Set<number> {
  const { machines } = cycle.fleet;
  const offers = freeClasses(cycle, turn, domains);
  for (const slot of targeted(cycle, turn)) {
    const state = machines.state[slot];
    const coming = state === MachineState.Creating || state === MachineState.Draining;
    if (!coming || machines.held[slot] === 1 || !cycle.isFree(slot)) continue;
    if (domains.of(machines.classOf[slot]!) >= 0) offers.add(machines.classOf[slot]!);
  }
  return offers;
}

/** Classes with the key that fit a turn and have free Idle or Speculative machines now. */
function freeClasses(cycle: Cycle, turn: number, domains: Domains): Set<number> {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const found = new Set<number>();
  for (const c of pattern.fittingClasses()) {
    if (cycle.pools.freeIdle(c) + cycle.pools.freeSpeculative(c) > 0 && domains.of(c) >= 0) found.add(c);
  }
  for (const slot of cycle.pools.freeSpecial()) {
    const c = machines.classOf[slot]!;
    if (pattern.fits(c) && domains.of(c) >= 0) found.add(c);
  }
  return found;
}

function spreadDomains(cycle: Cycle, turn: number): Domains {
  const { demand, domains } = cycle.fleet;
  return domains.by(demand.profiles.entryOf(cycle.turns.profile[turn]!).spreadKey!);
}

const NO_COUNTS: ReadonlyMap<number, number> = new Map();
const NO_OFFERS: ReadonlySet<number> = new Set();

/** Credits a strict-spread row. Early on a row with machines in flight waits: their test depends on the pools. */
export function creditSpread(cycle: Cycle, turn: number, early: boolean): Credit {
  const { want } = cycle;
  const coming = cycle.turns.coming[turn] === 1;
  if (early && coming) return Credit.Waits;
  // What could be taken matters only to the test of machines in flight.
  const domains = spreadDomains(cycle, turn);
  const offers = coming ? offersTo(cycle, turn, domains) : NO_OFFERS;
  const list = new EvenList(cycle, turn, domains);
  list.collectMine();
  if (!list.credit([], early)) return Credit.Waits;
  if (want.covered) return Credit.Covered;
  if (coming) {
    creditComing(cycle, turn, offers);
    if (want.covered) return Credit.Covered;
  }
  list.collectOthers();
  if (!list.credit(coming ? drainingFor(cycle, turn, true) : [], early)) return Credit.Waits;
  return want.covered ? Credit.Covered : Credit.Short;
}

/** Takes from the pools what keeps a credited row even: Idle first, and Idle again after each Speculative one. */
export function acquireEvenly(cycle: Cycle, turn: number): void {
  const { pools, turns, want } = cycle;
  const { machines } = cycle.fleet;
  const domains = spreadDomains(cycle, turn);
  const test = new SpreadTest(cycle, turn, NO_COUNTS, offersTo(cycle, turn, domains));
  for (const slot of cycle.claimsOf(turn)) test.count(machines.classOf[slot]!);
  if (cycle.canBind(turns.cluster[turn]!)) {
    const mayTakeTargeted = beyondDrains(cycle, turn, drainingFor(cycle, turn, true));
    const dollars = cycle.fleet.demand.profiles.entryOf(turns.profile[turn]!).interruptionDollars;
    const allowed = (classNumber: number): boolean => test.passes(classNumber);
    const shelves = pools.shelves(turns.pattern[turn]!, dollars);
    while (!want.covered) {
      test.settle(want);
      let slot = pools.nextIdle(shelves, want, turns.key[turn]!, allowed, mayTakeTargeted);
      if (slot === -1) slot = pools.nextSpeculative(shelves, want, allowed);
      if (slot === -1) break;
      cycle.take(turn, slot);
      test.count(machines.classOf[slot]!);
    }
  }
  if (!want.covered) addUnmet(cycle, turn, test.view(freeClasses(cycle, turn, domains)));
}

/** Machines of one domain that are still to be looked at, in walk order, with their place in the whole walk. */
interface Queue {
  readonly slots: number[];
  readonly places: number[];
  next: number;
  /** Machines the row has in the domain; more than any number for machines without the key, which come last. */
  count: number;
}

/** Bound machines a strict-spread row may be credited with, in walk order, taken evenly over their domains. */
class EvenList {
  readonly #cycle: Cycle;
  readonly #turn: number;
  readonly #domains: Domains;
  readonly #pattern: Pattern;
  #queues = new Map<number, Queue>();
  #length = 0;

  constructor(cycle: Cycle, turn: number, domains: Domains) {
    this.#cycle = cycle;
    this.#turn = turn;
    this.#domains = domains;
    this.#pattern = cycle.fleet.patterns.patternOf(cycle.turns.pattern[turn]!);
  }

  /** The row's own machines and orphans that match. */
  collectMine(): void {
    this.#clear();
    const walk = this.#cycle.mine.begin(this.#turn);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.#add(slot);
  }

  /** Machines of other live rows that match. */
  collectOthers(): void {
    this.#clear();
    const { turns } = this.#cycle;
    const key = turns.key[this.#turn]!;
    const walk = this.#cycle.walk.begin(turns.cluster[this.#turn]!);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      if (this.#cycle.isAnothers(slot, key)) this.#add(slot);
    }
  }

  #clear(): void {
    this.#queues = new Map();
    this.#length = 0;
  }

  #add(slot: number): void {
    const c = this.#classOf(slot);
    if (!this.#cycle.isFree(slot) || !this.#pattern.matches(c)) return;
    const domain = this.#domains.of(c);
    let queue = this.#queues.get(domain);
    if (queue === undefined) {
      queue = {
        slots: [],
        places: [],
        next: 0,
        count: domain < 0 ? Number.MAX_SAFE_INTEGER : this.#claimsIn(domain),
      };
      this.#queues.set(domain, queue);
    }
    queue.slots.push(slot);
    queue.places.push(this.#length++);
  }

  /** Machines the row was credited with in a domain so far. */
  #claimsIn(domain: number): number {
    const { claims, creditEnd, creditStart } = this.#cycle;
    let count = 0;
    for (let i = creditStart[this.#turn]!; i < creditEnd[this.#turn]!; i++) {
      if (this.#domains.of(this.#classOf(claims[i]!)) === domain) count++;
    }
    return count;
  }

  /** Credits until the sum is covered; a machine for the largest pod before all others. False: one is contested. */
  credit(drains: readonly number[], early: boolean): boolean {
    if (this.#length === 0) return true;
    let want = this.#cycle.beyond(this.#turn, drains);
    if (want.unitMissing && !this.#claim(this.#firstUnit(want), early)) return false;
    for (;;) {
      want = this.#cycle.beyond(this.#turn, drains);
      if (want.sumCovered) return true;
      const slot = this.#next(want);
      if (slot === NONE) return true;
      if (!this.#claim(slot, early)) return false;
    }
  }

  #claim(slot: number, early: boolean): boolean {
    if (slot === NONE) return true;
    const c = this.#classOf(slot);
    if (early && this.#cycle.contests.has(c)) return false;
    this.#cycle.credit(this.#turn, slot, this.#pattern.fits(c));
    this.#queues.get(this.#domains.of(c))!.count++;
    return true;
  }

  /** The first machine of the domain with the fewest claims; one without the key when no domain has more. */
  #next(want: Want): number {
    let best: Queue | undefined;
    for (const queue of this.#queues.values()) {
      // What adds nothing now never will: the row's want only shrinks.
      while (queue.next < queue.slots.length && !this.#adds(queue.slots[queue.next]!, want)) queue.next++;
      if (queue.next === queue.slots.length) continue;
      const better =
        best === undefined ||
        queue.count < best.count ||
        (queue.count === best.count && queue.places[queue.next]! < best.places[best.next]!);
      if (better) best = queue;
    }
    return best === undefined ? NONE : best.slots[best.next]!;
  }

  /** The same among machines that hold the largest pod. */
  #firstUnit(want: Want): number {
    let first = NONE;
    let place = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (const { count, places, slots } of this.#queues.values()) {
      const at = slots.findIndex((slot) => this.#pattern.fits(this.#classOf(slot)) && this.#adds(slot, want));
      if (at === -1 || count > fewest || (count === fewest && places[at]! > place)) continue;
      first = slots[at]!;
      place = places[at]!;
      fewest = count;
    }
    return first;
  }

  #adds(slot: number, want: Want): boolean {
    const c = this.#classOf(slot);
    return this.#cycle.isFree(slot) && want.adds(c, this.#pattern.fits(c));
  }

  #classOf(slot: number): number {
    return this.#cycle.fleet.machines.classOf[slot]!;
  }
}

function creditComing(cycle: Cycle, turn: number, offers: ReadonlySet<number>): void {
  const { want } = cycle;
  const { machines } = cycle.fleet;
  const test = new SpreadTest(cycle, turn, NO_COUNTS, offers);
  for (const slot of cycle.claimsOf(turn)) test.count(machines.classOf[slot]!);
  const slots = [...comingIdle(cycle, turn), ...comingCreating(cycle, turn, true)];
  while (!want.covered) {
    test.settle(want);
    const next = slots.find((slot) => {
      const classNumber = machines.classOf[slot]!;
      return cycle.isFree(slot) && want.adds(classNumber, true) && test.passes(classNumber);
    });
    if (next === undefined) return;
    cycle.credit(turn, next, true);
    cycle.pools.take(next);
    test.count(machines.classOf[next]!);
  }
}
