// Strict spread: a plain row whose machines must stay even over the domains of a key. Bound machines count, whatever
// their skew; every machine that is added goes to a domain that is at most maxSkew − 1 above the emptiest.

import type { Domains } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import { beyondDrains } from './acquire.ts';
import { Credit, type Cycle, type SpreadView } from './cycle.ts';
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
    this.#minimum = Math.min(...this.#counts.values());
    if (this.#counts.size === 0) this.#minimum = 0;
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
  for (const slot of cycle.targeted(turn)) {
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
  const coming = cycle.targeted(turn).length > 0;
  if (early && coming) return Credit.Waits;
  // What could be taken matters only to the test of machines in flight.
  const offers = coming ? offersTo(cycle, turn, spreadDomains(cycle, turn)) : NO_OFFERS;
  const test = new SpreadTest(cycle, turn, NO_COUNTS, offers);
  if (!creditEvenly(cycle, turn, test, mine(cycle, turn, test), [], early)) return Credit.Waits;
  if (want.covered) return Credit.Covered;
  if (coming) creditComing(cycle, turn, test);
  if (want.covered) return Credit.Covered;
  const drains = coming ? cycle.drainingFor(turn, true) : [];
  if (!creditEvenly(cycle, turn, test, others(cycle, turn, test), drains, early)) return Credit.Waits;
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
    const mayTakeTargeted = beyondDrains(cycle, turn, cycle.drainingFor(turn, true));
    const dollars = cycle.fleet.demand.profiles.entryOf(turns.profile[turn]!).interruptionDollars;
    const allowed = (classNumber: number): boolean => test.passes(classNumber);
    const pattern = turns.pattern[turn]!;
    while (!want.covered) {
      test.settle(want);
      let slot = pools.nextIdle(pattern, want, turns.key[turn]!, allowed, mayTakeTargeted);
      if (slot === -1) slot = pools.nextSpeculative(pattern, want, dollars, allowed);
      if (slot === -1) break;
      cycle.take(turn, slot);
      test.count(machines.classOf[slot]!);
    }
  }
  if (!want.covered) cycle.addUnmet(turn, test.view(freeClasses(cycle, turn, domains)));
}

/** Own machines and orphans that match; those with the key first, Configured first, then keep order. */
function mine(cycle: Cycle, turn: number, test: SpreadTest): number[] {
  const { bound } = cycle;
  const cluster = cycle.turns.cluster[turn]!;
  const slots = [
    ...bound.ownSlots.subarray(bound.ownStart[turn], bound.ownEnd[turn]),
    ...bound.orphanSlots.subarray(bound.orphanStart[cluster], bound.orphanEnd[cluster]),
  ];
  return inWalkOrder(cycle, turn, test, slots);
}

/** Bound machines of other live rows that match, in the same order. */
function others(cycle: Cycle, turn: number, test: SpreadTest): number[] {
  const { machines } = cycle.fleet;
  const key = cycle.turns.key[turn]!;
  const runs = machines.boundOf(cycle.turns.cluster[turn]!);
  const slots: number[] = [];
  for (const run of runs === undefined ? [] : [runs.configured, runs.configuring]) {
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = machines.arena.data[i]!;
      if (cycle.isAnothers(slot, key)) slots.push(slot);
    }
  }
  return inWalkOrder(cycle, turn, test, slots);
}

function inWalkOrder(cycle: Cycle, turn: number, test: SpreadTest, slots: readonly number[]): number[] {
  const { classes, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const key = cycle.turns.key[turn]!;
  const keyless = (slot: number): number => (test.domains.of(machines.classOf[slot]!) < 0 ? 1 : 0);
  const foreign = (slot: number): number => (cycle.isOwn(slot, key) ? 0 : 1);
  return slots
    .filter((slot) => cycle.isFree(slot) && pattern.matches(machines.classOf[slot]!))
    .sort(
      (a, b) =>
        keyless(a) - keyless(b) ||
        machines.state[b]! - machines.state[a]! || // Configured has the larger number
        classes.price[machines.classOf[a]!]! - classes.price[machines.classOf[b]!]! ||
        foreign(a) - foreign(b) ||
        machines.keepOrder(a, b),
    );
}

/** Credits a list until the sum is covered; a machine for the largest pod before all others. False: contested. */
function creditEvenly(
  cycle: Cycle,
  turn: number,
  test: SpreadTest,
  slots: readonly number[],
  drains: readonly number[],
  early: boolean,
): boolean {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const claim = (slot: number): boolean => {
    if (early && cycle.contested[slot] === 1) return false;
    const classNumber = machines.classOf[slot]!;
    cycle.credit(turn, slot, pattern.fits(classNumber));
    test.count(classNumber);
    return true;
  };
  let rest = cycle.beyond(turn, drains);
  if (rest.unitMissing) {
    const first = nextEven(cycle, turn, test, slots, rest, true);
    if (first !== -1 && !claim(first)) return false;
  }
  for (;;) {
    rest = cycle.beyond(turn, drains);
    if (rest.sumCovered) return true;
    const next = nextEven(cycle, turn, test, slots, rest, false);
    if (next === -1) return true;
    if (!claim(next)) return false;
  }
}

/** The first machine of the domain with the fewest claims; one without the key when no domain has more. -1: none. */
function nextEven(
  cycle: Cycle,
  turn: number,
  test: SpreadTest,
  slots: readonly number[],
  want: Want,
  unitOnly: boolean,
): number {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  let best = -1;
  let fewest = Number.POSITIVE_INFINITY;
  for (const slot of slots) {
    if (!cycle.isFree(slot)) continue;
    const classNumber = machines.classOf[slot]!;
    const fits = pattern.fits(classNumber);
    const domain = test.domains.of(classNumber);
    const count = domain < 0 ? Number.MAX_SAFE_INTEGER : test.countIn(domain);
    if (count < fewest && (fits || !unitOnly) && want.adds(classNumber, fits)) {
      best = slot;
      fewest = count;
    }
  }
  return best;
}

function creditComing(cycle: Cycle, turn: number, test: SpreadTest): void {
  const { want } = cycle;
  const { machines } = cycle.fleet;
  const slots = [...cycle.comingIdle(turn), ...cycle.comingCreating(turn, true)];
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
