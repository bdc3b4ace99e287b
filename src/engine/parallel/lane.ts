// A lane: serves its rows of the pass in rank order, in its own `Cycle` over the columns that all lanes share. Before a row
// reads free machines the lane waits for its turn (turns.ts); meanwhile it does what later rows need of their own clusters
// (turns-ahead.ts). Run by lanes.ts on the thread of the cycle and by shared-state.ts on worker threads.

import { RowKind } from '../assign/ranked-rows.ts';
import { endTurn, LanesAbandoned, serveAhead, serveFromFree, serveInCluster } from '../assign/serve.ts';
import { RowPrefetch } from '../assign/waiting-rows.ts';
import type { PoolOptions } from '../candidates/candidate-tier.ts';
import type { Cycle } from '../cycle.ts';
import { MODES, type Mode } from '../stats.ts';
import type { Territories } from './territories.ts';
import { NO_ROW, Turns } from './turns.ts';

/** Input of all lanes of a pass, on any thread. */
export interface LaneWork {
  readonly territories: Territories;
  readonly lanes: number;
  /** By lane: the number of its rows. */
  readonly rows: Uint32Array;
  /** Memory of `Turns`. */
  readonly control: Int32Array;
  /** By lane: where its claims begin in `claims.slots`. */
  readonly claimsStart: readonly number[];
  /** The order of free machines; a cycle on another thread has no options. */
  readonly poolOptions: PoolOptions;
  /** By cluster: machines that drain for a row which is gone. */
  readonly adoptable: ReadonlyMap<number, readonly number[]>;
  /** How often a lane that must wait reads the numbers of another before it parks. */
  readonly retries: number;
  /** Milliseconds after which a lane that waits gives up all lanes. */
  readonly patienceMs: number;
}

export const LaneStep = { Served: 0, Waits: 1, Done: 2 } as const;
export type LaneStep = (typeof LaneStep)[keyof typeof LaneStep];

export class Lane {
  readonly cycle: Cycle;
  readonly number: number;
  /** Where its claims begin in `claims.slots`. */
  readonly claimsStart: number;
  readonly #work: LaneWork;
  readonly #turns: Turns;
  /** Places in rank order of its rows, and their ranked rows. */
  readonly #places: Uint32Array;
  readonly #rankedRows: Uint32Array;
  readonly #prefetch: RowPrefetch;
  /** Index of the row that is served next. */
  #index = 0;
  /**
   * Clusters whose next rows may be begun, the first one last, some more than once; by cluster: 1 if they are not begun yet.
   */
  readonly #behind: number[] = [];
  readonly #isBehind: Uint8Array;
  /** The row being served has waited. */
  #hasWaited = false;
  /** The thread was parked for it. */
  #hasParked = false;
  readonly #deadlineMs: number;
  /** Index of the next row that crosses. */
  #crossing = 0;
  /** By lane: end of its claims that are noted in the sums for gangs. */
  readonly #noted: number[];
  /** Whether the thread can add ranked rows, for members that their fold cannot host. */
  readonly #canAddRows: boolean;

  constructor(cycle: Cycle, work: LaneWork, number: number, canAddRows: boolean) {
    const { laneOf, order } = work.territories;
    const clusterOf = cycle.rankedRows.cluster;
    this.cycle = cycle;
    this.number = number;
    this.claimsStart = work.claimsStart[number]!;
    this.#work = work;
    this.#prefetch = new RowPrefetch(cycle);
    this.#turns = new Turns(work.control, number, work.lanes);
    this.#noted = [...work.claimsStart];
    this.#canAddRows = canAddRows;
    this.#deadlineMs = performance.now() + work.patienceMs;
    this.#isBehind = new Uint8Array(cycle.rankedRows.start.length);
    const count = work.rows[number]!;
    this.#places = new Uint32Array(count);
    this.#rankedRows = new Uint32Array(count);
    for (let i = 0, at = 0; i < order.length; i++) {
      const cluster = clusterOf[order[i]!]!;
      if (laneOf[cluster] !== number) continue;
      this.#places[at] = i;
      this.#rankedRows[at++] = order[i]!;
      if (this.#isBehind[cluster] === 1) continue;
      this.#isBehind[cluster] = 1;
      this.#behind.push(cluster);
    }
    // The last one is begun first.
    this.#behind.reverse();
    cycle.turnsAhead.open(true);
    this.#publish();
  }

  /** Place in rank order of the row that is served next. */
  get next(): number {
    return this.#index < this.#places.length ? this.#places[this.#index]! : NO_ROW;
  }

  /** Serves the next row; if it must wait for other lanes, does something for later rows. */
  step(): LaneStep {
    if (this.#index === this.#places.length) return LaneStep.Done;
    this.#prefetch.at(this.#index, this.#rankedRows);
    const rankedRow = this.#rankedRows[this.#index]!;
    const cluster = this.cycle.rankedRows.cluster[rankedRow]!;
    const place = this.#places[this.#index]!;
    const crosses = this.#work.territories.crosses[rankedRow] === 1;
    if (this.cycle.turnsAhead.isServed(rankedRow)) this.#enterServed();
    else if (this.#turns.mayServe(place, crosses)) this.#serve(rankedRow, place);
    else {
      this.#hasWaited = true;
      if (this.#isBehind[cluster] === 1) this.#catchUp(cluster);
      else {
        const behind = this.#behind.pop();
        if (behind === undefined) return LaneStep.Waits;
        if (this.#isBehind[behind] === 1) this.#catchUp(behind);
      }
    }
    return LaneStep.Served;
  }

  /** Begins the next rows of a cluster. */
  #catchUp(cluster: number): void {
    this.#isBehind[cluster] = 0;
    serveAhead(this.cycle, cluster);
  }

  /** Enters all rows up to the first one that was not served ahead. Other lanes are told once: none of these concerns them. */
  #enterServed(): void {
    const { pass, stats, turnsAhead } = this.cycle;
    for (; this.#index < this.#rankedRows.length; this.#index++) {
      const rankedRow = this.#rankedRows[this.#index]!;
      if (!turnsAhead.isServed(rankedRow)) break;
      this.#prefetch.at(this.#index, this.#rankedRows);
      pass.enter(rankedRow, this.#places[this.#index]!);
      stats.served(false, 0);
    }
    this.#advance();
  }

  #serve(rankedRow: number, place: number): void {
    const { cycle } = this;
    const { claims, rankedRows, stats } = cycle;
    const from = claims.count;
    const kind = rankedRows.kind[rankedRow];
    const mode = stats.modes[modeOf(cycle, rankedRow)];
    if (this.#hasWaited) mode.conflicts++;
    if (this.#hasParked) mode.exhausted++;
    if (serveInCluster(cycle, rankedRow, place)) {
      stats.served(false, 0);
      this.#index++;
      this.#advance();
    } else {
      // Members of a fold can use other classes than the fold.
      const mayAddRows = this.#canAddRows && this.#work.territories.crosses[rankedRow] === 1;
      if (kind === RowKind.Gang || (kind === RowKind.Fold && mayAddRows)) this.noteClaimsOfOthers();
      serveFromFree(cycle, rankedRow);
      // The rest of the turn of a lender concerns its cluster only, so other lanes need not wait for it.
      const isLender = kind === RowKind.Plain || kind === RowKind.Spread;
      this.#index++;
      if (isLender) this.#advance();
      endTurn(cycle, rankedRow, place, 0, mayAddRows);
      if (!isLender) this.#advance();
    }
    if (claims.count > from) stats.committed(modeOf(cycle, rankedRow), 0);
    const cluster = rankedRows.cluster[rankedRow]!;
    if (cycle.walk.countOf(cluster) > 0) serveAhead(cycle, cluster);
    else if (this.#isBehind[cluster] === 0) {
      this.#isBehind[cluster] = 1;
      this.#behind.push(cluster);
    }
  }

  /** The sums for gangs follow what other lanes have claimed, as far as they have come. */
  noteClaimsOfOthers(): void {
    for (let lane = 0; lane < this.#noted.length; lane++) {
      if (lane === this.number) continue;
      const to = this.#turns.claimsEndOf(lane);
      this.cycle.pass.noteClaimsOfLane({ from: this.#noted[lane]!, to });
      this.#noted[lane] = to;
    }
  }

  /** Begins the turn of the row at the index. */
  #advance(): void {
    this.#hasWaited = false;
    this.#hasParked = false;
    this.#publish();
  }

  #publish(): void {
    const { crosses } = this.#work.territories;
    const { turnsAhead } = this.cycle;
    const places = this.#places;
    if (this.#crossing < this.#index) this.#crossing = this.#index;
    // A row that was served ahead needs no free machines, so nothing waits for it.
    for (; this.#crossing < places.length; this.#crossing++) {
      const rankedRow = this.#rankedRows[this.#crossing]!;
      if (crosses[rankedRow] === 1 && !turnsAhead.isServed(rankedRow)) break;
    }
    const nextCrossing = this.#crossing < places.length ? places[this.#crossing]! : NO_ROW;
    this.#turns.advance(this.next, nextCrossing, this.cycle.claims.count);
  }

  /** Waits for another lane after a step that returned `Waits`. */
  wait(): void {
    if (this.#turns.isAbandoned) throw new LanesAbandoned('Another lane cannot go on.');
    if (!this.#turns.wait(this.#work.retries)) return;
    this.#hasParked = true;
    if (performance.now() > this.#deadlineMs)
      throw new LanesAbandoned('Lanes wait longer than one would take.');
  }
}

/** Runs lanes on this thread until all their rows are served: at each step the lane with the best-ranked row. */
export function runLanes(lanes: readonly Lane[]): void {
  for (;;) {
    let first = lanes[0]!;
    for (let i = 1; i < lanes.length; i++) if (lanes[i]!.next < first.next) first = lanes[i]!;
    const step = first.step();
    if (step === LaneStep.Done) return;
    if (step === LaneStep.Waits) first.wait();
  }
}

/** Measures for how long a lane is busy, and when it has waited for too long. */
export class LaneClock {
  readonly #startMs = performance.now();
  readonly #patienceMs: number;
  #waitMs = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  get busyMs(): number {
    return performance.now() - this.#startMs - this.#waitMs;
  }

  /** Runs `wait`, which returns whether the thread was parked, and returns that; throws if patience is at an end. */
  wait(wait: () => boolean): boolean {
    const startMs = performance.now();
    const hasParked = wait();
    const nowMs = performance.now();
    this.#waitMs += nowMs - startMs;
    if (hasParked && nowMs > this.#startMs + this.#patienceMs)
      throw new LanesAbandoned('Lanes wait longer than one would take.');
    return hasParked;
  }
}

/** A lane that waits for others. */
export interface Steps {
  step(): LaneStep;
  /** Waits after a step that returned `Waits`. */
  wait(): void;
}

/** Runs lanes on this thread until all their rows are served, each as far as it can go on. */
export function runTogether(lanes: readonly Steps[]): void {
  for (let running = lanes; running.length > 0; ) {
    let hasMoved = false;
    let done = 0;
    for (const lane of running) {
      let step = lane.step();
      if (step === LaneStep.Served) hasMoved = true;
      while (step === LaneStep.Served) step = lane.step();
      if (step === LaneStep.Done) done++;
    }
    if (done > 0) running = running.filter((lane) => lane.step() !== LaneStep.Done);
    else if (!hasMoved) running[0]!.wait();
  }
}

/** Gangs acquire all machines or none. */
export function modeOf({ rankedRows }: Cycle, rankedRow: number): Mode {
  return MODES[rankedRows.kind[rankedRow] === RowKind.Gang ? 1 : 0]!;
}
