// Divides the rows of the pass between lanes. Every class of free machines belongs to at most one lane, and every cluster
// to exactly one: rows couple through the free machines that both can use, and through the machines of their cluster.
// Patterns that share classes form a component, and a lane has whole components. A row that can use classes of another
// lane, or of none, *crosses*: it is served when all better-ranked rows of other lanes are, and no worse-ranked row that
// needs free machines is served before it. So does a fold that may not host all its members, since these can use other
// classes. Used by lanes.ts.

import { sharedUint8, sharedUint32 } from '../../collections/columns.ts';
import { Credit } from '../assign/credits.ts';
import { NONE, RowKind } from '../assign/ranked-rows.ts';
import type { Cycle } from '../cycle.ts';

/** Rows of the pass by lane; all indexes are places in rank order. In shared memory, for lanes on other threads. */
export interface Territories {
  /** Ranked rows in rank order. */
  readonly order: Uint32Array;
  readonly laneOf: Uint32Array;
  /** 1 for a row that crosses. */
  readonly crosses: Uint8Array;
  /** Rows of the lane with most rows. */
  readonly largest: number;
  /** Rows that cross and are known to need free machines. */
  readonly crossing: number;
}

/**
 * A pattern joins two components if it has at least this share of the rows of the smaller one; with fewer rows it crosses,
 * and the components stay apart.
 */
const JOINING_SHARE = 0.25;
/** Classes read per row of the pass above which all rows are one component: reading them would take longer than serving. */
const CLASSES_PER_ROW = 16;
/** No component, or no lane. */
const NO_COMPONENT = -1;

/**
 * Divides the rows of a pass between lanes. Clusters in `pinned`, and all that is coupled with them, belong to lane 0, and
 * their folds cross. With `divides`, the clusters of a component that is too large for one lane are divided, and all its
 * rows cross.
 */
export function territoriesOf(
  cycle: Cycle,
  order: Uint32Array,
  lanes: number,
  pinned: ReadonlySet<number>,
  divides: boolean,
): Territories {
  const components = new Components(cycle, order);
  const laneOfCluster = new Int32Array(cycle.fleet.clusters.size).fill(NONE);
  const laneOfComponent = components.assign(lanes, pinned, divides, laneOfCluster);
  const crossesAnyway = (rankedRow: number): boolean =>
    pinned.size > 0 &&
    cycle.rankedRows.kind[rankedRow] === RowKind.Fold &&
    pinned.has(cycle.rankedRows.cluster[rankedRow]!);
  return territories(cycle, order, lanes, components, laneOfComponent, laneOfCluster, crossesAnyway);
}

function territories(
  { credits, rankedRows }: Cycle,
  order: Uint32Array,
  lanes: number,
  components: Components,
  laneOfComponent: ReadonlyMap<number, number>,
  laneOfCluster: Int32Array,
  crossesAnyway: (rankedRow: number) => boolean,
): Territories {
  const shared = sharedUint32(order.length);
  shared.set(order);
  const laneOf = sharedUint32(order.length);
  const crosses = sharedUint8(order.length);
  const counts = new Uint32Array(lanes);
  let crossing = 0;
  for (let i = 0; i < order.length; i++) {
    const rankedRow = order[i]!;
    const lane = laneOfCluster[rankedRows.cluster[rankedRow]!]!;
    const component = components.of(rankedRows.pattern[rankedRow]!);
    laneOf[i] = lane;
    counts[lane]!++;
    // Without free machines that it could use, a row depends on its cluster alone.
    const isAtHome = component === NO_COMPONENT || laneOfComponent.get(component) === lane;
    if (isAtHome && !crossesAnyway(rankedRow)) continue;
    crosses[i] = 1;
    const mayBeCovered =
      credits.outcome[rankedRow] === Credit.Waits &&
      rankedRows.kind[rankedRow] !== RowKind.Gang &&
      rankedRows.hasInFlight[rankedRow] === 0;
    if (!mayBeCovered) crossing++;
  }
  return { order: shared, laneOf, crosses, largest: Math.max(...counts), crossing };
}

/** Patterns that share classes with free machines, directly or through others. */
class Components {
  readonly #cycle: Cycle;
  readonly #order: Uint32Array;
  /** By pattern: rows of the pass. */
  readonly #rows: Uint32Array;
  /** By pattern: its parent in the union-find forest; a root is its own. */
  readonly #parents: Int32Array;
  /** By root: rows of all its patterns. */
  readonly #weights: Float64Array;
  /** By pattern: 1 if it crosses components. */
  readonly #crosses: Uint8Array;
  /** By pattern: 1 if it can use free machines. */
  readonly #uses: Uint8Array;

  constructor(cycle: Cycle, order: Uint32Array) {
    const { size } = cycle.fleet.patterns;
    this.#cycle = cycle;
    this.#order = order;
    this.#rows = new Uint32Array(size);
    this.#parents = Int32Array.from({ length: size }, (_, pattern) => pattern);
    this.#weights = new Float64Array(size);
    this.#crosses = new Uint8Array(size);
    this.#uses = new Uint8Array(size);
    const { pattern } = cycle.rankedRows;
    for (let i = 0; i < order.length; i++) this.#rows[pattern[order[i]!]!]!++;
    this.#join();
  }

  /** The component of a pattern; a pattern that crosses has one of its own, which belongs to no lane. */
  of(pattern: number): number {
    return this.#uses[pattern] === 0 ? NO_COMPONENT : this.#rootOf(pattern);
  }

  #rootOf(pattern: number): number {
    const parents = this.#parents;
    let root = pattern;
    while (parents[root] !== root) root = parents[root]!;
    for (let at = pattern; parents[at] !== root; ) {
      const next = parents[at]!;
      parents[at] = root;
      at = next;
    }
    return root;
  }

  /** Patterns with most rows first: what they form, patterns with few rows do not join. */
  #join(): void {
    const { patterns } = this.#cycle.fleet;
    const used = [...this.#rows.keys()].filter((pattern) => this.#rows[pattern]! > 0);
    used.sort((a, b) => this.#rows[b]! - this.#rows[a]! || a - b);
    let budget = CLASSES_PER_ROW * this.#order.length;
    for (const pattern of used) budget -= patterns.patternOf(pattern).fittingClasses().length;
    if (budget < 0) {
      for (const pattern of used) {
        this.#uses[pattern] = 1;
        this.#unite(used[0]!, pattern);
      }
      return;
    }
    const isFree = this.#freeClasses();
    /** By class: a pattern that can use it, plus one. */
    const firstOf = new Uint32Array(isFree.length);
    for (const pattern of used) this.#joinPattern(pattern, isFree, firstOf);
  }

  #joinPattern(pattern: number, isFree: Uint8Array, firstOf: Uint32Array): void {
    const fitting = this.#cycle.fleet.patterns.patternOf(pattern).fittingClasses();
    const roots = new Set<number>();
    for (const c of fitting) {
      if (isFree[c] === 0) continue;
      this.#uses[pattern] = 1;
      if (firstOf[c] !== 0) roots.add(this.#rootOf(firstOf[c]! - 1));
    }
    this.#weights[pattern] = this.#rows[pattern]!;
    const byWeight = [...roots].sort((a, b) => this.#weights[b]! - this.#weights[a]! || a - b);
    const second = byWeight[1];
    if (second !== undefined && this.#rows[pattern]! < JOINING_SHARE * this.#weights[second]!) {
      this.#crosses[pattern] = 1;
      return;
    }
    for (const root of byWeight) this.#unite(root, pattern);
    for (const c of fitting) if (isFree[c] === 1 && firstOf[c] === 0) firstOf[c] = pattern + 1;
  }

  #unite(a: number, b: number): void {
    const [rootOfA, rootOfB] = [this.#rootOf(a), this.#rootOf(b)];
    if (rootOfA === rootOfB) return;
    this.#parents[rootOfB] = rootOfA;
    this.#weights[rootOfA]! += this.#weights[rootOfB]!;
  }

  /** By class: 1 if it has Idle or Speculative machines. */
  #freeClasses(): Uint8Array {
    const { fleet, freeMachines } = this.#cycle;
    const { arena, classOf, specialIdle } = fleet.machines;
    const isFree = new Uint8Array(fleet.classes.size);
    for (const c of freeMachines.idle.holding()) isFree[c] = 1;
    for (const c of freeMachines.speculative.holding()) isFree[c] = 1;
    for (let i = specialIdle.offset; i < specialIdle.offset + specialIdle.length; i++)
      isFree[classOf[arena.data[i]!]!] = 1;
    return isFree;
  }

  /** Assigns components and clusters to lanes: fills `laneOfCluster`, and returns the lane of each component. */
  assign(
    lanes: number,
    pinned: ReadonlySet<number>,
    divides: boolean,
    laneOfCluster: Int32Array,
  ): ReadonlyMap<number, number> {
    const homes = this.#homes();
    /** By component, heaviest first: its clusters with their rows. */
    const clusters = new Map<number, [cluster: number, rows: number][]>();
    for (const [cluster, { component, rows }] of homes) {
      const others = clusters.get(component);
      if (others === undefined) clusters.set(component, [[cluster, rows]]);
      else others.push([cluster, rows]);
    }
    const weights = new Map([...clusters].map(([c, list]) => [c, list.reduce((sum, [, n]) => sum + n, 0)]));
    const heaviest = [...clusters.keys()].sort((a, b) => weights.get(b)! - weights.get(a)! || a - b);
    const loads = new Float64Array(lanes);
    const laneOf = new Map<number, number>();
    const most = this.#order.length / lanes;
    const isPinned = (component: number): boolean =>
      pinned.size > 0 && clusters.get(component)!.some(([cluster]) => pinned.has(cluster));
    for (const component of heaviest) {
      const members = clusters.get(component)!;
      if (isPinned(component)) place(component, members, 0);
      else if (divides && weights.get(component)! > most) for (const member of members) divide(member);
      else if (component === NO_COMPONENT) for (const member of members) divide(member);
      else place(component, members, lightest());
    }
    return laneOf;

    function lightest(): number {
      return loads.indexOf(Math.min(...loads));
    }
    function place(component: number, members: readonly [number, number][], lane: number): void {
      laneOf.set(component, lane);
      for (const [cluster, rows] of members) {
        laneOfCluster[cluster] = lane;
        loads[lane]! += rows;
      }
    }
    function divide([cluster, rows]: readonly [number, number]): void {
      const lane = lightest();
      laneOfCluster[cluster] = lane;
      loads[lane]! += rows;
    }
  }

  /** By cluster: its rows, and the component that most of them belong to. */
  #homes(): ReadonlyMap<number, { readonly component: number; readonly rows: number }> {
    const { cluster, pattern } = this.#cycle.rankedRows;
    /** By cluster: rows by component. */
    const counts = new Map<number, Map<number, number>>();
    for (let i = 0; i < this.#order.length; i++) {
      const rankedRow = this.#order[i]!;
      const number = pattern[rankedRow]!;
      const component = this.#crosses[number] === 1 ? NO_COMPONENT : this.of(number);
      let byComponent = counts.get(cluster[rankedRow]!);
      if (byComponent === undefined) {
        byComponent = new Map();
        counts.set(cluster[rankedRow]!, byComponent);
      }
      byComponent.set(component, (byComponent.get(component) ?? 0) + 1);
    }
    const homes = new Map<number, { component: number; rows: number }>();
    for (const [number, byComponent] of counts) {
      let rows = 0;
      let component = NO_COMPONENT;
      let most = 0;
      for (const [candidate, count] of byComponent) {
        rows += count;
        if (candidate === NO_COMPONENT || count < most || (count === most && candidate > component)) continue;
        component = candidate;
        most = count;
      }
      homes.set(number, { component, rows });
    }
    return homes;
  }
}
