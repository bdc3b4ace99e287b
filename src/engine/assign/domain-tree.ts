// The best domain for gangs that are alike (same pattern, aggregate, costs and tiers), as a tournament tree over all
// domains: a claim changes the keys of one domain, and only that domain is compared again. A cold fleet has tens of
// thousands of gangs and thousands of racks, so comparing all racks for each gang would take most of the cycle.
// The trees count free machines only. Domains in which a gang has machines of its own are compared by gang.ts, which
// reads the trees through domain-sums.ts.

import type { CandidateTier } from '../candidates/candidate-tier.ts';
import type { PatternAvailability } from '../candidates/domain-availability.ts';
import { cappedParts, isBeyondDoubles, MILLION, partsPerMillion } from './coverage.ts';
import { NONE } from './ranked-rows.ts';

/** Dollars per hour of what a gang would acquire in a domain if it had no machine there. */
export type CostOfFree = (domain: number) => number;

/** What gangs of one tree have in common. */
export interface GangShape {
  readonly availability: PatternAvailability;
  /** Together with the interruption dollars, these determine what a domain costs. */
  readonly tiers: readonly CandidateTier[];
  readonly interruptionDollars: number;
  /** Dimensions that the gangs want, and the amounts. */
  readonly dims: readonly number[];
  readonly wants: readonly number[];
}

const NEVER = -1;

export class DomainTree {
  readonly shape: GangShape;
  /** Domains by name, so that of equal domains the left one wins; a place is an index into this list. */
  readonly #domains: Uint32Array;
  readonly #placeOf: Int32Array;
  /** By node, the root being 1: the place of the best domain below it; NONE if no domain there can complete a gang. */
  readonly #winners: Int32Array;
  readonly #leaves: number;
  // Keys by place, in their order; a cost that is not known yet is NaN.
  readonly #idle: Int32Array;
  readonly #uncapped: Float64Array;
  readonly #costs: Float64Array;
  /** Values of `#uncapped` above 2^53, which are Infinity there. */
  readonly #huge = new Map<number, bigint>();
  /** Position in the changes of `shape.availability` up to which keys are up to date. */
  #seen = NEVER;
  /** The last cycle in which a gang used it. */
  cycle = NEVER;
  #costOf: CostOfFree = () => Number.NaN;

  constructor(shape: GangShape) {
    const { domains, placeOf } = shape.availability.byName;
    this.shape = shape;
    this.#domains = domains;
    this.#placeOf = placeOf;
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(1, domains.length)));
    this.#winners = new Int32Array(2 * this.#leaves).fill(NONE);
    this.#idle = new Int32Array(domains.length);
    this.#uncapped = new Float64Array(domains.length);
    this.#costs = new Float64Array(domains.length);
  }

  /** Number of domains: the tree has 28 to 36 bytes for each. */
  get size(): number {
    return this.#domains.length;
  }

  isFor({ availability, tiers, interruptionDollars, dims, wants }: GangShape): boolean {
    const { shape } = this;
    if (shape.availability !== availability || shape.tiers !== tiers) return false;
    if (shape.interruptionDollars !== interruptionDollars || shape.dims.length !== dims.length) return false;
    for (let i = 0; i < dims.length; i++)
      if (shape.dims[i] !== dims[i] || shape.wants[i] !== wants[i]) return false;
    return true;
  }

  /** The best domain that can complete a gang, of those with a 0 in `excluded`; NONE if there is none. */
  best(excluded: Uint8Array, costOf: CostOfFree): number {
    this.#costOf = costOf;
    this.#update();
    const passed: number[] = [];
    let place = this.#winners[1]!;
    for (; place !== NONE && excluded[this.#domains[place]!] === 1; place = this.#winners[1]!) {
      passed.push(place);
      this.#replay(place, NONE);
    }
    const best = place === NONE ? NONE : this.#domains[place]!;
    for (const back of passed) this.#replay(back, back);
    return best;
  }

  /** Applies changes of free machines since the last call: one by one if they are few, else all at once. */
  #update(): void {
    const { availability } = this.shape;
    availability.applyChanges();
    const { changedAt, changes } = availability;
    const { end } = changes;
    if (this.#seen === end) return;
    if (this.#seen === NEVER || end - this.#seen > this.size || changes.hasLost(this.#seen))
      this.#updateAll();
    else {
      for (let at = this.#seen; at < end; at++) {
        const domain = changes.at(at);
        if (changedAt[domain] !== at) continue;
        const place = this.#placeOf[domain]!;
        this.#replay(place, this.#read(place));
      }
    }
    this.#seen = end;
  }

  #updateAll(): void {
    const { changedAt } = this.shape.availability;
    for (let place = 0; place < this.size; place++) {
      if (changedAt[this.#domains[place]!]! >= this.#seen)
        this.#winners[this.#leaves + place] = this.#read(place);
    }
    for (let node = this.#leaves - 1; node > 0; node--)
      this.#winners[node] = this.#better(this.#winners[2 * node]!, this.#winners[2 * node + 1]!);
  }

  /** Computes the keys of a domain; returns its place, or NONE if it cannot complete a gang. */
  #read(place: number): number {
    const { availability, dims, wants } = this.shape;
    const domain = this.#domains[place]!;
    availability.refresh(domain);
    if (availability.counts[domain] === 0) return NONE;
    const from = domain * availability.dims;
    for (let i = 0; i < dims.length; i++) if (availability.free[from + dims[i]!]! < wants[i]!) return NONE;
    let idle = 0;
    for (let i = 0; i < dims.length; i++) idle += cappedParts(availability.idle[from + dims[i]!]!, wants[i]!);
    this.#idle[place] = idle;
    this.#readUncapped(place);
    this.#costs[place] = Number.NaN;
    return place;
  }

  #readUncapped(place: number): void {
    const { availability, dims, wants } = this.shape;
    const from = this.#domains[place]! * availability.dims;
    let ppm = 0;
    for (let i = 0; i < dims.length; i++) {
      const have = availability.free[from + dims[i]!]!;
      if (isBeyondDoubles(have, wants[i]!)) {
        this.#readHuge(place);
        return;
      }
      ppm += partsPerMillion(have, wants[i]!);
    }
    this.#uncapped[place] = ppm;
  }

  #readHuge(place: number): void {
    const { availability, dims, wants } = this.shape;
    let ppm = 0n;
    for (let i = 0; i < dims.length; i++) {
      const have = availability.freeExactly(this.#domains[place]!, dims[i]!);
      ppm += (BigInt(MILLION) * have) / BigInt(wants[i]!);
    }
    const isHuge = ppm > BigInt(Number.MAX_SAFE_INTEGER);
    this.#uncapped[place] = isHuge ? Number.POSITIVE_INFINITY : Number(ppm);
    if (isHuge) this.#huge.set(place, ppm);
  }

  /** Sets the leaf of a domain and plays its matches again, up to one whose winner does not depend on it. */
  #replay(place: number, leaf: number): void {
    const winners = this.#winners;
    winners[this.#leaves + place] = leaf;
    for (let node = (this.#leaves + place) >> 1; node > 0; node >>= 1) {
      const before = winners[node]!;
      const winner = this.#better(winners[2 * node]!, winners[2 * node + 1]!);
      if (winner === before && winner !== place) return;
      winners[node] = winner;
    }
  }

  /** The better of two places, the left one in case of a tie. Both costs are computed only if all keys before tie. */
  #better(left: number, right: number): number {
    if (right === NONE) return left;
    if (left === NONE) return right;
    if (this.#idle[left] !== this.#idle[right]) return this.#idle[left]! > this.#idle[right]! ? left : right;
    const uncapped = this.#compareUncapped(left, right);
    if (uncapped !== 0) return uncapped < 0 ? left : right;
    const cost = this.#costAt(left);
    const otherCost = this.#costAt(right);
    if (cost !== otherCost) return cost < otherCost ? left : right;
    const { counts } = this.shape.availability;
    return counts[this.#domains[left]!]! >= counts[this.#domains[right]!]! ? left : right;
  }

  #compareUncapped(a: number, b: number): number {
    const [mine, theirs] = [this.#uncapped[a]!, this.#uncapped[b]!];
    if (mine !== theirs) return mine < theirs ? -1 : 1;
    if (mine !== Number.POSITIVE_INFINITY) return 0;
    const [exactly, theirsExactly] = [this.#huge.get(a)!, this.#huge.get(b)!];
    if (exactly === theirsExactly) return 0;
    return exactly < theirsExactly ? -1 : 1;
  }

  #costAt(place: number): number {
    let cost = this.#costs[place]!;
    if (Number.isNaN(cost)) {
      cost = this.#costOf(this.#domains[place]!);
      this.#costs[place] = cost;
    }
    return cost;
  }
}

/** Maximum number of domains of all trees together: about 140 MB. */
const MAX_DOMAINS = 4_000_000;

/** The trees of all gangs. One that no gang has used for a cycle is dropped, and so is the one used least recently. */
export class DomainTrees {
  /** The one used last comes first. */
  #trees: DomainTree[] = [];
  /** Domains of all trees. */
  #size = 0;
  #cycle = NEVER;

  /** The tree for gangs of a shape, in a cycle. */
  of(shape: GangShape, cycle: number): DomainTree {
    if (this.#cycle !== cycle) this.#dropUnused(cycle);
    const at = this.#trees.findIndex((tree) => tree.isFor(shape));
    const tree = at === -1 ? this.#make(shape) : this.#trees[at]!;
    for (let i = at === -1 ? this.#trees.length : at; i > 0; i--) this.#trees[i] = this.#trees[i - 1]!;
    this.#trees[0] = tree;
    tree.cycle = cycle;
    return tree;
  }

  #make(shape: GangShape): DomainTree {
    const tree = new DomainTree(shape);
    this.#size += tree.size;
    while (this.#size > MAX_DOMAINS && this.#trees.length > 0) this.#size -= this.#trees.pop()!.size;
    return tree;
  }

  #dropUnused(cycle: number): void {
    this.#trees = this.#trees.filter((tree) => tree.cycle === this.#cycle);
    this.#size = this.#trees.reduce((size, tree) => size + tree.size, 0);
    this.#cycle = cycle;
  }
}
