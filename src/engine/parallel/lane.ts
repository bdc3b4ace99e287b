// A lane: serves its rows of the pass in rank order, in its own `Cycle` over the columns that all lanes share. What a row
// needs of its own cluster it does at once; before it reads free machines it waits for its turn (turns.ts). Run by lanes.ts
// on the thread of the cycle and by shared-state.ts on worker threads.

import { RowKind } from '../assign/ranked-rows.ts';
import { LanesAbandoned, serveFromFree, serveInCluster } from '../assign/serve.ts';
import { prefetch } from '../assign/waiting-rows.ts';
import type { PoolOptions } from '../candidates/candidate-tier.ts';
import type { Cycle } from '../cycle.ts';
import { MODES, type Mode } from '../stats.ts';
import type { Territories } from './territories.ts';
import { NO_ROW, Turns } from './turns.ts';

/** Input of all lanes of a pass, on any thread. */
export interface LaneWork {
  readonly territories: Territories;
  readonly lanes: number;
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
}

export const LaneStep = { Served: 0, Waits: 1, Done: 2 } as const;
export type LaneStep = (typeof LaneStep)[keyof typeof LaneStep];

/** Rows prefetched together, while the batch prefetched before is served. */
const AHEAD = 16;
/** Parks of 5 ms after which a lane that does not move is given up: its thread is gone. */
const MOST_PARKS = 2_000;

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
  /** Index of the row that is served next, or whose first step is done. */
  #index = 0;
  #isBegun = false;
  /** The row being served has waited. */
  #hasWaited = false;
  /** How often the thread was parked for it, without any progress of the lane that it waits for. */
  #parks = 0;
  /** Index of the next row that crosses. */
  #crossing = 0;
  /** By lane: end of its claims that are noted in the sums for gangs. */
  readonly #noted: number[];
  /** Whether the thread can add ranked rows, for members that their fold cannot host. */
  readonly #canAddRows: boolean;
  /** Sum of all prefetched values. Public, so that the reads do not look unused and are not optimized away. */
  prefetched = 0;

  constructor(cycle: Cycle, work: LaneWork, number: number, canAddRows: boolean) {
    const { laneOf, order } = work.territories;
    this.cycle = cycle;
    this.number = number;
    this.claimsStart = work.claimsStart[number]!;
    this.#work = work;
    this.#turns = new Turns(work.control, number, work.lanes);
    this.#noted = [...work.claimsStart];
    this.#canAddRows = canAddRows;
    let count = 0;
    for (let i = 0; i < order.length; i++) if (laneOf[i] === number) count++;
    this.#places = new Uint32Array(count);
    this.#rankedRows = new Uint32Array(count);
    for (let i = 0, at = 0; i < order.length; i++) {
      if (laneOf[i] !== number) continue;
      this.#places[at] = i;
      this.#rankedRows[at++] = order[i]!;
    }
    this.#publish();
  }

  /** Place in rank order of the row that is served next. */
  get next(): number {
    return this.#index < this.#places.length ? this.#places[this.#index]! : NO_ROW;
  }

  /** Serves the next row, or only its first step if it must wait for other lanes. */
  step(): LaneStep {
    const { cycle } = this;
    if (this.#index === this.#places.length) return LaneStep.Done;
    const place = this.#places[this.#index]!;
    const rankedRow = this.#rankedRows[this.#index]!;
    if (!this.#isBegun) {
      if (this.#index % AHEAD === 0)
        this.prefetched += prefetch(cycle, this.#rankedRows, this.#index + AHEAD, this.#index + 2 * AHEAD);
      if (serveInCluster(cycle, rankedRow, place)) {
        cycle.stats.served(false, 0);
        this.#end();
        return LaneStep.Served;
      }
      this.#isBegun = true;
    }
    if (!this.#turns.mayServe(place, this.#work.territories.crosses[place] === 1)) {
      this.#hasWaited = true;
      return LaneStep.Waits;
    }
    this.#serveFromFree(rankedRow, place);
    this.#end();
    return LaneStep.Served;
  }

  #serveFromFree(rankedRow: number, place: number): void {
    const { cycle } = this;
    const { claims, rankedRows } = cycle;
    // Members of a fold can use other classes than the fold.
    const mayAddRows = this.#canAddRows && this.#work.territories.crosses[place] === 1;
    const kind = rankedRows.kind[rankedRow];
    if (kind === RowKind.Gang || (kind === RowKind.Fold && mayAddRows)) this.noteClaimsOfOthers();
    const from = claims.count;
    serveFromFree(cycle, rankedRow, place, 0, mayAddRows);
    const stats = cycle.stats.modes[modeOf(cycle, rankedRow)];
    if (this.#hasWaited) stats.conflicts++;
    if (this.#parks > 0) stats.exhausted++;
    if (claims.count > from) cycle.stats.committed(modeOf(cycle, rankedRow), 0);
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

  #end(): void {
    this.#index++;
    this.#isBegun = false;
    this.#hasWaited = false;
    this.#parks = 0;
    this.#publish();
  }

  #publish(): void {
    const { crosses } = this.#work.territories;
    const places = this.#places;
    if (this.#crossing < this.#index) this.#crossing = this.#index;
    while (this.#crossing < places.length && crosses[places[this.#crossing]!] === 0) this.#crossing++;
    const nextCrossing = this.#crossing < places.length ? places[this.#crossing]! : NO_ROW;
    this.#turns.advance(this.next, nextCrossing, this.cycle.claims.count);
  }

  /** Waits for another lane after a step that returned `Waits`. */
  wait(): void {
    if (this.#turns.isAbandoned) throw new LanesAbandoned('Another lane cannot go on.');
    if (!this.#turns.wait(this.#work.retries)) return;
    this.#parks = this.#turns.hasMoved ? 1 : this.#parks + 1;
    if (this.#parks > MOST_PARKS) throw new LanesAbandoned('Another lane does not go on.');
  }
}

/** Runs lanes on this thread until all their rows are served: at each step the lane with the best-ranked row. */
export function runLanes(lanes: readonly Lane[]): void {
  for (;;) {
    let first = lanes[0]!;
    for (const lane of lanes) if (lane.next < first.next) first = lane;
    const step = first.step();
    if (step === LaneStep.Done) return;
    if (step === LaneStep.Waits) first.wait();
  }
}

/** Gangs acquire all machines or none. */
export function modeOf({ rankedRows }: Cycle, rankedRow: number): Mode {
  return MODES[rankedRows.kind[rankedRow] === RowKind.Gang ? 1 : 0]!;
}
