// A cluster lane: serves rows of its clusters as far as they need no free machines, ahead of their turn. What a row lacks it
// requests of the acquiring lane, and goes on with other clusters; after the response it goes on with the rows behind that
// row. Run by lanes.ts on the thread of the cycle and by shared-state.ts on worker threads.

import { NONE } from '../assign/ranked-rows.ts';
import { beginNext, LanesAbandoned } from '../assign/serve.ts';
import type { Share } from '../assign/sharing.ts';
import { Ahead } from '../assign/turns-ahead.ts';
import { RowPrefetch } from '../assign/waiting-rows.ts';
import type { Cycle } from '../cycle.ts';
import { LaneClock, LaneStep } from './lane.ts';
import { Answer, Requests, type RequestsMemory } from './requests.ts';

/** Input of the acquiring lane and of all cluster lanes of a pass, on any thread. */
export interface ClusterWork {
  /** Ranked rows in rank order. */
  readonly order: Uint32Array;
  /** By cluster: its lane; 0 is the acquiring lane. */
  readonly laneOf: Uint8Array;
  readonly requests: RequestsMemory;
  readonly control: Int32Array;
  /** By lane: where its claims begin in `claims.slots`. */
  readonly claimsStart: readonly number[];
  /** How often a lane that must wait reads the numbers of another before it parks. */
  readonly retries: number;
  /** Milliseconds after which a lane that waits gives up all lanes. */
  readonly patienceMs: number;
}

/** Above every place in rank order. */
const LAST = 0x7fffffff;

export class ClusterLane {
  readonly cycle: Cycle;
  readonly claimsStart: number;
  /** By unmet ranked row: what it borrows. */
  readonly shares: [number, readonly Share[]][] = [];
  readonly clock: LaneClock;
  readonly #work: ClusterWork;
  readonly #number: number;
  readonly #requests: Requests;
  /** By index in `credits.pending`: place in rank order. */
  readonly #places: Uint32Array;
  /** Its clusters in the order of their first rows, and how many of them are begun. */
  readonly #clusters: number[] = [];
  #begun = 0;
  /** The response that the lane goes on with next, or NONE, and the place of the row behind it in its cluster. */
  #response = NONE;
  #placeBehind = LAST;
  /** Its rows in rank order, and the rows behind them in memory, which are mostly those that it goes on with. */
  readonly #rows: Uint32Array;
  readonly #following: Uint32Array;
  /** Index of the row behind the last one that it has read a response to. */
  #index = 0;
  readonly #prefetch: RowPrefetch;
  /** Rows that are not served. */
  #left = 0;

  constructor(cycle: Cycle, work: ClusterWork, number: number) {
    const { laneOf, order } = work;
    const { cluster: clusterOf, start } = cycle.rankedRows;
    this.cycle = cycle;
    this.claimsStart = work.claimsStart[number]!;
    this.#work = work;
    this.#number = number;
    this.#requests = new Requests(work.requests);
    this.clock = new LaneClock(work.patienceMs);
    this.#places = new Uint32Array(cycle.rankedRows.kind.length);
    this.#prefetch = new RowPrefetch(cycle);
    const cursor = start.slice();
    const rows = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) {
      const cluster = clusterOf[order[i]!]!;
      if (laneOf[cluster] !== number) continue;
      if (cursor[cluster] === start[cluster]) this.#clusters.push(cluster);
      this.#places[cursor[cluster]!++] = i;
      rows[this.#left++] = order[i]!;
    }
    this.#rows = rows.subarray(0, this.#left);
    const last = this.#places.length - 1;
    this.#following = this.#rows.map((row) => Math.min(row + 1, last));
    cycle.turnsAhead.open(true);
  }

  /** Goes on behind the next response, or begins the next cluster, whichever the acquiring lane needs first. */
  step(): LaneStep {
    if (this.#response === NONE) this.#response = this.#receive();
    const response = this.#response;
    const cluster = this.#clusters[this.#begun];
    if (cluster !== undefined && this.#places[this.cycle.rankedRows.start[cluster]!]! < this.#placeBehind) {
      this.#begun++;
      this.#goOn(cluster);
    } else if (response !== NONE) {
      this.#response = NONE;
      this.#placeBehind = LAST;
      this.#resume(response);
    } else return this.#left === 0 ? LaneStep.Done : LaneStep.Waits;
    return LaneStep.Served;
  }

  /** The next response to a row of this lane; NONE if there is none yet. */
  #receive(): number {
    const { credits, rankedRows, turnsAhead } = this.cycle;
    const requests = this.#requests;
    for (let response = requests.next(); response !== NONE; response = requests.next()) {
      const rankedRow = requests.rankedRowOf(response);
      const cluster = rankedRows.cluster[rankedRow]!;
      if (this.#work.laneOf[cluster] !== this.#number) continue;
      while (this.#rows[this.#index] !== rankedRow) this.#prefetch.at(this.#index++, this.#following);
      this.#prefetch.at(this.#index++, this.#following);
      const behind = turnsAhead.cursorOf(cluster) + 1;
      this.#placeBehind = behind === credits.pendingEnd[cluster] ? LAST - 1 : this.#places[behind]!;
      return response;
    }
    return NONE;
  }

  /** Ends the turn of a row that the acquiring lane has served. */
  #resume(response: number): void {
    const { cycle } = this;
    const rankedRow = this.#requests.rankedRowOf(response);
    if (cycle.turnsAhead.begin(rankedRow) === Ahead.Begun) {
      cycle.sharing.endSuspended(rankedRow, this.#requests.acquiredBy(response));
      if (this.#requests.isUnmet(response)) this.shares.push([rankedRow, cycle.sharing.sharesOfTurn()]);
    }
    this.#left--;
    this.#goOn(cycle.rankedRows.cluster[rankedRow]!);
  }

  /** Serves rows of a cluster up to the first one that needs free machines. */
  #goOn(cluster: number): void {
    const { credits, turnsAhead, unfilled } = this.cycle;
    for (;;) {
      const cursor = turnsAhead.cursorOf(cluster);
      if (cursor === credits.pendingEnd[cluster]) return;
      const place = this.#places[cursor]!;
      const ahead = beginNext(this.cycle, cluster);
      if (ahead === Ahead.Begun) {
        this.#requests.request(place, unfilled);
        return;
      }
      if (ahead === Ahead.Nothing) {
        this.#requests.answer(place, Answer.Whole);
        return;
      }
      this.#left--;
      this.#requests.answer(place, Answer.Served);
    }
  }

  /** Waits for the acquiring lane after a step that returned `Waits`. */
  wait(): void {
    if (this.#requests.isAbandoned) throw new LanesAbandoned('Another lane cannot go on.');
    this.clock.wait(() => this.#requests.awaitResponse(this.#work.retries));
  }
}
