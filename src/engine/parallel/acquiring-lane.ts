// The acquiring lane: the only one that reads and acquires free machines where no label divides them. It serves all rows in
// rank order: rows of its own clusters completely, and of rows of other lanes what they request (cluster-lane.ts). Run by
// lanes.ts on the thread of the cycle.

import { acquireRequested, LanesAbandoned, serve, serveAhead } from '../assign/serve.ts';
import { RowPrefetch } from '../assign/waiting-rows.ts';
import type { Cycle } from '../cycle.ts';
import type { ClusterWork } from './cluster-lane.ts';
import { LaneClock, LaneStep, modeOf } from './lane.ts';
import { Answer, Requests } from './requests.ts';

export class AcquiringLane {
  readonly cycle: Cycle;
  readonly clock: LaneClock;
  readonly #work: ClusterWork;
  readonly #requests: Requests;
  readonly #prefetch: RowPrefetch;
  /** Place of the row that is served next. */
  #place = 0;
  /** Place up to which clusters of later rows are begun; by cluster: 1 if it is begun. */
  #ahead = 0;
  readonly #isBegun: Uint8Array;
  /** The row being served has waited, and the thread was parked for it. */
  #hasWaited = false;
  #hasParked = false;

  constructor(cycle: Cycle, work: ClusterWork) {
    this.cycle = cycle;
    this.#work = work;
    this.#requests = new Requests(work.requests);
    this.#prefetch = new RowPrefetch(cycle, {
      laneOf: work.laneOf,
      isServed: (place) => this.#requests.answerAt(place) === Answer.Served,
    });
    this.clock = new LaneClock(work.patienceMs);
    this.#isBegun = new Uint8Array(work.laneOf.length);
    cycle.turnsAhead.open(false, work.laneOf);
  }

  /** Serves the next row, unless it must wait for what a cluster lane says of it. */
  step(): LaneStep {
    const { cycle } = this;
    const { laneOf, order } = this.#work;
    const place = this.#place;
    if (place === order.length) return LaneStep.Done;
    this.#prefetch.at(place, order);
    const rankedRow = order[place]!;
    const answer = this.#requests.answerAt(place);
    // Nothing else is read of such a row.
    if (answer === Answer.Served) {
      this.#countWaits(rankedRow);
      cycle.pass.enter(rankedRow, place);
      cycle.stats.served(false, 0);
    } else if (laneOf[cycle.rankedRows.cluster[rankedRow]!] === 0) {
      this.#serve(rankedRow);
      serveAhead(cycle, cycle.rankedRows.cluster[rankedRow]!);
    } else if (answer === Answer.None) {
      this.#hasWaited = true;
      return this.#goAhead() ? LaneStep.Served : LaneStep.Waits;
    } else {
      this.#countWaits(rankedRow);
      this.#respond(rankedRow, answer);
    }
    this.#place++;
    return LaneStep.Served;
  }

  /** Begins rows of one of its own clusters, which later rows need; returns false if none is left. */
  #goAhead(): boolean {
    const { laneOf, order } = this.#work;
    const { cluster: clusterOf } = this.cycle.rankedRows;
    this.#ahead = Math.max(this.#ahead, this.#place + 1);
    while (this.#ahead < order.length) {
      const cluster = clusterOf[order[this.#ahead++]!]!;
      if (laneOf[cluster]! > 0 || this.#isBegun[cluster] === 1) continue;
      this.#isBegun[cluster] = 1;
      serveAhead(this.cycle, cluster);
      return true;
    }
    return false;
  }

  #serve(rankedRow: number): void {
    const { claims, stats } = this.cycle;
    const from = claims.count;
    serve(this.cycle, rankedRow, this.#place);
    if (claims.count > from) stats.committed(modeOf(this.cycle, rankedRow), 0);
  }

  /** Serves a row of a cluster lane, and says so. */
  #respond(rankedRow: number, answer: Answer): void {
    const { claims, rankedRows, unfilled } = this.cycle;
    const requests = this.#requests;
    if (answer === Answer.Whole) {
      this.#serve(rankedRow);
      requests.respond(rankedRow, claims.count, claims.count, false);
      return;
    }
    const from = claims.count;
    requests.load(this.#place, answer, rankedRows.row[rankedRow]!, unfilled);
    acquireRequested(this.cycle, rankedRow, this.#place);
    requests.respond(rankedRow, from, claims.count, !unfilled.covered);
  }

  #countWaits(rankedRow: number): void {
    if (!this.#hasWaited) return;
    const mode = this.cycle.stats.modes[modeOf(this.cycle, rankedRow)];
    mode.conflicts++;
    if (this.#hasParked) mode.exhausted++;
    this.#hasWaited = false;
    this.#hasParked = false;
  }

  /** Waits for a cluster lane after a step that returned `Waits`. */
  wait(): void {
    if (this.#requests.isAbandoned) throw new LanesAbandoned('Another lane cannot go on.');
    const { retries } = this.#work;
    if (this.clock.wait(() => this.#requests.awaitAnswer(this.#place, retries))) this.#hasParked = true;
  }
}
