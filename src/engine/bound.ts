// Bound machines as rows see them: each turn's own, each cluster's orphans (owned by no live row), and all of a
// cluster. Worked out once per cycle, so that a row that has what it wants looks at its own machines only.

import type { Fleet } from '../fleet/index.ts';
import { NONE, roomFor, type Turns } from './turns.ts';

export class BoundIndex {
  /** Own bound machines of a turn: `ownSlots[ownStart[turn] … ownEnd[turn] − 1]`, Configured first, keep order. */
  ownStart = new Uint32Array(0);
  ownEnd = new Uint32Array(0);
  ownSlots = new Uint32Array(0);
  /** Orphans of a cluster, likewise. */
  orphanStart = new Uint32Array(0);
  orphanEnd = new Uint32Array(0);
  orphanSlots = new Uint32Array(0);
  /** By place in the runs of the cluster being indexed: the turns that own the machine, by stamp and by target. */
  #byStamp = new Int32Array(0);
  #byTarget = new Int32Array(0);

  /** Indexes a fleet anew. */
  fill(fleet: Fleet, turns: Turns): void {
    this.#reserve(fleet, turns);
    const { machines } = fleet;
    let ownAt = 0;
    let orphanAt = 0;
    for (let cluster = 1; cluster < fleet.clusters.size; cluster++) {
      const runs = machines.boundOf(cluster);
      if (runs === undefined) continue;
      this.orphanStart[cluster] = orphanAt;
      let at = 0;
      for (const run of [runs.configured, runs.configuring]) {
        for (let i = run.offset; i < run.offset + run.length; i++, at++) {
          const slot = machines.arena.data[i]!;
          const stamped = turns.ofKey[machines.stampKey[slot]!]!;
          const targeted = machines.target[slot] === 0 ? NONE : turns.ofKey[machines.target[slot]!]!;
          this.#byStamp[at] = stamped;
          // A target may name a row of another cluster; the machine is that row's own, but bound to this one.
          const here = targeted !== NONE && targeted !== stamped && turns.cluster[targeted] === cluster;
          this.#byTarget[at] = here ? targeted : NONE;
          if (stamped !== NONE) this.ownEnd[stamped]!++;
          if (here) this.ownEnd[targeted]!++;
          if (stamped === NONE && targeted === NONE) this.orphanSlots[orphanAt++] = slot;
        }
      }
      this.orphanEnd[cluster] = orphanAt;
      // Counts become places: `ownEnd` runs from the start of each turn's part to its end while it is filled.
      for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++) {
        const count = this.ownEnd[turn]!;
        this.ownStart[turn] = ownAt;
        this.ownEnd[turn] = ownAt;
        ownAt += count;
      }
      at = 0;
      for (const run of [runs.configured, runs.configuring]) {
        for (let i = run.offset; i < run.offset + run.length; i++, at++) {
          const slot = machines.arena.data[i]!;
          if (this.#byStamp[at] !== NONE) this.ownSlots[this.ownEnd[this.#byStamp[at]!]!++] = slot;
          if (this.#byTarget[at] !== NONE) this.ownSlots[this.ownEnd[this.#byTarget[at]!]!++] = slot;
        }
      }
    }
  }

  #reserve(fleet: Fleet, turns: Turns): void {
    let bound = 0;
    let most = 0;
    for (let cluster = 1; cluster < fleet.clusters.size; cluster++) {
      const runs = fleet.machines.boundOf(cluster);
      const count = runs === undefined ? 0 : runs.configured.length + runs.configuring.length;
      bound += count;
      most = Math.max(most, count);
    }
    if (this.ownStart.length < turns.kind.length) {
      this.ownStart = new Uint32Array(turns.kind.length);
      this.ownEnd = new Uint32Array(turns.kind.length);
    } else {
      this.ownStart.fill(0);
      this.ownEnd.fill(0);
    }
    if (this.orphanStart.length < fleet.clusters.size) {
      this.orphanStart = new Uint32Array(roomFor(fleet.clusters.size));
      this.orphanEnd = new Uint32Array(roomFor(fleet.clusters.size));
    } else {
      this.orphanStart.fill(0);
      this.orphanEnd.fill(0);
    }
    if (this.orphanSlots.length < bound) {
      this.orphanSlots = new Uint32Array(roomFor(bound));
      // A machine whose stamp and target name two live rows is both rows' own.
      this.ownSlots = new Uint32Array(roomFor(bound) * 2);
    }
    if (this.#byStamp.length < most) {
      this.#byStamp = new Int32Array(roomFor(most));
      this.#byTarget = new Int32Array(roomFor(most));
    }
  }
}

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
    const { ownSlots, orphanSlots } = this.#bound;
    if (this.#orphan === this.#orphanEnd) return this.#own === this.#ownEnd ? NONE : ownSlots[this.#own++]!;
    if (this.#own === this.#ownEnd) return orphanSlots[this.#orphan++]!;
    const { classes, machines } = this.#fleet;
    const mine = ownSlots[this.#own]!;
    const nobodys = orphanSlots[this.#orphan]!;
    const order =
      machines.state[nobodys]! - machines.state[mine]! || // Configured has the larger number
      classes.price[machines.classOf[mine]!]! - classes.price[machines.classOf[nobodys]!]!;
    return order <= 0 ? ownSlots[this.#own++]! : orphanSlots[this.#orphan++]!;
  }
}
