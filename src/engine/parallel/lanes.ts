// Phase 1 over the free machines: rows are served one by one in rank order, or by several lanes at once with exactly
// that result. See docs/internals/engine.md, "Lanes". Called by solve.ts.

import { serve, serveAhead } from '../assign/serve.ts';
import { RowPrefetch, WaitingRows } from '../assign/waiting-rows.ts';
import type { Cycle } from '../cycle.ts';
import { type Lane, LaneStep, type LaneWork, modeOf, runLanes } from './lane.ts';
import { type LaneResult, mergeResults, resultOf } from './lane-result.ts';
import { passRowsOf, Separations } from './separations.ts';
import { LaneCycles } from './shared-state.ts';
import { type Territories, territoriesOf } from './territories.ts';
import { closeLane, turnsMemory } from './turns.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Picks which of `lanes` lanes takes the next step. All lanes then run on one thread, in a reproducible order. */
export type Schedule = (lanes: number) => number;

export interface LaneOptions {
  /** 'auto': as many lanes as pay off. */
  readonly lanes: number | 'auto';
  readonly retries: number;
  /** Milliseconds after which lanes that wait are given up. */
  readonly patienceMs?: number | undefined;
  readonly schedule?: Schedule | undefined;
  /** Divides rows wherever possible, even where all of them wait for each other. */
  readonly isEager?: boolean | undefined;
}

/** Fewer rows than this are served before other threads are awake. */
const SMALLEST_WORK = 2_048;
/** Several lanes do not pay off above this share of the rows in one of two lanes, or of rows that wait for all lanes. */
const LARGEST_SHARE = 0.65;
const LARGEST_CROSSING = 0.1;
/** Cycles with one lane at most, after lanes were abandoned or were not faster than one; the first time 2, then 4, … */
const LONGEST_PAUSE = 128;
/** Cycles with one lane after the rows could not be divided: to find that out, all rows are read. */
const UNDIVIDED_PAUSE = 10;
/** Passes with several lanes that are compared with one: code of a thread that has just begun is slow. */
const TRIAL = 8;
/** Time of one lane per row, and at least. Lanes that wait for longer than that are given up, so that they cost at most twice as much. */
const ALONE_ROW_MS = 0.004;
const LEAST_PATIENCE_MS = 100;
/** In the first passes with several lanes threads have still to compile their code. */
const WARM_UP_FACTOR = 8;
/** Several lanes must take less than this share of the time per row of one: they keep other cores busy. */
const LARGEST_TIME = 0.9;

export class Lanes {
  readonly #cycle: Cycle;
  readonly #workerPool: WorkerPool;
  readonly #options: LaneOptions;
  readonly #waiting = new WaitingRows();
  readonly #prefetch: RowPrefetch;
  readonly #cycles: LaneCycles;
  readonly #separations = new Separations();
  /** Clusters with folds that could not host all members: only this thread can add ranked rows for these. */
  #unhosted: ReadonlySet<number> = new Set();
  /** Remaining cycles that use one lane. */
  #pause = 0;
  /** How often lanes have failed since they were last faster than one. */
  #failures = 0;
  /** Milliseconds per row of the last pass with enough rows for several lanes that was served in one lane. */
  #aloneRowMs = Number.POSITIVE_INFINITY;
  /** Passes with several lanes so far. */
  #passes = 0;
  /** Milliseconds per row of passes with several lanes that are not compared yet. */
  #trial: number[] = [];
  constructor(cycle: Cycle, workerPool: WorkerPool, options: LaneOptions) {
    this.#cycle = cycle;
    this.#workerPool = workerPool;
    this.#options = options;
    this.#cycles = new LaneCycles(cycle);
    this.#prefetch = new RowPrefetch(cycle);
  }

  /** Serves the rows that need free machines, in rank order. */
  serve(): void {
    const cycle = this.#cycle;
    const order = this.#waiting.inOrder(cycle);
    const lanes = this.#lanesFor(order);
    const territories = lanes === 1 ? null : this.#territories(order, lanes);
    if (lanes > 1 && territories === null) this.#pause = UNDIVIDED_PAUSE;
    cycle.stats.lanes = territories === null ? 1 : lanes;
    cycle.stats.laneThreads = 1;
    const startMs = performance.now();
    if (territories === null) this.#serveAlone(order);
    else this.#serveIn(lanes, territories);
    this.#compare((performance.now() - startMs) / order.length, order.length);
    this.#unhosted = new Set(cycle.result.unhosted.keys());
    for (const gang of cycle.result.infeasible) cycle.infeasible.note(gang);
  }

  /** Goes back to one lane if several were not faster. Time decides only on the number of lanes, and the result is the same. */
  #compare(rowMs: number, rows: number): void {
    if (rows < SMALLEST_WORK) return;
    if (this.#cycle.stats.lanes === 1) {
      this.#aloneRowMs = rowMs;
      return;
    }
    this.#trial.push(rowMs);
    if (this.#trial.length < TRIAL) return;
    const least = Math.min(...this.#trial);
    this.#trial = [];
    if (least <= LARGEST_TIME * this.#aloneRowMs) this.#failures = 0;
    else if (this.#options.lanes === 'auto') this.pause();
  }

  /** Serves the next pass in one lane, and if lanes are automatic, others after it as well. */
  pause(): void {
    this.#failures++;
    this.#pause = this.#options.lanes === 'auto' ? Math.min(LONGEST_PAUSE, 2 ** this.#failures) : 1;
  }

  #serveAlone(order: Uint32Array): void {
    const cycle = this.#cycle;
    const { claims, stats } = cycle;
    cycle.turnsAhead.open(false);
    for (let i = 0; i < order.length; i++) {
      this.#prefetch.at(i, order);
      const rankedRow = order[i]!;
      const from = claims.count;
      const startMs = stats.rowMs();
      serve(cycle, rankedRow, i);
      if (claims.count > from) stats.committed(modeOf(cycle, rankedRow), startMs);
      serveAhead(cycle, cycle.rankedRows.cluster[rankedRow]!);
    }
  }

  #lanesFor(order: Uint32Array): number {
    // An explained row examines every machine, which only the cycle's own thread supports. Budgets are paid in rank order.
    if (this.#cycle.purchases.areLimited || this.#cycle.explains || order.length < 2) return 1;
    if (this.#pause > 0) {
      this.#pause--;
      return 1;
    }
    const { lanes } = this.#options;
    if (lanes !== 'auto') return lanes;
    return order.length < SMALLEST_WORK ? 1 : this.#workerPool.ready;
  }

  /** The rows of each lane; null if several lanes would not pay off. */
  #territories(order: Uint32Array, lanes: number): Territories | null {
    const { isEager = false, lanes: given } = this.#options;
    const largestCrossing = isEager ? 1 : LARGEST_CROSSING;
    const rows = passRowsOf(this.#cycle, order);
    const separation = this.#separations.best(this.#cycle, rows, largestCrossing);
    const isAuto = given === 'auto';
    // Lanes of a divided part wait for each other at every row that needs free machines: they are no faster than one, and
    // where there are few rows, much slower.
    const divides = isEager || (!isAuto && order.length >= SMALLEST_WORK);
    const mostNeeding = divides ? largestCrossing : 0;
    const found = territoriesOf(this.#cycle, rows, separation, lanes, this.#unhosted, mostNeeding);
    if (!isAuto) return found;
    const isWorthIt =
      found.largest <= Math.max(LARGEST_SHARE, 1.3 / lanes) * order.length &&
      found.crossing <= LARGEST_CROSSING * order.length;
    return isWorthIt ? found : null;
  }

  #serveIn(lanes: number, territories: Territories): void {
    const cycle = this.#cycle;
    const { laneOf, order } = territories;
    const { accelerators, ignoredAccelerators, poolOrder } = cycle.options;
    const rowsOf = new Uint32Array(lanes);
    let members = 0;
    for (let i = 0; i < order.length; i++) {
      rowsOf[laneOf[i]!]!++;
      members += cycle.rankedRows.members[order[i]!]!;
    }
    const claimsStart = cycle.openLanes(lanes, members);
    const work: LaneWork = {
      territories,
      lanes,
      control: turnsMemory(claimsStart),
      claimsStart,
      poolOptions: { accelerators, ignoredAccelerators, poolOrder },
      adoptable: cycle.adoptable.byCluster,
      retries: this.#options.retries,
      patienceMs: this.#options.patienceMs ?? this.#patienceFor(order.length),
    };
    // A lane without rows has served them all.
    for (let lane = 0; lane < lanes; lane++) if (rowsOf[lane] === 0) closeLane(work.control, lane);
    const open = [...rowsOf.keys()].filter((lane) => lane === 0 || rowsOf[lane]! > 0);
    try {
      this.#run(work, open);
    } finally {
      cycle.closeLanes();
    }
  }

  #patienceFor(rows: number): number {
    const patienceMs = Math.max(LEAST_PATIENCE_MS, ALONE_ROW_MS * rows);
    return this.#passes++ < TRIAL ? WARM_UP_FACTOR * patienceMs : patienceMs;
  }

  #run(work: LaneWork, open: readonly number[]): void {
    const cycle = this.#cycle;
    const { schedule } = this.#options;
    const threads = schedule === undefined ? Math.min(open.length, this.#workerPool.ready) : 1;
    cycle.stats.laneThreads = threads;
    const lanesOf = Array.from({ length: threads }, (_, thread) =>
      open.filter((_lane, i) => i % threads === thread),
    );
    let own: readonly Lane[] = [];
    const results: LaneResult[] = [];
    const elsewhere = this.#workerPool.drive(lanesOf, work, () => {
      own = this.#cycles.open(work, lanesOf[0]!, true);
      if (schedule === undefined) runLanes(own);
      else runScheduled(own, schedule);
    });
    for (const lane of own.slice(1)) results.push(resultOf(lane, false));
    results.push(...elsewhere);
    own[0]!.noteClaimsOfOthers();
    mergeResults(cycle, results);
  }
}

/** Runs lanes on this thread, at each step the one that a schedule picks, or the next one that can go on. */
function runScheduled(lanes: readonly Lane[], schedule: Schedule): void {
  const running = new Set(lanes);
  while (running.size > 0) {
    const first = schedule(lanes.length);
    let hasMoved = false;
    for (let i = first; i < first + lanes.length && !hasMoved; i++) {
      const lane = lanes[i % lanes.length]!;
      if (!running.has(lane)) continue;
      const step = lane.step();
      if (step === LaneStep.Done) running.delete(lane);
      hasMoved = step !== LaneStep.Waits;
    }
    if (!hasMoved) throw new Error('All lanes wait for each other.');
  }
}
