// Bound machines as rows see them: each ranked row's own, each cluster's orphans (owned by no live row), and all of a
// cluster. The index is kept for clusters that do not change, so that a covered row reads only its own machines.
//
// `BoundIndex`, `OwnAndOrphanWalk` and `BoundWalk` are parts of a `Cycle`: Phase 1 credits through them (credit.ts,
// spread-credit.ts, domain-sums.ts), and credits.ts and Phase 2 (preempt.ts) walk bound machines with `BoundWalk`.

import { withRoom } from '../../collections/columns.ts';
import { ColumnGroup, type ReadonlyColumn, type ReadonlyColumns } from '../../collections/table.ts';
import type { FleetView } from '../../fleet/index.ts';
import { NONE, type RankedRowsView } from './ranked-rows.ts';
import { Regions } from './regions.ts';

export class BoundIndex {
  readonly #fleet: FleetView;
  readonly #rankedRows: RankedRowsView;
  readonly #walk: BoundWalkView;
  readonly entries = new ColumnGroup(this);
  readonly slots = this.entries.u32();

  readonly byRankedRow = new ColumnGroup(this);
  /** Its own bound machines: `slots[ownStart … ownEnd − 1]`, Configured first, each part in keep order. */
  readonly ownStart = this.byRankedRow.u32();
  readonly ownEnd = this.byRankedRow.u32();

  readonly byCluster = new ColumnGroup(this);
  /** Its orphans: `slots[orphanStart … orphanEnd − 1]`. */
  readonly orphanStart = this.byCluster.u32();
  readonly orphanEnd = this.byCluster.u32();
  /** Start of its part of `slots`. */
  readonly region = this.byCluster.u32();

  readonly #regions = new Regions();
  /**
   * By position in the slices of the cluster being indexed: the ranked rows that own the machine, by stamp and by target.
   */
  #byStamp = new Int32Array(0);
  #byTarget = new Int32Array(0);

  constructor(fleet: FleetView, rankedRows: RankedRowsView, walk: BoundWalkView) {
    this.#fleet = fleet;
    this.#rankedRows = rankedRows;
    this.#walk = walk;
  }

  /** Reserves room for the index of clusters whose room for ranked rows is reserved. */
  reserve(clusters: readonly number[]): void {
    this.byRankedRow.reserve(this.#rankedRows.kind.length);
    this.byCluster.reserve(this.#fleet.clusters.size);
    // A machine may belong to one row by stamp and to another by target.
    for (const cluster of clusters)
      this.region[cluster] = this.#regions.reserve(cluster, 2 * this.#walk.countOf(cluster));
    this.entries.reserve(this.#regions.end);
  }

  /** Returns the room of a cluster's index. */
  release(cluster: number): void {
    this.region[cluster] = this.#regions.reserve(cluster, 0);
  }

  /**
   * Rebuilds the index of a cluster whose ranked rows are made. Unless the ranked rows of all clusters are made
   * (`allMade`), returns false if a machine is on its way to a row that is not the cluster's.
   */
  index(cluster: number, allMade: boolean): boolean {
    const start = this.#rankedRows.start[cluster]!;
    const end = this.#rankedRows.end[cluster]!;
    this.ownEnd.fill(0, start, end);
    if (!this.#count(cluster, allMade)) return false;
    // Counts become positions: while it is filled, `ownEnd` moves from the start of each ranked row's part to its end.
    let next = this.region[cluster]!;
    for (let rankedRow = start; rankedRow < end; rankedRow++) {
      const count = this.ownEnd[rankedRow]!;
      this.ownStart[rankedRow] = next;
      this.ownEnd[rankedRow] = next;
      next += count;
    }
    this.orphanStart[cluster] = next;
    this.orphanEnd[cluster] = next;
    this.#fill(cluster);
    return true;
  }

  /** Finds the owners of each bound machine, and counts the machines of each ranked row in `ownEnd`. */
  #count(cluster: number, allMade: boolean): boolean {
    const { cluster: clusterOf, end, ofKey, start } = this.#rankedRows;
    const { stampKey, target } = this.#fleet.machines;
    const bound = this.#walk.countOf(cluster);
    this.#byStamp = withRoom(this.#byStamp, bound);
    this.#byTarget = withRoom(this.#byTarget, bound);
    const walk = this.#walk.begin(cluster);
    for (let at = 0; at < bound; at++) {
      const slot = walk.next();
      const stamped = ofKey[stampKey[slot]!]!;
      const targeted = target[slot] === 0 ? NONE : ofKey[target[slot]!]!;
      if (target[slot] !== 0 && !allMade) {
        if (targeted < start[cluster]! || targeted >= end[cluster]!) return false;
      }
      // A target may name a row of another cluster; the machine belongs to that row, but is bound to this cluster.
      const here = targeted !== NONE && targeted !== stamped && clusterOf[targeted] === cluster;
      this.#byStamp[at] = stamped === NONE && targeted === NONE ? ORPHAN : stamped;
      this.#byTarget[at] = here ? targeted : NONE;
      if (stamped !== NONE) this.ownEnd[stamped]!++;
      if (here) this.ownEnd[targeted]!++;
    }
    return true;
  }

  #fill(cluster: number): void {
    const walk = this.#walk.begin(cluster);
    let at = 0;
    for (let slot = walk.next(); slot !== NONE; slot = walk.next(), at++) {
      const stamped = this.#byStamp[at]!;
      const targeted = this.#byTarget[at]!;
      if (stamped === ORPHAN) this.slots[this.orphanEnd[cluster]!++] = slot;
      else if (stamped !== NONE) this.slots[this.ownEnd[stamped]!++] = slot;
      if (targeted !== NONE) this.slots[this.ownEnd[targeted]!++] = slot;
    }
  }

  /**
   * Whether a bound machine is on its way to another cluster's row: then its owner depends on that cluster's ranked rows.
   */
  targetsOtherClusters(cluster: number): boolean {
    const { keys, machines } = this.#fleet;
    const walk = this.#walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      const target = machines.target[slot]!;
      if (target !== 0 && keys.clusterOf(target) !== cluster) return true;
    }
    return false;
  }
}

/** In the column of owners by stamp: no owner, neither by stamp nor by target. */
const ORPHAN = -2;

/**
 * Walks a ranked row's own machines and its cluster's orphans as one list: Configured before Configuring, then by use and
 * price, own before orphans where these are equal. One instance is reused for all ranked rows.
 */
export class OwnAndOrphanWalk {
  readonly #fleet: FleetView;
  readonly #bound: ReadonlyColumns<BoundIndex>;
  readonly #rankedRows: RankedRowsView;
  #slots: ReadonlyColumn<Uint32Array> = new Uint32Array(0);
  #own = 0;
  #ownEnd = 0;
  #orphan = 0;
  #orphanEnd = 0;

  constructor(fleet: FleetView, bound: ReadonlyColumns<BoundIndex>, rankedRows: RankedRowsView) {
    this.#fleet = fleet;
    this.#bound = bound;
    this.#rankedRows = rankedRows;
  }

  begin(rankedRow: number): this {
    const cluster = this.#rankedRows.cluster[rankedRow]!;
    this.#slots = this.#bound.slots;
    this.#own = this.#bound.ownStart[rankedRow]!;
    this.#ownEnd = this.#bound.ownEnd[rankedRow]!;
    this.#orphan = this.#bound.orphanStart[cluster]!;
    this.#orphanEnd = this.#bound.orphanEnd[cluster]!;
    return this;
  }

  get left(): number {
    return this.#ownEnd - this.#own + this.#orphanEnd - this.#orphan;
  }

  /** The next slot, or NONE. */
  next(): number {
    const slots = this.#slots;
    if (this.#orphan === this.#orphanEnd) return this.#own === this.#ownEnd ? NONE : slots[this.#own++]!;
    if (this.#own === this.#ownEnd) return slots[this.#orphan++]!;
    const { machines } = this.#fleet;
    const mine = slots[this.#own]!;
    const orphan = slots[this.#orphan]!;
    const order =
      machines.state[orphan]! - machines.state[mine]! || // Configured has the larger number
      machines.useAndPriceOrder(mine, orphan);
    return order <= 0 ? slots[this.#own++]! : slots[this.#orphan++]!;
  }
}

/** The walk as other files see it: columns read-only, methods not. */
export type BoundWalkView = ReadonlyColumns<BoundWalk>;

/** Walks all bound machines of a cluster: Configured first, each part in keep order. One walk at a time. */
export class BoundWalk {
  readonly #fleet: FleetView;
  readonly byCluster = new ColumnGroup(this);
  /** Four numbers per cluster: start and end of its Configured slice, then of its Configuring slice. */
  readonly slices = this.byCluster.u32();
  #slots: ReadonlyColumn<Uint32Array> = new Uint32Array(0);
  #at = 0;
  #end = 0;
  #then = 0;
  #thenEnd = 0;

  constructor(fleet: FleetView) {
    this.#fleet = fleet;
  }

  /** Records the current position of the clusters' slices. */
  locate(clusters: readonly number[]): void {
    this.byCluster.reserve(this.#fleet.clusters.size * 4);
    for (const cluster of clusters) {
      const bound = this.#fleet.machines.boundOf(cluster);
      const at = cluster * 4;
      if (bound === undefined) this.slices.fill(0, at, at + 4);
      else {
        const { configured, configuring } = bound;
        this.slices[at] = configured.offset;
        this.slices[at + 1] = configured.offset + configured.length;
        this.slices[at + 2] = configuring.offset;
        this.slices[at + 3] = configuring.offset + configuring.length;
      }
    }
  }

  countOf(cluster: number): number {
    const at = cluster * 4;
    return this.slices[at + 1]! - this.slices[at]! + this.slices[at + 3]! - this.slices[at + 2]!;
  }

  begin(cluster: number): this {
    const at = cluster * 4;
    this.#slots = this.#fleet.machines.arena.data;
    this.#at = this.slices[at]!;
    this.#end = this.slices[at + 1]!;
    this.#then = this.slices[at + 2]!;
    this.#thenEnd = this.slices[at + 3]!;
    return this;
  }

  /** Walks slots of a list, in its order. */
  beginList(slots: ReadonlyColumn<Uint32Array>, from: number, to: number): this {
    this.#slots = slots;
    this.#at = from;
    this.#end = this.#then = this.#thenEnd = to;
    return this;
  }

  /** The next slot, or NONE. */
  next(): number {
    if (this.#at === this.#end) {
      if (this.#then === this.#thenEnd) return NONE;
      this.#at = this.#then;
      this.#end = this.#thenEnd;
      this.#then = this.#thenEnd;
    }
    return this.#slots[this.#at++]!;
  }
}
