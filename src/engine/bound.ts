// Bound machines as rows see them: each turn's own, each cluster's orphans (owned by no live row), and all of a
// cluster. Worked out once per cycle, so that a row that has what it wants looks at its own machines only.

import type { Fleet } from '../fleet/index.ts';
import { NONE, type Turns } from './turns.ts';

export class BoundIndex {
  readonly #fleet: Fleet;
  /** Own bound machines of a turn: `ownSlots[ownStart[turn] … ownEnd[turn] − 1]`, Configured first, keep order. */
  readonly ownStart: Uint32Array;
  readonly ownEnd: Uint32Array;
  readonly ownSlots: Uint32Array;
  /** Orphans of a cluster, likewise. */
  readonly orphanStart: Uint32Array;
  readonly orphanEnd: Uint32Array;
  readonly orphanSlots: Uint32Array;

  constructor(fleet: Fleet, turns: Turns) {
    this.#fleet = fleet;
    const { machines } = fleet;
    let bound = 0;
    for (let cluster = 1; cluster < fleet.clusters.size; cluster++) bound += this.boundCount(cluster);
    this.ownStart = new Uint32Array(turns.kind.length);
    this.ownEnd = new Uint32Array(turns.kind.length);
    // A machine whose stamp and target name two live rows is both rows' own.
    this.ownSlots = new Uint32Array(bound * 2);
    this.orphanStart = new Uint32Array(fleet.clusters.size);
    this.orphanEnd = new Uint32Array(fleet.clusters.size);
    this.orphanSlots = new Uint32Array(bound);

    const byStamp = new Int32Array(bound);
    const byTarget = new Int32Array(bound);
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
          byStamp[at] = stamped;
          // A target may name a row of another cluster; the machine is that row's own, but bound to this one.
          const here = targeted !== NONE && targeted !== stamped && turns.cluster[targeted] === cluster;
          byTarget[at] = here ? targeted : NONE;
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
          if (byStamp[at] !== NONE) this.ownSlots[this.ownEnd[byStamp[at]!]!++] = slot;
          if (byTarget[at] !== NONE) this.ownSlots[this.ownEnd[byTarget[at]!]!++] = slot;
        }
      }
    }
  }

  boundCount(cluster: number): number {
    const runs = this.#fleet.machines.boundOf(cluster);
    return runs === undefined ? 0 : runs.configured.length + runs.configuring.length;
  }
}
