// The shapes of a coverage list: all its groups of equal amounts, cheapest first. Of a shape only the first group with
// machines left matters, so a cursor over its groups is kept, which is reset in each cycle. Above FANOUT shapes, a tree has
// bounds for every FANOUT neighbours: the first of their machines in price order, and the largest of their amounts. So a
// fleet in which no two machines are alike is not searched from end to end. Part of coverage-list.ts.

import type { FleetView } from '../../fleet/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { CandidateOrder } from './candidate-list.ts';
import type { ClassGroups } from './class-groups.ts';
import { NOTHING_LEFT } from './class-heap.ts';

/** Shapes below a node of the lowest level, and nodes below a node of the others. */
export const FANOUT = 16;

/** Bounds by shape or by node: the keys of the first machine in price order, +∞ and NOTHING_LEFT without machines. */
interface Bounds {
  readonly costs: Float64Array;
  readonly prices: Float64Array;
  /** Ordinal (position in id order) of the first machine; no bound unless `Shapes.hasOrdinals`. */
  readonly ordinals: Int32Array;
  /** By shape or node, and by dimension: the amount, the largest of all shapes with machines left below a node. */
  readonly amounts: Float64Array;
}

/** Nodes of one height. */
interface Level extends Bounds {
  readonly size: number;
}

export class Shapes implements Bounds {
  readonly #fleet: FleetView;
  readonly #groups: ClassGroups;
  readonly #order: CandidateOrder;
  /** By shape: a class of it. */
  #classes = new Uint32Array(0);
  /** By shape: its first group, and after the last shape the number of groups. */
  #starts = new Uint32Array(1);
  /** By shape: its first group that is not known to be empty, or the end of its groups. */
  cursors = new Uint32Array(0);
  /** By shape: the keys of the group at the cursor. */
  costs = new Float64Array(0);
  prices = new Float64Array(0);
  ordinals = new Int32Array(0);
  amounts = new Float64Array(0);
  /** Whether `ordinals` are those of this cycle. Few lists need them. */
  hasOrdinals = false;
  /** Shapes whose cursor is not at the end of their groups. */
  #open = 0;
  /** Shapes with a cursor that has moved in this cycle, some of them repeatedly. */
  #moved: number[] = [];
  /** A shape that has changed since the bounds above it were computed; NONE for none. */
  #unsettled = NONE;
  /** Dimensions of `amounts`, here and in `levels`. */
  dims = 0;
  /** From the lowest to the highest, which has at most FANOUT nodes; none if there are no more shapes than that. */
  levels: readonly Level[] = [];

  constructor(fleet: FleetView, groups: ClassGroups, order: CandidateOrder) {
    this.#fleet = fleet;
    this.#groups = groups;
    this.#order = order;
    this.arrange();
  }

  get count(): number {
    return this.#classes.length;
  }

  /** Whether no shape has machines left in this cycle. */
  get areEmpty(): boolean {
    return this.#open === 0;
  }

  /** The end of a shape's groups. */
  endOf(shape: number): number {
    return this.#starts[shape + 1]!;
  }

  /** Follows a change of the groups. */
  arrange(): void {
    const classes: number[] = [];
    const starts: number[] = [];
    for (let group = 0; group < this.#groups.count; group++) {
      const c = this.#groups.classIn(group);
      if (group > 0 && this.#areEqual(classes[classes.length - 1]!, c)) continue;
      classes.push(c);
      starts.push(group);
    }
    this.#classes = Uint32Array.from(classes);
    this.#starts = new Uint32Array(starts.length + 1);
    this.#starts.set(starts);
    this.#starts[starts.length] = this.#groups.count;
    this.cursors = Uint32Array.from(starts);
    this.costs = Float64Array.from(classes, this.#order.costOf);
    this.prices = Float64Array.from(classes, this.#order.priceOf);
    this.ordinals = new Int32Array(classes.length);
    this.hasOrdinals = false;
    this.#open = classes.length;
    this.#moved = [];
    this.#unsettled = NONE;
    this.#makeLevels();
  }

  #areEqual(a: number, b: number): boolean {
    const { classes, dimensions } = this.#fleet;
    const { data } = classes.allocatable;
    for (let d = 0; d < dimensions.count; d++) {
      if (data[a * dimensions.stride + d] !== data[b * dimensions.stride + d]) return false;
    }
    return true;
  }

  /** All machines are available again. */
  beginCycle(): void {
    this.hasOrdinals = false;
    this.#open = this.count;
    for (const shape of this.#moved) this.#moveTo(shape, this.#starts[shape]!);
    const isWider = this.dims !== this.#fleet.dimensions.count;
    if (isWider || this.#moved.length > this.count / FANOUT) this.#makeLevels();
    else for (const shape of this.#moved) this.#boundAbove(shape);
    this.#moved = [];
    this.#unsettled = NONE;
  }

  /** The group at the cursor of a shape is empty. `settle` must follow. */
  advance(shape: number): void {
    this.#moved.push(shape);
    this.#moveTo(shape, this.cursors[shape]! + 1);
    if (this.cursors[shape] === this.endOf(shape)) this.#open--;
    this.#unsettle(shape);
  }

  /** The first machine of a shape in this cycle, by its ordinal, which only rises. `settle` must follow. */
  noteOrdinal(shape: number, ordinal: number): void {
    if (!this.hasOrdinals || this.ordinals[shape] === ordinal) return;
    this.ordinals[shape] = ordinal;
    this.#unsettle(shape);
  }

  #unsettle(shape: number): void {
    if (this.#unsettled !== NONE && Math.floor(this.#unsettled / FANOUT) !== Math.floor(shape / FANOUT))
      this.settle();
    this.#unsettled = shape;
  }

  /** Computes the bounds above shapes that have changed: once for all below a node. */
  settle(): void {
    if (this.#unsettled === NONE) return;
    this.#boundAbove(this.#unsettled);
    this.#unsettled = NONE;
  }

  #moveTo(shape: number, group: number): void {
    const isOver = group === this.endOf(shape);
    const c = isOver ? NONE : this.#groups.classIn(group);
    this.cursors[shape] = group;
    this.costs[shape] = isOver ? Number.POSITIVE_INFINITY : this.#order.costOf(c);
    this.prices[shape] = isOver ? Number.POSITIVE_INFINITY : this.#order.priceOf(c);
    this.ordinals[shape] = isOver ? NOTHING_LEFT : this.#firstOrdinalIn(group);
  }

  #firstOrdinalIn(group: number): number {
    if (!this.hasOrdinals) return NONE;
    const c = this.#groups.firstIn(group, false);
    return c === NONE ? NOTHING_LEFT : this.#groups.availability.firstOrdinalOf(c);
  }

  /** Reads the first machine of every shape. From then on nodes whose machines tie with a lower one are left out. */
  readOrdinals(): void {
    this.hasOrdinals = true;
    for (let shape = 0; shape < this.count; shape++) {
      const group = this.cursors[shape]!;
      this.ordinals[shape] = group === this.endOf(shape) ? NOTHING_LEFT : this.#firstOrdinalIn(group);
    }
    for (let height = 0; height < this.levels.length; height++) {
      for (let node = 0; node < this.levels[height]!.size; node++) this.#bound(this.levels, height, node);
    }
  }

  #makeLevels(): void {
    this.#readAmounts();
    const levels: Level[] = [];
    for (let below = this.count; below > FANOUT; below = levels.at(-1)!.size) {
      const size = Math.ceil(below / FANOUT);
      levels.push({
        size,
        costs: new Float64Array(size),
        prices: new Float64Array(size),
        ordinals: new Int32Array(size),
        amounts: new Float64Array(size * this.dims),
      });
      for (let node = 0; node < size; node++) this.#bound(levels, levels.length - 1, node);
    }
    this.levels = levels;
  }

  /** Copies the amounts of the classes: in one place, they are read fast. */
  #readAmounts(): void {
    const { classes, dimensions } = this.#fleet;
    const dims = dimensions.count;
    if (this.amounts.length !== this.count * dims) this.amounts = new Float64Array(this.count * dims);
    for (let shape = 0; shape < this.count; shape++) {
      const from = this.#classes[shape]! * dimensions.stride;
      for (let d = 0; d < dims; d++) this.amounts[shape * dims + d] = classes.allocatable.data[from + d]!;
    }
    this.dims = dims;
  }

  /** Computes the bounds of the nodes above a shape. */
  #boundAbove(shape: number): void {
    let node = shape;
    for (let height = 0; height < this.levels.length; height++) {
      node = Math.floor(node / FANOUT);
      this.#bound(this.levels, height, node);
    }
  }

  /** Computes the bounds of a node from those below it. */
  #bound(levels: readonly Level[], height: number, node: number): void {
    const { dims } = this;
    const { costs, prices, ordinals, amounts } = levels[height]!;
    const level = levels[height - 1];
    const below: Bounds = level ?? this;
    const end = Math.min((node + 1) * FANOUT, level?.size ?? this.count);
    let first = node * FANOUT;
    amounts.fill(0, node * dims, (node + 1) * dims);
    for (let child = first; child < end; child++) {
      if (comparePrice(below, child, first) < 0) first = child;
      if (level === undefined && this.cursors[child] === this.endOf(child)) continue;
      for (let d = 0; d < dims; d++) {
        const amount = below.amounts[child * dims + d]!;
        if (amount > amounts[node * dims + d]!) amounts[node * dims + d] = amount;
      }
    }
    costs[node] = below.costs[first]!;
    prices[node] = below.prices[first]!;
    ordinals[node] = below.ordinals[first]!;
  }
}

function comparePrice({ costs, prices, ordinals }: Bounds, a: number, b: number): number {
  // Infinite costs are equal; their difference is not a number.
  if (costs[a] !== costs[b]) return costs[a]! - costs[b]!;
  if (prices[a] !== prices[b]) return prices[a]! - prices[b]!;
  return ordinals[a]! - ordinals[b]!;
}
