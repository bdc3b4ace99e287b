// Bound machines as rows see them: each turn's own, each cluster's orphans (owned by no live row), and all of a
// cluster. Kept for clusters that do not change, so that a row that has what it wants looks at its own machines only.

import { type Block, Blocks, type Fleet } from '../fleet/index.ts';
import { NONE, type Turns, withRoom } from './turns.ts';

export class BoundIndex {
  readonly #fleet: Fleet;
  readonly #turns: Turns;
  slots = new Uint32Array(0);
  /** Own bound machines of a turn: `slots[ownStart[turn] … ownEnd[turn] − 1]`, Configured first, keep order. */
  ownStart = new Uint32Array(0);
  ownEnd = new Uint32Array(0);
  /** Orphans of a cluster, likewise. */
  orphanStart = new Uint32Array(0);
  orphanEnd = new Uint32Array(0);
  /** Clusters with a machine on its way to another cluster's row: what it is to them is not theirs to know. */
  readonly entangled = new Set<number>();

  readonly #blocks = new Blocks();
  readonly #places: (Block | undefined)[] = [];
  /** By place in the runs of the cluster being indexed: the turns that own the machine, by stamp and by target. */
  #byStamp = new Int32Array(0);
  #byTarget = new Int32Array(0);

  constructor(fleet: Fleet, turns: Turns) {
    this.#fleet = fleet;
    this.#turns = turns;
  }

  /** Indexes the bound machines of a cluster anew; the turns of all clusters are made. */
  index(cluster: number): void {
    const turns = this.#turns;
    const { machines } = this.#fleet;
    this.ownStart = withRoom(this.ownStart, turns.limit);
    this.ownEnd = withRoom(this.ownEnd, turns.limit);
    this.orphanStart = withRoom(this.orphanStart, this.#fleet.clusters.size);
    this.orphanEnd = withRoom(this.orphanEnd, this.#fleet.clusters.size);
    const old = this.#places[cluster];
    if (old !== undefined) this.#blocks.giveBack(old);
    this.#places[cluster] = undefined;
    this.entangled.delete(cluster);
    const start = turns.start[cluster]!;
    const end = turns.end[cluster]!;
    this.ownEnd.fill(0, start, end);
    this.ownStart.fill(0, start, end);
    this.orphanStart[cluster] = 0;
    this.orphanEnd[cluster] = 0;
    const runs = machines.boundOf(cluster);
    if (runs === undefined) return;

    const bound = runs.configured.length + runs.configuring.length;
    this.#byStamp = withRoom(this.#byStamp, bound);
    this.#byTarget = withRoom(this.#byTarget, bound);
    let orphans = 0;
    let owned = 0;
    let at = 0;
    for (const run of [runs.configured, runs.configuring]) {
      for (let i = run.offset; i < run.offset + run.length; i++, at++) {
        const slot = machines.arena.data[i]!;
        const stamped = turns.ofKey[machines.stampKey[slot]!]!;
        const targeted = machines.target[slot] === 0 ? NONE : turns.ofKey[machines.target[slot]!]!;
        // A target may name a row of another cluster; the machine is that row's own, but bound to this one.
        const here = targeted !== NONE && targeted !== stamped && turns.cluster[targeted] === cluster;
        if (machines.target[slot] !== 0 && !this.#isOf(machines.target[slot]!, cluster))
          this.entangled.add(cluster);
        this.#byStamp[at] = stamped;
        this.#byTarget[at] = here ? targeted : NONE;
        if (stamped !== NONE) {
          this.ownEnd[stamped]!++;
          owned++;
        }
        if (here) {
          this.ownEnd[targeted]!++;
          owned++;
        }
        if (stamped === NONE && targeted === NONE) {
          this.#byStamp[at] = ORPHAN;
          orphans++;
        }
      }
    }
    const place = this.#blocks.take(owned + orphans);
    this.#places[cluster] = place;
    this.slots = withRoom(this.slots, this.#blocks.end);
    // Counts become places: `ownEnd` runs from the start of each turn's part to its end while it is filled.
    let free = place.offset;
    for (let turn = start; turn < end; turn++) {
      const count = this.ownEnd[turn]!;
      this.ownStart[turn] = free;
      this.ownEnd[turn] = free;
      free += count;
    }
    this.orphanStart[cluster] = free;
    this.orphanEnd[cluster] = free;
    at = 0;
    for (const run of [runs.configured, runs.configuring]) {
      for (let i = run.offset; i < run.offset + run.length; i++, at++) {
        const slot = machines.arena.data[i]!;
        const stamped = this.#byStamp[at]!;
        if (stamped === ORPHAN) this.slots[this.orphanEnd[cluster]!++] = slot;
        else if (stamped !== NONE) this.slots[this.ownEnd[stamped]!++] = slot;
        if (this.#byTarget[at] !== NONE) this.slots[this.ownEnd[this.#byTarget[at]!]!++] = slot;
      }
    }
  }

  #isOf(key: number, cluster: number): boolean {
    return this.#fleet.keys.clusterOf(key) === cluster;
  }
}

/** In the column of owners by stamp: nobody's, neither by stamp nor by target. */
const ORPHAN = -2;

/**
 * Walks a turn's own machines and its cluster's orphans as one list: Configured before Configuring, cheaper first, own
 * before orphans at equal price. One instance serves all turns, one after the other.
 */
export class MineWalk {
  readonly #fleet: Fleet;
  readonly #bound: BoundIndex;
  readonly #turns: Turns;
  #own = 0;
  #ownEnd = 0;
  #orphan = 0;
  #orphanEnd = 0;

  constructor(fleet: Fleet, bound: BoundIndex, turns: Turns) {
    this.#fleet = fleet;
    this.#bound = bound;
    this.#turns = turns;
  }

  begin(turn: number): this {
    const cluster = this.#turns.cluster[turn]!;
    this.#own = this.#bound.ownStart[turn]!;
    this.#ownEnd = this.#bound.ownEnd[turn]!;
    this.#orphan = this.#bound.orphanStart[cluster]!;
    this.#orphanEnd = this.#bound.orphanEnd[cluster]!;
    return this;
  }

  /** The next slot, or NONE. */
  next(): number {
    const { slots } = this.#bound;
    if (this.#orphan === this.#orphanEnd) return this.#own === this.#ownEnd ? NONE : slots[this.#own++]!;
    if (this.#own === this.#ownEnd) return slots[this.#orphan++]!;
    const { classes, machines } = this.#fleet;
    const mine = slots[this.#own]!;
    const nobodys = slots[this.#orphan]!;
    const order =
      machines.state[nobodys]! - machines.state[mine]! || // Configured has the larger number
      classes.price[machines.classOf[mine]!]! - classes.price[machines.classOf[nobodys]!]!;
    return order <= 0 ? slots[this.#own++]! : slots[this.#orphan++]!;
  }
}

/** Walks all bound machines of a cluster: Configured first, each part in keep order. Serves one walk at a time. */
export class BoundWalk {
  readonly #fleet: Fleet;
  /** By cluster, four numbers: where its Configured run starts and ends, and its Configuring run. */
  runs = new Uint32Array(0);
  #at = 0;
  #end = 0;
  #then = 0;
  #thenEnd = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Notes where the runs of a cluster are now. */
  locate(cluster: number): void {
    this.runs = withRoom(this.runs, this.#fleet.clusters.size * 4);
    const bound = this.#fleet.machines.boundOf(cluster);
    const at = cluster * 4;
    if (bound === undefined) {
      this.runs.fill(0, at, at + 4);
      return;
    }
    const { configured, configuring } = bound;
    this.runs[at] = configured.offset;
    this.runs[at + 1] = configured.offset + configured.length;
    this.runs[at + 2] = configuring.offset;
    this.runs[at + 3] = configuring.offset + configuring.length;
  }

  begin(cluster: number): this {
    const at = cluster * 4;
    this.#at = this.runs[at]!;
    this.#end = this.runs[at + 1]!;
    this.#then = this.runs[at + 2]!;
    this.#thenEnd = this.runs[at + 3]!;
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
    return this.#fleet.machines.arena.data[this.#at++]!;
  }
}
