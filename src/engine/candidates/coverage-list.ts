// A candidate list in coverage order: least price of covering what a row still wants with machines of one class, then the
// fewest machines, cost, price, id. The order changes with every machine taken, so each step searches for the first class
// over the shapes of the list, starting with the shape that was first before. Made by candidate-tier.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import type { Domains, FleetView } from '../../fleet/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { CandidateList, CandidateOrder } from './candidate-list.ts';
import type { ClassAvailability } from './class-availability.ts';
import { type ClassFilter, ClassGroups } from './class-groups.ts';
import { NOTHING_LEFT } from './class-heap.ts';
import { ADDS_NOTHING, CoverageWant, coverageScore, limitAbove } from './coverage-want.ts';
import { FANOUT, Shapes } from './shapes.ts';

/** Shapes tried in one search above which many machines tie: they are told apart by ids, which then have bounds too. */
const MANY_TRIES = 4 * FANOUT;

/** What the row of the present search wants: shared by all lists, of which there may be one for each domain. */
const WANT = new CoverageWant();

export class CoverageList implements CandidateList {
  readonly #fleet: FleetView;
  readonly #order: CandidateOrder;
  readonly #groups: ClassGroups;
  readonly #shapes: Shapes;
  #parts = new Map<Domains, Map<number, CoverageList>>();
  #cycle = 0;
  /** The shape that was first in the last search: it is likely to be first again. */
  #last = 0;

  // The search under way: the best class so far, with its keys.
  #tentative = false;
  #offered: ReadonlyColumn<Float64Array> = new Float64Array(0);
  #stride = 0;
  #found = NONE;
  #score = 0;
  /** What exceeds it has a higher score. */
  #limit = 0;
  #factor = 0;
  #cost = 0;
  #price = 0;
  #ordinal = 0;
  #tries = 0;

  constructor(fleet: FleetView, order: CandidateOrder, groups: ClassGroups) {
    this.#fleet = fleet;
    this.#order = order;
    this.#groups = groups;
    this.#shapes = new Shapes(fleet, groups, order);
  }

  static of(
    fleet: FleetView,
    availability: ClassAvailability,
    order: CandidateOrder,
    fits: ClassFilter,
  ): CoverageList {
    const { classes, dimensions } = fleet;
    const amountOf = (d: number) => (c: number) => classes.allocatable.data[c * dimensions.stride + d]!;
    const keys = () => [
      ...Array.from({ length: dimensions.count }, (_, d) => amountOf(d)),
      order.costOf,
      order.priceOf,
    ];
    return new CoverageList(fleet, order, new ClassGroups(availability, keys, fits));
  }

  /** Among machines of one shape the cheapest come first, whatever is wanted. */
  get isFixed(): boolean {
    return this.#shapes.count <= 1;
  }

  refresh(): void {
    if (!this.#groups.refresh()) return;
    this.#shapes.arrange();
    this.#parts = new Map();
    this.#last = 0;
  }

  compare(a: number, b: number, unfilled: Unfilled): number {
    const { costOf, priceOf } = this.#order;
    this.#read(unfilled);
    const [factorOfA, factorOfB] = [this.#factorOf(a), this.#factorOf(b)];
    const [costOfA, costOfB] = [costOf(a), costOf(b)];
    return (
      ascending(coverageScore(costOfA, factorOfA), coverageScore(costOfB, factorOfB)) ||
      ascending(factorOfA, factorOfB) ||
      ascending(costOfA, costOfB) ||
      priceOf(a) - priceOf(b)
    );
  }

  compareFirst(a: number, b: number, unfilled: Unfilled): number {
    const { availability } = this.#groups;
    return this.compare(a, b, unfilled) || availability.firstOrdinalOf(a) - availability.firstOrdinalOf(b);
  }

  partsBy(domains: Domains): ReadonlyMap<number, CoverageList> {
    let parts = this.#parts.get(domains);
    if (parts === undefined) {
      parts = new Map();
      for (const [domain, groups] of this.#groups.partsBy(domains))
        parts.set(domain, new CoverageList(this.#fleet, this.#order, groups));
      this.#parts.set(domains, parts);
    }
    return parts;
  }

  partIn(domains: Domains, domain: number): CoverageList {
    const part = this.partsBy(domains).get(domain);
    return part ?? new CoverageList(this.#fleet, this.#order, this.#groups.none());
  }

  next(unfilled: Unfilled, tentative: boolean): number {
    const { cycle } = this.#groups.availability;
    const shapes = this.#shapes;
    if (this.#cycle !== cycle) {
      this.#cycle = cycle;
      shapes.beginCycle();
    }
    if (shapes.areEmpty) return NONE;
    this.#read(unfilled);
    this.#tentative = tentative;
    this.#found = NONE;
    this.#score = this.#limit = this.#factor = this.#cost = this.#price = Number.POSITIVE_INFINITY;
    this.#ordinal = NOTHING_LEFT;
    this.#tries = 0;
    this.#try(this.#last);
    const height = shapes.levels.length - 1;
    if (height < 0) this.#searchShapes(0, shapes.count, this.#last);
    else this.#searchNodes(height, 0, shapes.levels[height]!.size, this.#last);
    if (this.#tries > MANY_TRIES && !tentative && !shapes.hasOrdinals) shapes.readOrdinals();
    return this.#found;
  }

  #read(unfilled: Unfilled): void {
    const { classes, dimensions } = this.#fleet;
    WANT.read(unfilled);
    this.#offered = classes.allocatable.data;
    this.#stride = dimensions.stride;
  }

  #factorOf(classNumber: number): number {
    return WANT.factorOf(this.#offered, classNumber * this.#stride);
  }

  /** Searches the shapes from one to another, except the one already tried. */
  #searchShapes(from: number, to: number, tried: number): void {
    const { amounts, costs, dims } = this.#shapes;
    for (let shape = from; shape < to; shape++) {
      if (shape === tried || WANT.exceeds(this.#limit, costs[shape]!, amounts, shape * dims)) continue;
      this.#try(shape);
    }
    this.#shapes.settle();
  }

  /** Searches the shapes below some nodes of a height, first those of the node with the lowest score and factor. */
  #searchNodes(height: number, from: number, to: number, tried: number): void {
    const { dims, levels } = this.#shapes;
    const { amounts, costs } = levels[height]!;
    let first = NONE;
    let leastScore = Number.POSITIVE_INFINITY;
    let leastFactor = Number.POSITIVE_INFINITY;
    for (let node = from; node < to; node++) {
      if (WANT.exceeds(this.#limit, costs[node]!, amounts, node * dims)) continue;
      const factor = WANT.factorOf(amounts, node * dims);
      if (factor === ADDS_NOTHING) continue;
      const score = coverageScore(costs[node]!, factor);
      const isBehind = score === leastScore ? factor >= leastFactor : score > leastScore;
      if (isBehind && first !== NONE) continue;
      first = node;
      leastScore = score;
      leastFactor = factor;
    }
    if (first === NONE) return;
    this.#searchBelow(height, first, tried);
    for (let node = from; node < to; node++) {
      if (node !== first && this.#mayHoldFirst(height, node)) this.#searchBelow(height, node, tried);
    }
  }

  #searchBelow(height: number, node: number, tried: number): void {
    const { count, levels } = this.#shapes;
    const from = node * FANOUT;
    if (height === 0) this.#searchShapes(from, Math.min(from + FANOUT, count), tried);
    else this.#searchNodes(height - 1, from, Math.min(from + FANOUT, levels[height - 1]!.size), tried);
  }

  /** The keys of a node are no higher than those of any machine below it. */
  #mayHoldFirst(height: number, node: number): boolean {
    const { dims, hasOrdinals, levels } = this.#shapes;
    const { amounts, costs, prices, ordinals } = levels[height]!;
    if (WANT.exceeds(this.#limit, costs[node]!, amounts, node * dims)) return false;
    const factor = WANT.factorOf(amounts, node * dims);
    if (factor === ADDS_NOTHING) return false;
    const score = coverageScore(costs[node]!, factor);
    return !this.#isBehind(score, factor, costs[node]!, prices[node]!, hasOrdinals ? ordinals[node]! : NONE);
  }

  /** Whether a machine with these keys comes after the best so far, or is it. */
  #isBehind(score: number, factor: number, cost: number, price: number, ordinal: number): boolean {
    if (score !== this.#score) return score > this.#score;
    if (factor !== this.#factor) return factor > this.#factor;
    if (cost !== this.#cost) return cost > this.#cost;
    return price === this.#price ? ordinal >= this.#ordinal : price > this.#price;
  }

  /** Makes the first class of a shape the best one, if it precedes the best so far. */
  #try(shape: number): void {
    const groups = this.#groups;
    const shapes = this.#shapes;
    const end = shapes.endOf(shape);
    let group = shapes.cursors[shape]!;
    if (group === end) return;
    this.#tries++;
    const factor = WANT.factorOf(shapes.amounts, shape * shapes.dims);
    if (factor === ADDS_NOTHING) return;
    let cost = shapes.costs[shape]!;
    let price = shapes.prices[shape]!;
    let least = shapes.hasOrdinals ? shapes.ordinals[shape]! : NONE;
    for (;;) {
      const score = coverageScore(cost, factor);
      if (this.#isBehind(score, factor, cost, price, least)) return;
      const found = groups.firstIn(group, this.#tentative);
      if (found !== NONE) {
        const ordinal = groups.availability.firstOrdinalOf(found);
        shapes.noteOrdinal(shape, ordinal);
        if (this.#isBehind(score, factor, cost, price, ordinal)) return;
        this.#found = found;
        this.#score = score;
        this.#limit = limitAbove(score);
        this.#factor = factor;
        this.#cost = cost;
        this.#price = price;
        this.#ordinal = ordinal;
        this.#last = shape;
        return;
      }
      // Machines of a tentative search may be returned, so the cursor stays.
      if (!this.#tentative) shapes.advance(shape);
      group++;
      if (group === end) return;
      cost = this.#order.costOf(groups.classIn(group));
      price = this.#order.priceOf(groups.classIn(group));
      least = NONE;
    }
  }
}

/** Infinite keys are equal; their difference is not a number. */
function ascending(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
