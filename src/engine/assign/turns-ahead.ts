// Rows of the pass that are served before their turn. With sharing, all rows of a cluster behind the first one that needs
// free machines are in the pass, because they may borrow what it acquires. Most of them need nothing but their cluster, and
// rows of other clusters do not depend on them. Serving them right behind it reads the memory of the cluster once; in
// rank order, which changes cluster with every row, each of them would wait for it. A part of `Cycle`, used by serve.ts.

import type { Cycle } from '../cycle.ts';
import { NONE } from './ranked-rows.ts';

/** What was done of a row before its turn: nothing; what its cluster has, which is not enough; or all. */
export const Ahead = { Nothing: 0, Begun: 1, Served: 2 } as const;
export type Ahead = (typeof Ahead)[keyof typeof Ahead];

/** By cluster: rows are served in their turn; ahead; or ahead, and the next one is begun. */
const State = { InTurn: 0, Ahead: 1, Begun: 2 } as const;

export class TurnsAhead {
  readonly #cycle: Cycle;
  /** Whether rows of the pass may be served ahead. */
  isOn = false;
  #state = new Uint8Array(0);
  /** By cluster: index in `credits.pending` of its first row that is not served. */
  #cursor = new Uint32Array(0);
  /** By cluster: its ranked rows before this one are served, if they are in the pass. */
  #next = new Uint32Array(0);

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /**
   * Begins a pass. Rows of a cluster without machines mostly need free ones, so without `always` nothing is done ahead there:
   * it would not save time, but a lane that must wait has time. A row that is served without machines to be replaced is
   * served in its turn. `laneOf`: of clusters with a number above 0 nothing is done here, since another lane serves them.
   */
  open(always: boolean, laneOf: Uint8Array | null = null): void {
    const { explains, rankedRows, retiring, sharing, walk } = this.#cycle;
    const { start } = rankedRows;
    // An explained row examines its cluster as it is at its turn.
    this.isOn = sharing.isActive && !explains;
    if (!this.isOn) return;
    this.#cursor = start.slice();
    this.#next = new Uint32Array(start.length);
    this.#state = new Uint8Array(start.length).fill(State.Ahead);
    for (let cluster = 0; cluster < start.length; cluster++)
      if (retiring.isIn[cluster] === 1 || (!always && walk.countOf(cluster) === 0))
        this.#state[cluster] = State.InTurn;
    if (laneOf === null) return;
    for (let cluster = 0; cluster < laneOf.length; cluster++)
      if (laneOf[cluster]! > 0) this.#state[cluster] = State.InTurn;
  }

  /** Begins the turn of a ranked row. */
  begin(rankedRow: number): Ahead {
    if (!this.isOn) return Ahead.Nothing;
    const { cluster: clusterOf, end } = this.#cycle.rankedRows;
    const cluster = clusterOf[rankedRow]!;
    const state = this.#state[cluster];
    // A member that its fold cannot host has its turn within that of the fold.
    if (state === State.InTurn || rankedRow >= end[cluster]!) return Ahead.Nothing;
    if (rankedRow < this.#next[cluster]!) return Ahead.Served;
    this.#state[cluster] = State.Ahead;
    this.#advance(cluster, rankedRow);
    return state === State.Begun ? Ahead.Begun : Ahead.Nothing;
  }

  /** Index in `credits.pending` of the first row of a cluster that is not served; its end if all are. */
  cursorOf(cluster: number): number {
    return this.#cursor[cluster]!;
  }

  #advance(cluster: number, served: number): void {
    this.#cursor[cluster]!++;
    this.#next[cluster] = served + 1;
  }

  /** Whether a ranked row of the pass is served, so that nothing of it is read at its turn. */
  isServed(rankedRow: number): boolean {
    return this.isOn && rankedRow < this.#next[this.#cycle.rankedRows.cluster[rankedRow]!]!;
  }

  /** The next row of a cluster, if it can be begun before its turn; NONE if not, or if it is begun already. */
  nextIn(cluster: number): number {
    const { credits, rankedRows, sharing } = this.#cycle;
    if (!this.isOn) return NONE;
    const cursor = this.#cursor[cluster]!;
    if (this.#state[cluster] !== State.Ahead || cursor === credits.pendingEnd[cluster]) return NONE;
    const next = credits.pending[cursor]!;
    // Gangs and folds choose among free machines, and rows of other clusters may have taken machines in flight.
    return sharing.lends(next) && rankedRows.hasInFlight[next] === 0 ? next : NONE;
  }

  /** A row of `nextIn` is served; or it is only begun, because its cluster does not have enough. */
  note(rankedRow: number, isServed: boolean): void {
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    if (isServed) this.#advance(cluster, rankedRow);
    else this.#state[cluster] = State.Begun;
  }
}
