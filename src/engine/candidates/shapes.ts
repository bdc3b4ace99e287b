// The shapes of a coverage list: all its groups of equal amounts, cheapest first. Of a shape only the first group with
// machines left matters, so a cursor over its groups is kept, which is reset in each cycle. Above a certain number of
// shapes, a tree has lower bounds of the cost and upper bounds of the amounts of every FANOUT neighbours, so that a fleet
// in which no two machines are alike is not searched from end to end. Part of coverage-list.ts.

import type { KeyOf } from '../../collections/radix.ts';
import type { FleetView } from '../../fleet/index.ts';
import type { ClassGroups } from './class-groups.ts';

/** Shapes below a node of the lowest level, and nodes below a node of the others. */
export const FANOUT = 16;

/** Nodes of one height. */
interface Level {
  readonly size: number;
  /** By node: lowest cost of its shapes with machines left; +∞ without any. */
  readonly cost: Float64Array;
  /** By node and dimension: the largest amount of these shapes. */
  readonly most: Float64Array;
}

export class Shapes {
  readonly #fleet: FleetView;
  readonly #groups: ClassGroups;
  readonly #costOf: KeyOf;
  /** By shape: a class with its amounts. */
  classes = new Uint32Array(0);
  /** By shape: its first group, and after the last shape the number of groups. */
  #starts = new Uint32Array(1);
  /** By shape: its first group that is not known to be empty, or the end of its groups; and the cost of that group. */
  cursors = new Uint32Array(0);
  costs = new Float64Array(0);
  /** Shapes with a cursor that has moved in this cycle, some of them repeatedly. */
  #moved: number[] = [];
  /** Dimensions in `levels`. */
  dims = 0;
  /** From the lowest to the highest, which has at most FANOUT nodes; none if there are no more shapes than that. */
  levels: readonly Level[] = [];

  constructor(fleet: FleetView, groups: ClassGroups, costOf: KeyOf) {
    this.#fleet = fleet;
    this.#groups = groups;
    this.#costOf = costOf;
    this.arrange();
  }

  get count(): number {
    return this.classes.length;
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
      if (group > 0 && this.#areEqual(classes.at(-1)!, c)) continue;
      classes.push(c);
      starts.push(group);
    }
    this.classes = Uint32Array.from(classes);
    this.#starts = Uint32Array.from([...starts, this.#groups.count]);
    this.cursors = Uint32Array.from(starts);
    this.costs = Float64Array.from(classes, this.#costOf);
    this.#moved = [];
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
    const isWider = this.dims !== this.#fleet.dimensions.count;
    for (const shape of this.#moved) {
      if (this.cursors[shape] === this.#starts[shape]) continue;
      this.#moveTo(shape, this.#starts[shape]!);
    }
    this.#moved = [];
    if (isWider) this.#makeLevels();
  }

  /** The group at the cursor of a shape is empty. */
  advance(shape: number): void {
    this.#moved.push(shape);
    this.#moveTo(shape, this.cursors[shape]! + 1);
  }

  #moveTo(shape: number, group: number): void {
    this.cursors[shape] = group;
    const isOver = group === this.endOf(shape);
    this.costs[shape] = isOver ? Number.POSITIVE_INFINITY : this.#costOf(this.#groups.classIn(group));
    let node = shape;
    for (let height = 0; height < this.levels.length; height++) {
      node = Math.floor(node / FANOUT);
      this.#bound(this.levels, height, node);
    }
  }

  #makeLevels(): void {
    this.dims = this.#fleet.dimensions.count;
    const levels: Level[] = [];
    for (let below = this.count; below > FANOUT; below = levels.at(-1)!.size) {
      const size = Math.ceil(below / FANOUT);
      levels.push({
        size,
        cost: new Float64Array(size),
        most: new Float64Array(size * this.dims),
      });
      for (let node = 0; node < size; node++) this.#bound(levels, levels.length - 1, node);
    }
    this.levels = levels;
  }

  /** Computes the bounds of a node from those below it. */
  #bound(levels: readonly Level[], height: number, node: number): void {
    const { dims } = this;
    const { cost, most } = levels[height]!;
    const below = levels[height - 1];
    const { classes, dimensions } = this.#fleet;
    const end = Math.min((node + 1) * FANOUT, below === undefined ? this.count : below.size);
    cost[node] = Number.POSITIVE_INFINITY;
    most.fill(0, node * dims, (node + 1) * dims);
    for (let child = node * FANOUT; child < end; child++) {
      if (below === undefined && this.cursors[child] === this.endOf(child)) continue;
      const costs = below === undefined ? this.costs : below.cost;
      const amounts = below === undefined ? classes.allocatable.data : below.most;
      const from = below === undefined ? this.classes[child]! * dimensions.stride : child * dims;
      cost[node] = Math.min(cost[node]!, costs[child]!);
      for (let d = 0; d < dims; d++)
        most[node * dims + d] = Math.max(most[node * dims + d]!, amounts[from + d]!);
    }
  }
}
