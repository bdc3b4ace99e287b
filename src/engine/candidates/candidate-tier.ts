// Tiers of candidates: a row acquires from one tier after the other. There is one tier, unless rows take machines with
// accelerators that they did not ask for last; then these machines are a second tier. Part of `FreeMachines`, which
// keeps the tiers from cycle to cycle.

import type { FleetView, Pattern } from '../../fleet/index.ts';
import { type DecisionOptions, effectiveCost, isAccelerator } from '../../model/index.ts';
import { isPurchasedClass } from '../assign/purchases.ts';
import { RowKind } from '../assign/ranked-rows.ts';
import { type CandidateList, type CandidateOrder, Candidates } from './candidate-list.ts';
import type { ClassAvailability } from './class-availability.ts';
import type { ClassFilter } from './class-groups.ts';
import { ClassKinds } from './class-kinds.ts';
import { CoverageBlocks } from './coverage-blocks.ts';
import { CoverageList } from './coverage-list.ts';
import { PriceList } from './price-list.ts';
import { SpecialIdle } from './special-idle.ts';

/** The part of the options that determines the order of free machines. */
export type PoolOptions = Pick<DecisionOptions, 'poolOrder' | 'accelerators' | 'ignoredAccelerators'>;

/** Tiers that no row used for this number of cycles are evicted. */
const TIER_CYCLES = 16;

/** All candidate lists of a pattern: the cost of a Speculative machine depends on the row's interruption dollars. */
interface PatternCandidates {
  readonly pattern: Pattern;
  readonly fits: ClassFilter;
  readonly idle: CandidateList;
  readonly special: SpecialIdle;
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

/** Free machines by state. */
export interface FreeClasses {
  readonly idle: ClassAvailability;
  readonly speculative: ClassAvailability;
}

/** The blocks of lists in coverage order, by state and interruption dollars; null: of Idle machines. */
type BlocksOf = (availability: ClassAvailability, dollars: number | null) => CoverageBlocks;

/** Candidates of all patterns, of the classes that a filter accepts. */
export class CandidateTier {
  readonly #fleet: FleetView;
  readonly #free: FreeClasses;
  readonly #isByCoverage: boolean;
  readonly #blocks: BlocksOf;
  /** Null: all classes. */
  readonly #accepts: ClassFilter | null;
  /** Without Speculative machines that are purchased. */
  readonly #isOwnedOnly: boolean;
  readonly #byPattern: (PatternCandidates | undefined)[] = [];
  #patternsVersion: number;

  constructor(
    fleet: FleetView,
    free: FreeClasses,
    order: { readonly isByCoverage: boolean; readonly isOwnedOnly: boolean },
    blocks: BlocksOf,
    accepts: ClassFilter | null,
  ) {
    this.#fleet = fleet;
    this.#free = free;
    this.#blocks = blocks;
    this.#isByCoverage = order.isByCoverage;
    this.#isOwnedOnly = order.isOwnedOnly;
    this.#accepts = accepts;
    this.#patternsVersion = fleet.patterns.version;
  }

  /** Drops the lists of patterns that are no longer in use. */
  begin(): void {
    const { patterns } = this.#fleet;
    if (this.#patternsVersion === patterns.version) return;
    this.#patternsVersion = patterns.version;
    for (const [number, candidates] of this.#byPattern.entries()) {
      if (patterns.find(number) !== candidates?.pattern) this.#byPattern[number] = undefined;
    }
  }

  /** All candidates of a pattern; the profile determines the interruption dollars. */
  candidates(pattern: number, profile: number): Candidates {
    const { cycle } = this.#free.idle;
    const known = this.#candidatesOf(pattern);
    const ready = known.byProfile[profile];
    if (ready?.cycle === cycle) return ready.candidates;
    const { interruptionDollars } = this.#fleet.demand.profiles.entryOf(profile);
    const candidates = this.#candidatesAt(known, interruptionDollars);
    candidates.idle.refresh();
    candidates.speculative.refresh();
    known.byProfile[profile] = { candidates, cycle };
    return candidates;
  }

  #candidatesOf(number: number): PatternCandidates {
    let known = this.#byPattern[number];
    if (known === undefined) {
      const pattern = this.#fleet.patterns.patternOf(number);
      const fits = fitsOf(pattern, this.#accepts);
      known = {
        pattern,
        fits,
        idle: this.#listOf(this.#free.idle, null, fits),
        special: new SpecialIdle(this.#fleet, fits, this.#isByCoverage),
        byDollars: new Map(),
        byProfile: [],
      };
      this.#byPattern[number] = known;
    }
    return known;
  }

  #candidatesAt({ byDollars, fits, idle, special }: PatternCandidates, dollars: number): Candidates {
    let candidates = byDollars.get(dollars);
    if (candidates === undefined) {
      const isBuyable: ClassFilter = this.#isOwnedOnly
        ? (c) => fits(c) && !isPurchasedClass(this.#fleet, c)
        : fits;
      candidates = new Candidates(idle, this.#listOf(this.#free.speculative, dollars, isBuyable), special);
      byDollars.set(dollars, candidates);
    }
    return candidates;
  }

  #listOf(availability: ClassAvailability, dollars: number | null, fits: ClassFilter): CandidateList {
    if (this.#isByCoverage) return CoverageList.of(this.#fleet, this.#blocks(availability, dollars), fits);
    return PriceList.of(availability, orderOf(this.#fleet, dollars), fits);
  }
}

function fitsOf(pattern: Pattern, accepts: ClassFilter | null): ClassFilter {
  return accepts === null ? (c) => pattern.fits(c) : (c) => pattern.fits(c) && accepts(c);
}

/** The costs of machines to rows with these interruption dollars; null: of Idle machines. */
function orderOf({ classes }: FleetView, dollars: number | null): CandidateOrder {
  const priceOf = (c: number): number => classes.price[c]!;
  return {
    costOf:
      dollars === null ? priceOf : (c) => effectiveCost(classes.price[c]!, classes.probability[c]!, dollars),
    priceOf,
    areAlike: (a, b) =>
      classes.price[a] === classes.price[b] && classes.probability[a] === classes.probability[b],
  };
}

interface RowTiers {
  readonly tiers: readonly CandidateTier[];
  /** The last cycle in which a row used them. */
  cycle: number;
}

/** The tiers of every row. */
export class CandidateTiers {
  readonly #fleet: FleetView;
  readonly #free: FreeClasses;
  #isByCoverage = false;
  /** Dimensions that are accelerators. */
  #accelerators: readonly number[] = [];
  /** By order, what may be bought and, as a bit set, the accelerators that a row wants. At most `TIER_CYCLES` old. */
  readonly #known = new Map<number, RowTiers>();
  /** By number of a pattern: see `#wantedByUnit`. */
  readonly #units: ({ readonly pattern: Pattern; readonly wanted: number } | undefined)[] = [];
  /** Fast path: most rows have the tiers of the row before. */
  #lastKey = -1;
  #lastTiers: readonly CandidateTier[] = [];
  /** By interruption dollars; null: of Idle machines. Tiers share them. */
  readonly #blocks = new Map<number | null, CoverageBlocks>();
  readonly #kinds: { readonly idle: ClassKinds; readonly speculative: ClassKinds };

  constructor(fleet: FleetView, free: FreeClasses) {
    this.#fleet = fleet;
    this.#free = free;
    const { idle, speculative } = free;
    this.#kinds = { idle: new ClassKinds(fleet, idle), speculative: new ClassKinds(fleet, speculative) };
  }

  /** Prepares a cycle; `free` must have begun it. */
  begin(options: PoolOptions): void {
    const accelerators = options.accelerators === 'last' ? this.#acceleratorsBut(options) : [];
    if (accelerators.join() !== this.#accelerators.join()) {
      this.#known.clear();
      this.#units.length = 0;
    }
    this.#isByCoverage = options.poolOrder === 'coverage';
    this.#accelerators = accelerators;
    this.#lastKey = -1;
    for (const [key, { tiers, cycle }] of this.#known) {
      if (cycle < this.#free.idle.cycle - TIER_CYCLES) this.#known.delete(key);
      else for (const tier of tiers) tier.begin();
    }
  }

  #acceleratorsBut({ ignoredAccelerators }: PoolOptions): number[] {
    const { dimensions } = this.#fleet;
    const accelerators: number[] = [];
    for (let d = 0; d < dimensions.count; d++) {
      const name = dimensions.nameOf(d);
      if (isAccelerator(name) && !ignoredAccelerators.has(name)) accelerators.push(d);
    }
    return accelerators;
  }

  /** The tiers of a row with a pattern, in the order it acquires from them. */
  of(row: number, pattern: number, kind: number, isOwnedOnly: boolean): readonly CandidateTier[] {
    const isByCoverage = this.#isByCoverage && (kind === RowKind.Plain || kind === RowKind.Spread);
    const wanted = this.#accelerators.length === 0 ? 0 : this.#wanted(row, pattern);
    const key = wanted * 4 + (isByCoverage ? 1 : 0) + (isOwnedOnly ? 2 : 0);
    if (key === this.#lastKey) return this.#lastTiers;
    let known = this.#known.get(key);
    if (known === undefined) {
      known = { tiers: this.#make(wanted, { isByCoverage, isOwnedOnly }), cycle: 0 };
      this.#known.set(key, known);
    }
    known.cycle = this.#free.idle.cycle;
    this.#lastKey = key;
    this.#lastTiers = known.tiers;
    return known.tiers;
  }

  /** The accelerators that a row wants, as a bit set by dimension. */
  #wanted(row: number, pattern: number): number {
    const { demand, dimensions } = this.#fleet;
    let wanted = this.#wantedByUnit(pattern);
    for (const d of this.#accelerators)
      if (demand.aggregate.data[row * dimensions.stride + d]! > 0) wanted |= 1 << d;
    return wanted;
  }

  /** The accelerators of the largest piece of rows with a pattern. Kept by pattern: reading it of the row would wait for memory. */
  #wantedByUnit(number: number): number {
    const { dimensions, patterns } = this.#fleet;
    const pattern = patterns.patternOf(number);
    const known = this.#units[number];
    if (known?.pattern === pattern) return known.wanted;
    let wanted = 0;
    for (const d of this.#accelerators)
      if ((pattern.minUnit.get(dimensions.nameOf(d)) ?? 0) > 0) wanted |= 1 << d;
    this.#units[number] = { pattern, wanted };
    return wanted;
  }

  #blocksOf(availability: ClassAvailability, dollars: number | null): CoverageBlocks {
    let blocks = this.#blocks.get(dollars);
    if (blocks === undefined) {
      const kinds = dollars === null ? this.#kinds.idle : this.#kinds.speculative;
      blocks = new CoverageBlocks(this.#fleet, availability, kinds, orderOf(this.#fleet, dollars));
      this.#blocks.set(dollars, blocks);
    }
    return blocks;
  }

  #make(wanted: number, order: ConstructorParameters<typeof CandidateTier>[2]): readonly CandidateTier[] {
    const foreign = this.#accelerators.filter((d) => ((wanted >> d) & 1) === 0);
    const tierOf = (accepts: ClassFilter | null): CandidateTier =>
      new CandidateTier(this.#fleet, this.#free, order, (...of) => this.#blocksOf(...of), accepts);
    if (foreign.length === 0) return [tierOf(null)];
    const { classes, dimensions } = this.#fleet;
    // A loop: patterns ask for every class, which may be millions.
    const hasForeign: ClassFilter = (c) => {
      const at = c * dimensions.stride;
      for (const d of foreign) if (classes.allocatable.data[at + d]! > 0) return true;
      return false;
    };
    return [tierOf((c) => !hasForeign(c)), tierOf(hasForeign)];
  }
}
