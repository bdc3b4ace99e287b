// What would help unmet rows: how many machines match a pattern, and which known machine would do. Rows ask about the
// same patterns repeatedly, so results are cached, also between cycles, until a machine that matches the pattern
// appears or leaves. Used for verdicts (verdict.ts) as `cycle.fittingMachines`.

import type { Pattern } from '../fleet/index.ts';
import {
  type CapacityType,
  effectiveCost,
  type FittingSupply,
  isPurchased,
  MachineState,
  type UnmetDetail,
} from '../model/index.ts';
import { NONE } from './assign/ranked-rows.ts';
import type { Cycle } from './cycle.ts';
import { SizeNumbers } from './sizes.ts';
import type { Unmet } from './unmet.ts';

/** Machines that fit a pattern, claimed or not, and the sum of their resources by dimension. */
interface FittingSums {
  readonly counts: FittingSupply;
  /** Without machines that are blocked, Failed or Deleting. */
  readonly usable: Float64Array;
  readonly all: Float64Array;
}

interface PatternMachines {
  readonly pattern: Pattern;
  /** The classes it was computed from. */
  readonly classes: Uint32Array;
  matching: UnmetDetail['matching'] | null;
  fitting: FittingSums | null;
  /** By interruption dollars and, for gangs, domain: for each size the class with the best known machine. */
  readonly samples: Map<string, Uint32Array>;
  /** The last cycle in which a row asked. */
  asked: number;
}

/** Above this number of changes, clearing the cache is cheaper than testing which patterns they match. */
const MANY_CHANGES = 512;

export class FittingMachines {
  readonly #cycle: Cycle;
  readonly #sizes: SizeNumbers;
  readonly #patterns = new Map<number, PatternMachines>();
  #seen = -1;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.#sizes = new SizeNumbers(cycle.fleet);
  }

  /** Evicts invalid entries, and entries not used in the previous cycle. */
  refresh(): void {
    const { counted } = this.#cycle.fleet.machines;
    const changed = counted.since(this.#seen);
    this.#seen = counted.end;
    for (const [number, { asked, pattern }] of this.#patterns) {
      const stale = changed === null || changed.length > MANY_CHANGES || asked < this.#cycle.number - 1;
      // A class that is gone, or whose number was reused, has changed the lists of all patterns.
      if (stale || changed.some((c) => this.#isInUse(c) && pattern.matches(c))) this.#patterns.delete(number);
    }
  }

  #isInUse(classNumber: number): boolean {
    return this.#cycle.fleet.classes.attributes[classNumber] !== undefined;
  }

  /** Machines of any cluster that meet the requirements, whatever their size, claimed or blocked or not. */
  matching(pattern: number): UnmetDetail['matching'] {
    const known = this.#machinesOf(pattern);
    known.matching ??= matchingOf(this.#cycle, pattern);
    return known.matching;
  }

  /** Machines that fit, counted by what makes them unusable for every row. */
  fitting(pattern: number): FittingSupply {
    return this.#fittingOf(pattern).counts;
  }

  /**
   * Whether all machines that fit and are not blocked, Failed or Deleting cover what a row wants, together with its own
   * blocked machines in `own`.
   */
  wouldSuffice(pattern: number, row: number, own: readonly number[]): boolean {
    const { machines, classes } = this.#cycle.fleet;
    const { data, stride } = classes.allocatable;
    const offered = this.#fittingOf(pattern).usable.slice();
    for (const slot of own)
      for (let d = 0; d < offered.length; d++) offered[d]! += data[machines.classOf[slot]! * stride + d]!;
    return this.#covers(offered, row);
  }

  /** Whether all machines that fit, in any state, cover what a row wants. */
  wouldSufficeInAll(pattern: number, row: number): boolean {
    return this.#covers(this.#fittingOf(pattern).all, row);
  }

  #covers(offered: Float64Array, row: number): boolean {
    const { demand, dimensions } = this.#cycle.fleet;
    // A sum beyond 2^53 is not exact, but larger than any row's aggregate. A dimension added after the sum counts as 0.
    for (let d = 0; d < dimensions.count; d++) {
      if ((offered[d] ?? 0) < demand.aggregate.data[row * dimensions.stride + d]!) return false;
    }
    return true;
  }

  #fittingOf(number: number): FittingSums {
    const known = this.#machinesOf(number);
    known.fitting ??= this.#summed(known.pattern);
    return known.fitting;
  }

  #summed(pattern: Pattern): FittingSums {
    const { availability, fleet } = this.#cycle;
    const { allocatable } = fleet.classes;
    const counts = { total: 0, failed: 0, blocked: 0, deleting: 0 };
    const usable = new Float64Array(fleet.dimensions.count);
    const all = new Float64Array(fleet.dimensions.count);
    for (const c of pattern.fittingClasses()) {
      const usableCount = availability.unblockedOf(c);
      const inUse = availability.membersOf(c);
      const failed = fleet.machines.countOf(c, MachineState.Failed);
      const deleting = fleet.machines.countOf(c, MachineState.Deleting);
      const total = inUse + failed + deleting;
      counts.total += total;
      counts.failed += failed;
      counts.deleting += deleting;
      counts.blocked += inUse - usableCount;
      for (let d = 0; d < usable.length; d++) {
        const each = allocatable.data[c * allocatable.stride + d]!;
        usable[d]! += usableCount * each;
        all[d]! += total * each;
      }
    }
    return { counts, usable, all };
  }

  /**
   * The number of machines, all like a known one, that would cover the deficit: fewest, then cheapest, then by id. A gang
   * counts what its domain could already provide, and needs the rest in that domain.
   */
  extra({ rankedRow, deficit }: Unmet): UnmetDetail['extraSupply'] {
    const cycle = this.#cycle;
    const { machines } = cycle.fleet;
    const gang = cycle.result.gangs.get(rankedRow);
    const rest = gang?.missing ?? deficit;
    const { interruptionDollars } = cycle.profileOf(rankedRow);
    let fewest = Number.POSITIVE_INFINITY;
    let best = NONE;
    for (const c of this.#samplesOf(rankedRow, gang?.domain ?? NONE)) {
      if (best !== NONE && !coversAll(cycle, rest, c, fewest)) continue;
      if (best === NONE || coversAll(cycle, rest, c, fewest - 1)) {
        const count = machinesNeeded(cycle, rest, c);
        if (count === Number.POSITIVE_INFINITY) continue;
        best = c;
        fewest = count;
      } else if (this.#isBetter(c, best, interruptionDollars)) best = c;
    }
    return best === NONE ? null : { count: fewest, like: machines.idOf(machines.firstOf(best)) };
  }

  /**
   * The machines, all like a known one, that would cover the deficit at the lowest price, expected interruptions included;
   * null if none would. Unlike `extra`, they may be more than the fewest, and are not like machines that are owned or paid in
   * advance, of which no more can be bought. `price` is that of one of them.
   */
  cheapest({ rankedRow, deficit }: Unmet): { readonly count: number; readonly price: number } | null {
    const cycle = this.#cycle;
    const { price, probability } = cycle.fleet.classes;
    const gang = cycle.result.gangs.get(rankedRow);
    const { interruptionDollars } = cycle.profileOf(rankedRow);
    let best: { readonly count: number; readonly price: number } | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const c of this.#samplesOf(rankedRow, gang?.domain ?? NONE, true)) {
      const count = machinesNeeded(cycle, gang?.missing ?? deficit, c);
      if (count === Number.POSITIVE_INFINITY) continue;
      const cost = count * effectiveCost(price[c]!, probability[c]!, interruptionDollars);
      if (best !== null && (cost > least || (cost === least && count >= best.count))) continue;
      least = cost;
      best = { count, price: price[c]! };
    }
    return best;
  }

  /** Whether the first machine of a class costs less than that of another, or costs the same and comes first by id. */
  #isBetter(a: number, b: number, dollars: number): boolean {
    const { classes, machines } = this.#cycle.fleet;
    const cost = effectiveCost(classes.price[a]!, classes.probability[a]!, dollars);
    const other = effectiveCost(classes.price[b]!, classes.probability[b]!, dollars);
    if (cost !== other) return cost < other;
    return machines.idOrder(machines.firstOf(a), machines.firstOf(b)) < 0;
  }

  #samplesOf(rankedRow: number, domain: number, onlyPurchased = false): Uint32Array {
    const { interruptionDollars } = this.#cycle.profileOf(rankedRow);
    const number = this.#cycle.rankedRows.pattern[rankedRow]!;
    const { pattern, samples } = this.#machinesOf(number);
    const memo = `${interruptionDollars}/${domain}/${onlyPurchased}`;
    let found = samples.get(memo);
    if (found === undefined) {
      const fitting =
        domain === NONE ? pattern.fittingClasses() : this.#cycle.availability.of(rankedRow).classesIn(domain);
      const { classes } = this.#cycle.fleet;
      const considered = onlyPurchased
        ? fitting.filter((c) => isPurchased(classes.capacityType[c] as CapacityType))
        : fitting;
      found = this.#sampled(considered, interruptionDollars);
      samples.set(memo, found);
    }
    return found;
  }

  #machinesOf(number: number): PatternMachines {
    const pattern = this.#cycle.fleet.patterns.patternOf(number);
    const classes = pattern.matchingClasses();
    const known = this.#patterns.get(number);
    if (known?.pattern === pattern && known.classes === classes) {
      known.asked = this.#cycle.number;
      return known;
    }
    const { number: asked } = this.#cycle;
    const machines = { pattern, classes, matching: null, fitting: null, samples: new Map(), asked };
    this.#patterns.set(number, machines);
    return machines;
  }

  #sampled(fitting: Uint32Array, dollars: number): Uint32Array {
    const bySize = new Map<number, number>();
    for (const c of fitting) {
      const size = this.#sizes.of(c);
      const known = bySize.get(size);
      if (known === undefined || this.#isBetter(c, known, dollars)) bySize.set(size, c);
    }
    return Uint32Array.from(bySize.values());
  }
}

/** Machines of any cluster that meet the requirements, whatever their size, claimed or blocked or not. */
export function matchingOf(cycle: Cycle, pattern: number): UnmetDetail['matching'] {
  const { machines, patterns } = cycle.fleet;
  const matching = { idle: 0, speculative: 0, configured: 0 };
  for (const c of patterns.patternOf(pattern).matchingClasses()) {
    matching.idle += machines.countOf(c, MachineState.Idle);
    matching.speculative += machines.countOf(c, MachineState.Speculative);
    matching.configured += machines.countOf(c, MachineState.Configured);
  }
  return matching;
}

/** Whether `count` machines of a class cover the deficit: cheaper than `machinesNeeded`, and usually sufficient. */
function coversAll(cycle: Cycle, deficit: Float64Array, classNumber: number, count: number): boolean {
  const { classes, dimensions } = cycle.fleet;
  const from = classNumber * dimensions.stride;
  // A product beyond 2^53 is not exact, but at least 2^53, and no deficit is larger.
  for (let d = 0; d < dimensions.count; d++) {
    if (deficit[d]! > classes.allocatable.data[from + d]! * count) return false;
  }
  return true;
}

function machinesNeeded(cycle: Cycle, deficit: Float64Array, classNumber: number): number {
  const { classes, dimensions } = cycle.fleet;
  let count = 0;
  for (let d = 0; d < dimensions.count; d++) {
    if (deficit[d]! === 0) continue;
    const offered = classes.allocatable.data[classNumber * dimensions.stride + d]!;
    count = Math.max(count, offered === 0 ? Number.POSITIVE_INFINITY : wholeTimes(deficit[d]!, offered));
  }
  return count;
}

/** ⌈amount ÷ each⌉ without a rounding error. */
function wholeTimes(amount: number, each: number): number {
  const over = amount % each;
  return (amount - over) / each + (over > 0 ? 1 : 0);
}
