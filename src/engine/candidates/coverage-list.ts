// A candidate list in coverage order: least price of covering what a row still wants with machines of one class, then the
// fewest machines, cost, price, id. The order changes with every machine taken, so each step searches for the first class
// over the shapes of its blocks, starting with the shape that was first before. Made by candidate-tier.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import type { Domains, FleetView } from '../../fleet/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { CandidateList, CandidateOrder } from './candidate-list.ts';
import type { ClassAvailability } from './class-availability.ts';
import type { ClassFilter, ClassGroups } from './class-groups.ts';
import { NOTHING_LEFT } from './class-heap.ts';
import { type BlockUse, type CoverageBlock, type CoverageBlocks, PatternBlocks } from './coverage-blocks.ts';
import { ADDS_NOTHING, CoverageWant, coverageScore, limitAbove } from './coverage-want.ts';
import { FANOUT, type Shapes } from './shapes.ts';

/** Shapes tried in one search above which many machines tie: they are told apart by ids, which then have bounds too. */
const MANY_TRIES = 4 * FANOUT;

/** What the row of the present search wants: shared by all lists, of which there may be one for each domain. */
const WANT = new CoverageWant();

export class CoverageList implements CandidateList {
  readonly #fleet: FleetView;
  readonly #order: CandidateOrder;
  readonly #availability: ClassAvailability;
  /** Null in the list of a domain, which is replaced when the list that it is part of changes. */
  readonly #blocks: PatternBlocks | null;
  #uses: readonly BlockUse[];
  #parts = new Map<Domains, Map<number, CoverageList>>();
  /** The use that had the first class in the last search. */
  #last = 0;

  // The search under way: the block searched, and the best class so far, with its keys.
  #use = NONE;
  #block!: CoverageBlock;
  #groups!: ClassGroups;
  #shapes!: Shapes;
  #accepts: ClassFilter | null = null;
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

  constructor(
    fleet: FleetView,
    order: CandidateOrder,
    availability: ClassAvailability,
    blocks: PatternBlocks | null,
    uses: readonly BlockUse[],
  ) {
    this.#fleet = fleet;
    this.#order = order;
    this.#availability = availability;
    this.#blocks = blocks;
    this.#uses = uses;
  }

  static of(fleet: FleetView, blocks: CoverageBlocks, fits: ClassFilter): CoverageList {
    return new CoverageList(fleet, blocks.order, blocks.availability, new PatternBlocks(blocks, fits), []);
  }

  /** Among machines of one shape the cheapest come first, whatever is wanted. */
  get isFixed(): boolean {
    const { length } = this.#uses;
    return length === 0 || (length === 1 && this.#uses[0]!.block.shapes.count <= 1);
  }

  refresh(): void {
    const uses = this.#blocks?.refresh() ?? null;
    if (uses === null) return;
    this.#uses = uses;
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
    const availability = this.#availability;
    return this.compare(a, b, unfilled) || availability.firstOrdinalOf(a) - availability.firstOrdinalOf(b);
  }

  partsBy(domains: Domains): ReadonlyMap<number, CoverageList> {
    let parts = this.#parts.get(domains);
    if (parts === undefined) {
      const uses = new Map<number, BlockUse[]>();
      for (const { block, accepts } of this.#uses) {
        for (const [domain, part] of block.partsBy(domains)) {
          const known = uses.get(domain);
          if (known === undefined) uses.set(domain, [{ block: part, accepts }]);
          else known.push({ block: part, accepts });
        }
      }
      parts = new Map([...uses].map(([domain, each]) => [domain, this.#listOf(each)]));
      this.#parts.set(domains, parts);
    }
    return parts;
  }

  partIn(domains: Domains, domain: number): CoverageList {
    return this.partsBy(domains).get(domain) ?? this.#listOf([]);
  }

  #listOf(uses: readonly BlockUse[]): CoverageList {
    return new CoverageList(this.#fleet, this.#order, this.#availability, null, uses);
  }

  next(unfilled: Unfilled, tentative: boolean): number {
    const uses = this.#uses;
    if (uses.length === 0) return NONE;
    this.#read(unfilled);
    this.#tentative = tentative;
    this.#found = NONE;
    this.#score = this.#limit = this.#factor = this.#cost = this.#price = Number.POSITIVE_INFINITY;
    this.#ordinal = NOTHING_LEFT;
    const first = this.#last;
    this.#searchIn(first);
    for (let at = 0; at < uses.length; at++) if (at !== first) this.#searchIn(at);
    return this.#found;
  }

  #searchIn(use: number): void {
    const { accepts, block } = this.#uses[use]!;
    const { shapes } = block;
    block.begin();
    if (shapes.areEmpty) return;
    this.#use = use;
    this.#block = block;
    this.#groups = block.groups;
    this.#shapes = shapes;
    this.#accepts = accepts;
    this.#tries = 0;
    const { last } = block;
    this.#try(last);
    const height = shapes.levels.length - 1;
    if (height < 0) this.#searchShapes(0, shapes.count, last);
    else this.#searchNodes(height, 0, shapes.levels[height]!.size, last);
    if (this.#tries > MANY_TRIES && !this.#tentative && !shapes.hasOrdinals) shapes.readOrdinals();
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
    const accepts = this.#accepts;
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
      const first = groups.firstIn(group, this.#tentative);
      const isAtCursor = group === shapes.cursors[shape];
      if (first !== NONE && isAtCursor) shapes.noteOrdinal(shape, this.#availability.firstOrdinalOf(first));
      const isUsable = first === NONE || accepts === null || accepts(first);
      const found = isUsable ? first : groups.lowestIn(group, accepts);
      if (found !== NONE) {
        const ordinal = this.#availability.firstOrdinalOf(found);
        if (this.#isBehind(score, factor, cost, price, ordinal)) return;
        this.#found = found;
        this.#score = score;
        this.#limit = limitAbove(score);
        this.#factor = factor;
        this.#cost = cost;
        this.#price = price;
        this.#ordinal = ordinal;
        this.#last = this.#use;
        this.#block.last = shape;
        return;
      }
      // Machines of a tentative search may be returned, and those that the list may not use are there for others.
      if (first === NONE && isAtCursor && !this.#tentative) shapes.advance(shape);
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
