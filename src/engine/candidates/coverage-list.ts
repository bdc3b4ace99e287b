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
import { ADDS_NOTHING, CoverageWant, coverageScore } from './coverage-want.ts';
import { FANOUT, Shapes } from './shapes.ts';

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
  #factor = 0;
  #cost = 0;

  constructor(fleet: FleetView, order: CandidateOrder, groups: ClassGroups) {
    this.#fleet = fleet;
    this.#order = order;
    this.#groups = groups;
    this.#shapes = new Shapes(fleet, groups, order.costOf);
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
    this.#read(unfilled);
    this.#tentative = tentative;
    this.#found = NONE;
    this.#score = this.#factor = this.#cost = Number.POSITIVE_INFINITY;
    if (shapes.count > 0) this.#try(this.#last);
    const { levels } = shapes;
    const { length } = levels;
    this.#search(length, 0, length === 0 ? shapes.count : levels[length - 1]!.size, this.#last);
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

  /** Searches the shapes below some nodes of a height; at height 0, the shapes themselves, except the one already tried. */
  #search(height: number, from: number, to: number, tried: number): void {
    for (let i = from; i < to; i++) {
      if (height === 0) {
        if (i !== tried) this.#try(i);
      } else if (this.#mayHoldFirst(height - 1, i)) {
        const { count, levels } = this.#shapes;
        const below = height === 1 ? count : levels[height - 2]!.size;
        this.#search(height - 1, i * FANOUT, Math.min((i + 1) * FANOUT, below), tried);
      }
    }
  }

  /** The keys of a machine with the largest amounts and the lowest cost below a node are no higher than those of any there. */
  #mayHoldFirst(height: number, node: number): boolean {
    const { dims, levels } = this.#shapes;
    const { cost, most } = levels[height]!;
    const factor = WANT.factorOf(most, node * dims);
    return (
      factor !== ADDS_NOTHING && !this.#isBehind(coverageScore(cost[node]!, factor), factor, cost[node]!)
    );
  }

  #isBehind(score: number, factor: number, cost: number): boolean {
    if (score !== this.#score) return score > this.#score;
    return factor === this.#factor ? cost > this.#cost : factor > this.#factor;
  }

  /** Makes the first class of a shape the best one, if it precedes the best so far. */
  #try(shape: number): void {
    const groups = this.#groups;
    const shapes = this.#shapes;
    const end = shapes.endOf(shape);
    let group = shapes.cursors[shape]!;
    if (group === end) return;
    const factor = this.#factorOf(shapes.classes[shape]!);
    if (factor === ADDS_NOTHING) return;
    let cost = shapes.costs[shape]!;
    for (;;) {
      const score = coverageScore(cost, factor);
      if (this.#isBehind(score, factor, cost)) return;
      const found = groups.firstIn(group, this.#tentative);
      if (found !== NONE) {
        if (this.#isTied(score, factor, cost) && !this.#breaksTie(found)) return;
        this.#found = found;
        this.#score = score;
        this.#factor = factor;
        this.#cost = cost;
        this.#last = shape;
        return;
      }
      // Machines of a tentative search may be returned, so the cursor stays.
      if (!this.#tentative) shapes.advance(shape);
      group++;
      if (group === end) return;
      cost = this.#order.costOf(groups.classIn(group));
    }
  }

  #isTied(score: number, factor: number, cost: number): boolean {
    return this.#found !== NONE && score === this.#score && factor === this.#factor && cost === this.#cost;
  }

  #breaksTie(found: number): boolean {
    const { priceOf } = this.#order;
    const { availability } = this.#groups;
    const order = priceOf(found) - priceOf(this.#found);
    return (
      order < 0 ||
      (order === 0 && availability.firstOrdinalOf(found) < availability.firstOrdinalOf(this.#found))
    );
  }
}

/** Infinite keys are equal; their difference is not a number. */
function ascending(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
