// Strict spread: a plain row whose machines must stay even over the domains of a key. Bound machines count, whatever
// their skew; every machine that is added goes to a domain that is at most maxSkew − 1 above the emptiest.

import type { Domains } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import type { Cycle, Served, SpreadView } from './cycle.ts';
import { beyondDrains, boundSlots, Serving } from './serve.ts';
import type { Turn } from './turns.ts';

/** The spread test of one row: how many machines each domain has, and what the emptiest is. */
export class SpreadTest {
  readonly domains: Domains;
  readonly maxSkew: number;
  readonly counts: Map<number, number>;
  /** Domains the minimum runs over: with a claim, or with a free fitting machine at the row's turn. */
  readonly reachable: Set<number>;
  readonly free: Set<number>;

  constructor(domains: Domains, maxSkew: number, view: SpreadView) {
    this.domains = domains;
    this.maxSkew = maxSkew;
    this.counts = view.counts;
    this.reachable = view.domains;
    this.free = view.free;
  }

  view(): SpreadView {
    return { counts: this.counts, domains: this.reachable, free: this.free };
  }

  /** Counts a machine of the class; one without the key counts nowhere. */
  count(classNumber: number): void {
    const domain = this.domains.of(classNumber);
    if (domain < 0) return;
    this.counts.set(domain, (this.counts.get(domain) ?? 0) + 1);
    this.reachable.add(domain);
  }

  countIn(domain: number): number {
    return this.counts.get(domain) ?? 0;
  }

  /** Whether one more machine of the class keeps the row even. */
  passes(classNumber: number): boolean {
    const domain = this.domains.of(classNumber);
    if (domain < 0) return false;
    let minimum = Number.POSITIVE_INFINITY;
    for (const reachable of this.reachable) minimum = Math.min(minimum, this.countIn(reachable));
    if (minimum === Number.POSITIVE_INFINITY) minimum = 0;
    return this.countIn(domain) <= minimum + this.maxSkew - 1;
  }
}

/** The spread test of a turn as it begins: nothing counted, all domains with something to take reachable. */
export function newSpreadTest(cycle: Cycle, turn: Turn): SpreadTest {
  const { spreadKey, maxSkew } = cycle.fleet.demand.profiles.entryOf(turn.profile);
  const domains = cycle.fleet.domains.by(spreadKey!);
  const test = new SpreadTest(domains, maxSkew, { counts: new Map(), domains: new Set(), free: new Set() });
  const { machines } = cycle.fleet;
  const reach = (classNumber: number): void => {
    const domain = domains.of(classNumber);
    if (domain >= 0) test.reachable.add(domain);
  };
  for (const c of freeClasses(cycle, turn)) reach(c);
  for (const slot of cycle.targeted(turn)) {
    const state = machines.state[slot];
    const coming = state === MachineState.Creating || state === MachineState.Draining;
    if (coming && machines.held[slot] === 0 && cycle.isFree(slot)) reach(machines.classOf[slot]!);
  }
  return test;
}

/** Classes that fit a turn and have free Idle or Speculative machines now. */
function freeClasses(cycle: Cycle, turn: Turn): Set<number> {
  const { classes, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(turn.pattern);
  const found = new Set<number>();
  for (let c = 0; c < classes.size; c++) {
    if (cycle.pools.freeIdle(c) + cycle.pools.freeSpeculative(c) > 0 && pattern.fits(c)) found.add(c);
  }
  for (const slot of cycle.pools.freeSpecial()) {
    if (pattern.fits(machines.classOf[slot]!)) found.add(machines.classOf[slot]!);
  }
  return found;
}

/** Serves a plain row with a strict spread. */
export function serveSpread(cycle: Cycle, turn: Turn): Served {
  const serving = new Serving(cycle, turn);
  const { want } = cycle;
  const { machines } = cycle.fleet;
  want.beginRow(turn.row);
  const test = newSpreadTest(cycle, turn);
  const claim = (slot: number): void => {
    serving.claim(slot);
    test.count(machines.classOf[slot]!);
  };

  const [mine, others] = boundLists(cycle, turn, test);
  credit(cycle, turn, test, mine, claim);
  creditInFlight(cycle, turn, test, claim);
  credit(cycle, turn, test, others, claim);
  if (serving.canBind && !want.covered) acquireEvenly(serving, test, claim);
  if (!want.covered) {
    for (const c of freeClasses(cycle, turn)) if (test.domains.of(c) >= 0) test.free.add(c);
  }
  return serving.finish({ spread: test.view() });
}

/** Bound machines that match, the row's own and nobody's, then other rows'; those with the key first, Configured first. */
function boundLists(cycle: Cycle, turn: Turn, test: SpreadTest): [number[], number[]] {
  const { classes, machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(turn.pattern);
  const mine: number[] = [];
  const others: number[] = [];
  for (const slot of boundSlots(cycle, turn.cluster)) {
    if (!cycle.isFree(slot) || !pattern.matches(machines.classOf[slot]!)) continue;
    (cycle.isAnothers(slot, turn.key) ? others : mine).push(slot);
  }
  const keyless = (slot: number): number => (test.domains.of(machines.classOf[slot]!) < 0 ? 1 : 0);
  const foreign = (slot: number): number => (cycle.isOwn(slot, turn.key) ? 0 : 1);
  const order = (a: number, b: number): number =>
    keyless(a) - keyless(b) ||
    machines.state[b]! - machines.state[a]! || // Configured has the larger number
    classes.price[machines.classOf[a]!]! - classes.price[machines.classOf[b]!]! ||
    foreign(a) - foreign(b) ||
    machines.keepOrder(a, b);
  return [mine.sort(order), others.sort(order)];
}

/** Credits a list until the sum is covered; a machine for the largest pod before all others. */
function credit(
  cycle: Cycle,
  turn: Turn,
  test: SpreadTest,
  slots: readonly number[],
  claim: (slot: number) => void,
): void {
  if (cycle.want.unitMissing) {
    const first = nextEven(cycle, turn, test, slots, true);
    if (first !== -1) claim(first);
  }
  while (!cycle.want.sumCovered) {
    const next = nextEven(cycle, turn, test, slots, false);
    if (next === -1) return;
    claim(next);
  }
}

/** The first machine of the domain with the fewest claims; one without the key when no domain has more. -1 for none. */
function nextEven(
  cycle: Cycle,
  turn: Turn,
  test: SpreadTest,
  slots: readonly number[],
  unitOnly: boolean,
): number {
  const { machines, patterns } = cycle.fleet;
  const pattern = patterns.patternOf(turn.pattern);
  let best = -1;
  let fewest = Number.POSITIVE_INFINITY;
  for (const slot of slots) {
    if (!cycle.isFree(slot)) continue;
    const classNumber = machines.classOf[slot]!;
    const fits = pattern.fits(classNumber);
    const domain = test.domains.of(classNumber);
    const count = domain < 0 ? Number.MAX_SAFE_INTEGER : test.countIn(domain);
    if (count < fewest && (fits || !unitOnly) && cycle.want.adds(classNumber, fits)) {
      best = slot;
      fewest = count;
    }
  }
  return best;
}

function creditInFlight(cycle: Cycle, turn: Turn, test: SpreadTest, claim: (slot: number) => void): void {
  const { machines } = cycle.fleet;
  const { idle, creating } = cycle.inFlight(turn, true);
  const slots = [...idle, ...creating];
  const { want } = cycle;
  while (!want.covered) {
    const next = slots.find((slot) => {
      const classNumber = machines.classOf[slot]!;
      return cycle.isFree(slot) && want.adds(classNumber, true) && test.passes(classNumber);
    });
    if (next === undefined) return;
    claim(next);
  }
}

/** At each step the first Idle machine the test allows, else the first Speculative one; then Idle is looked at again. */
function acquireEvenly(serving: Serving, test: SpreadTest, claim: (slot: number) => void): void {
  const { cycle, turn } = serving;
  const { pools, want } = cycle;
  const mayTakeTargeted = beyondDrains(serving, cycle.drainingFor(turn, true));
  const dollars = cycle.fleet.demand.profiles.entryOf(turn.profile).interruptionDollars;
  const allowed = (classNumber: number): boolean => test.passes(classNumber);
  while (!want.covered) {
    let slot = pools.nextIdle(turn.pattern, want, turn.key, allowed, mayTakeTargeted);
    if (slot === -1) slot = pools.nextSpeculative(turn.pattern, want, dollars, allowed);
    if (slot === -1) return;
    claim(slot);
  }
}
