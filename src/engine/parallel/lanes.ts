// Phase 1 over the free machines: rows are served one by one in rank order, or by several lanes at once with exactly
// that result. See docs/internals/engine.md, "Lanes". Called by solve.ts.

import { withRoom } from '../../collections/columns.ts';
import { serve, serveAhead } from '../assign/serve.ts';
import { RowPrefetch, WaitingRows } from '../assign/waiting-rows.ts';
import type { Cycle } from '../cycle.ts';
import { AcquiringLane } from './acquiring-lane.ts';
import { ClusterDivision } from './cluster-division.ts';
import type { ClusterLane, ClusterWork } from './cluster-lane.ts';
import { type Lane, LaneStep, type LaneWork, modeOf, runLanes, runTogether, type Steps } from './lane.ts';
import { type LaneResult, mergeResults, resultOf } from './lane-result.ts';
import { type RequestsMemory, requestsMemory } from './requests.ts';
import { passRowsOf, Separations } from './separations.ts';
import { LaneCycles } from './shared-state.ts';
import { type Division, TerritoryDivision } from './territories.ts';
import { closeLane, turnsMemory } from './turns.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Picks which of `lanes` lanes takes the next step. All lanes then run on one thread, in a reproducible order. */
export type Schedule = (lanes: number) => number;

export type EagerLanes = 'parts' | 'clusters';

export interface LaneOptions {
  /** 'auto': as many lanes as pay off. */
  readonly lanes: number | 'auto';
  readonly retries: number;
  /** Milliseconds after which lanes that wait are given up. */
  readonly patienceMs?: number | undefined;
  readonly schedule?: Schedule | undefined;
  /** Divides rows wherever possible: by parts of the fleet, even where all rows wait for each other, or by clusters. */
  readonly eager?: EagerLanes | undefined;
  /** Called often while rows are served in one lane. */
  readonly pause?: (() => void) | undefined;
}

/** Rows served in one lane between two pauses: much less than a millisecond. */
const ROWS_BETWEEN_PAUSES = 64;
/** Number of the acquiring lane. */
const ACQUIRING = 0;
/** Fewer rows than this are served before other threads are awake. */
const SMALLEST_WORK = 2_048;
/**
 * Fewer rows than this are served in one lane while cluster lanes on other threads read which rows are theirs: automatic
 * lanes are not opened for them, and a given number of lanes runs on this thread.
 */
const SMALLEST_CLUSTER_WORK = 16_384;
/** Several lanes do not pay off above this share of the rows in one of two lanes, or of rows that wait for all lanes. */
const LARGEST_SHARE = 0.65;
const LARGEST_CROSSING = 0.1;
/** Cycles with one lane at most, after lanes were abandoned or were not faster than one; the first time 2, then 4, … */
const LONGEST_PAUSE = 128;
/** Passes after which labels are tried again, if none divides the rows: to find that out, all rows are read. */
const UNDIVIDED_PASSES = 10;
/** Cluster lanes do not pay off if they can have less than this share of the rows. */
const LEAST_SHARE = 0.2;
/**
 * Passes with several lanes that are compared with one, at first and at most; each time that they were faster, twice as many.
 * Code of a thread that has just begun is slow.
 */
const TRIAL = 8;
const LONGEST_TRIAL = 256;
/** Passes in one lane that a trial is compared with. */
const ALONE_PASSES = 3;
/** Time of one lane per row, and at least. Lanes that wait for longer than that are given up, so that they cost at most twice as much. */
const ALONE_ROW_MS = 0.004;
const LEAST_PATIENCE_MS = 100;
/** In the first passes with several lanes threads have still to compile their code. */
const WARM_UP_FACTOR = 8;
/** After a pass in one lane with more or fewer rows by this factor, another one is served in one lane first. */
const LARGEST_GROWTH = 2;
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
  /** Milliseconds per row of passes with enough rows for several lanes that were served in one lane since the last trial. */
  #alone: number[] = [];
  /** Rows of the last such pass; 0 if there was none. */
  #aloneRows = 0;
  /** Passes with several lanes so far. */
  #passes = 0;
  /** Milliseconds per row of passes with several lanes that are not compared yet, and the number that are compared at a time. */
  #trial: number[] = [];
  #trialLength = TRIAL;
  /** Remaining passes in which no label is tried. */
  #undivided = 0;
  readonly #territories = new TerritoryDivision();
  readonly #division: ClusterDivision;
  /** Memory that cluster lanes share, used again from pass to pass. */
  #order: Uint32Array = new Uint32Array(0);
  #requests: RequestsMemory | null = null;

  constructor(cycle: Cycle, workerPool: WorkerPool, options: LaneOptions) {
    this.#cycle = cycle;
    this.#workerPool = workerPool;
    this.#options = options;
    this.#cycles = new LaneCycles(cycle);
    this.#prefetch = new RowPrefetch(cycle);
    this.#division = new ClusterDivision(options.eager === undefined ? undefined : 1);
  }

  /** Serves the rows that need free machines, in rank order. */
  serve(): void {
    const cycle = this.#cycle;
    const order = this.#waiting.inOrder(cycle);
    const lanes = this.#lanesFor(order);
    cycle.stats.lanes = 1;
    cycle.stats.laneThreads = 1;
    const startMs = performance.now();
    if (lanes === 1 || !this.#serveInLanes(order, lanes)) this.#serveAlone(order);
    this.#compare((performance.now() - startMs) / order.length, order.length);
    this.#unhosted = new Set(cycle.result.unhosted.keys());
    for (const gang of cycle.result.infeasible) cycle.infeasible.note(gang);
  }

  /** Serves rows in several lanes; returns false, without having served any, if that would not pay off. */
  #serveInLanes(order: Uint32Array, lanes: number): boolean {
    const divided = this.#divideByLabel(order, lanes);
    if (divided !== null) {
      this.#serveTerritories(lanes, divided);
      return true;
    }
    const isAuto = this.#options.lanes === 'auto';
    if (!this.#dividesClusters(order)) return false;
    const division = this.#division.divide(this.#cycle, lanes);
    if (isAuto && division.share < LEAST_SHARE) return false;
    this.#serveClusters(lanes, order, division.laneOf);
    return true;
  }

  /**
   * Compares passes in several lanes with passes in one that follow them, and goes back to one lane if several were not
   * faster. Time decides only on the number of lanes, and the result is the same.
   */
  #compare(rowMs: number, rows: number): void {
    if (rows < SMALLEST_WORK || this.#options.lanes !== 'auto') return;
    if (this.#cycle.stats.lanes > 1) {
      this.#trial.push(rowMs);
      if (this.#trial.length === this.#trialLength) this.#pause = ALONE_PASSES;
      return;
    }
    this.#alone.push(rowMs);
    this.#aloneRows = rows;
    if (this.#pause > 0) return;
    const isSlower = medianOf(this.#trial) > LARGEST_TIME * medianOf(this.#alone);
    const isComplete = this.#trial.length === this.#trialLength;
    this.#trial = [];
    this.#alone = [];
    if (!isComplete) return;
    if (isSlower) this.pause();
    else {
      this.#failures = 0;
      this.#trialLength = Math.min(LONGEST_TRIAL, 2 * this.#trialLength);
    }
  }

  /** Serves the next pass in one lane, and if lanes are automatic, others after it as well. */
  pause(): void {
    this.#failures++;
    this.#trialLength = TRIAL;
    this.#trial = [];
    this.#pause = this.#options.lanes === 'auto' ? Math.min(LONGEST_PAUSE, 2 ** this.#failures) : 1;
  }

  #serveAlone(order: Uint32Array): void {
    const cycle = this.#cycle;
    const { claims, stats, turnsAhead } = cycle;
    const { pause } = this.#options;
    turnsAhead.open(false);
    for (let i = 0; i < order.length; i++) {
      if (pause !== undefined && i % ROWS_BETWEEN_PAUSES === 0) pause();
      this.#prefetch.at(i, order);
      const rankedRow = order[i]!;
      const from = claims.count;
      const startMs = stats.rowMs();
      serve(cycle, rankedRow, i);
      if (claims.count > from) stats.committed(modeOf(cycle, rankedRow), startMs);
      if (turnsAhead.isOn) serveAhead(cycle, cycle.rankedRows.cluster[rankedRow]!);
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
    if (order.length < SMALLEST_WORK) return 1;
    if (this.#isComparable(order.length)) return this.#workerPool.ready;
    this.#trial = [];
    return 1;
  }

  /** Whether the last pass in one lane was like one with this number of rows: rows of small passes cost more each. */
  #isComparable(rows: number): boolean {
    const alone = this.#aloneRows;
    return alone === 0 || (rows <= LARGEST_GROWTH * alone && alone <= LARGEST_GROWTH * rows);
  }

  /** The rows of each lane; null if no label divides the rows well enough. */
  #divideByLabel(order: Uint32Array, lanes: number): Division | null {
    const { eager, lanes: given } = this.#options;
    const mayDivideClusters = this.#dividesClusters(order);
    if (eager === 'clusters' && mayDivideClusters) return null;
    if (this.#undivided > 0 && (given === 'auto' || mayDivideClusters)) {
      this.#undivided--;
      return null;
    }
    const rows = passRowsOf(this.#cycle, order.length);
    const separation = this.#separations.best(this.#cycle, rows, eager === 'parts' ? 1 : LARGEST_CROSSING);
    const found = this.#territories.divide(this.#cycle, order, rows, separation, lanes, this.#unhosted);
    const largest = Math.max(...found.rows);
    if (eager === 'parts') return found;
    if (given !== 'auto' && !(mayDivideClusters && largest === order.length)) return found;
    const isWorthIt =
      largest <= Math.max(LARGEST_SHARE, 1.3 / lanes) * order.length &&
      found.crossing <= LARGEST_CROSSING * order.length;
    if (!isWorthIt) this.#undivided = UNDIVIDED_PASSES;
    return isWorthIt ? found : null;
  }

  /** Whether the rows of clusters can be divided where no label divides the free machines: rows share machines. */
  #dividesClusters(order: Uint32Array): boolean {
    const { eager, lanes } = this.#options;
    const isForced = eager !== undefined || lanes !== 'auto';
    return this.#cycle.sharing.isActive && (isForced || order.length >= SMALLEST_CLUSTER_WORK);
  }

  #serveTerritories(lanes: number, { rows, territories }: Division): void {
    const cycle = this.#cycle;
    const { order } = territories;
    const { accelerators, ignoredAccelerators, poolOrder } = cycle.options;
    const claimsStart = cycle.openLanes(lanes, this.#members());
    const work: LaneWork = {
      territories,
      lanes,
      rows,
      control: turnsMemory(claimsStart),
      claimsStart,
      poolOptions: { accelerators, ignoredAccelerators, poolOrder },
      adoptable: cycle.adoptable.byCluster,
      retries: this.#options.retries,
      patienceMs: this.#patienceFor(order.length),
    };
    // A lane without rows has served them all.
    for (let lane = 0; lane < lanes; lane++) if (rows[lane] === 0) closeLane(work.control, lane);
    const open = [...rows.keys()].filter((lane) => lane === 0 || rows[lane]! > 0);
    const threads = this.#threadsFor(open.length);
    const lanesOf = Array.from({ length: threads }, (_, thread) =>
      open.filter((_lane, i) => i % threads === thread),
    );
    const used = rows.filter((count) => count > 0).length;
    let own: readonly Lane[] = [];
    this.#drive(used, lanesOf, work, () => {
      own = this.#cycles.open(work, lanesOf[0]!, true);
      if (this.#options.schedule === undefined) runLanes(own);
      else runScheduled(own, this.#options.schedule);
      return own.slice(1);
    });
    own[0]!.noteClaimsOfOthers();
  }

  #serveClusters(lanes: number, order: Uint32Array, laneOf: Uint8Array): void {
    const cycle = this.#cycle;
    const { retries, schedule } = this.#options;
    const shared = withRoom(this.#order, order.length);
    shared.set(order);
    this.#order = shared;
    this.#requests = requestsMemory(order.length, cycle.fleet.dimensions.count, this.#requests);
    const work: ClusterWork = {
      order: shared.subarray(0, order.length),
      laneOf,
      requests: this.#requests,
      control: this.#requests.control,
      claimsStart: cycle.openLanes(lanes, this.#members()),
      retries,
      patienceMs: this.#patienceFor(order.length),
    };
    const others = Array.from({ length: lanes - 1 }, (_, i) => i + 1);
    const isSmall = this.#options.eager === undefined && order.length < SMALLEST_CLUSTER_WORK;
    const threads = isSmall ? 1 : this.#threadsFor(lanes);
    // The acquiring lane has its thread to itself, if there is another one.
    const lanesOf = Array.from({ length: threads }, (_, thread) =>
      threads === 1 ? others : others.filter((lane) => thread > 0 && lane % (threads - 1) === thread - 1),
    );
    const used = new Set(laneOf).add(ACQUIRING).size;
    let acquiringMs = 0;
    const results = this.#drive(used, lanesOf, work, () => {
      const acquiring = new AcquiringLane(cycle, work);
      const here = this.#cycles.openClusterLanes(work, lanesOf[0]!, 1);
      if (schedule === undefined) runTogether([acquiring, ...here]);
      else runScheduled([acquiring, ...here], schedule);
      acquiringMs = acquiring.clock.busyMs;
      return here;
    });
    if (threads === lanes)
      this.#division.adjust(
        acquiringMs,
        results.map(({ busyMs }) => busyMs),
      );
  }

  /** Needs that the rows of the pass stand for. */
  #members(): number {
    const { credits, fleet, rankedRows } = this.#cycle;
    const { members, start } = rankedRows;
    const { pending, pendingEnd } = credits;
    let sum = 0;
    for (const cluster of fleet.clusters.sorted())
      for (let i = start[cluster]!; i < pendingEnd[cluster]!; i++) sum += members[pending[i]!]!;
    return sum;
  }

  #threadsFor(lanes: number): number {
    return this.#options.schedule === undefined ? Math.min(lanes, this.#workerPool.ready) : 1;
  }

  #patienceFor(rows: number): number {
    if (this.#options.patienceMs !== undefined) return this.#options.patienceMs;
    const patienceMs = Math.max(LEAST_PATIENCE_MS, ALONE_ROW_MS * rows);
    return this.#passes++ < TRIAL ? WARM_UP_FACTOR * patienceMs : patienceMs;
  }

  /**
   * Runs lanes until all rows are served, those of this thread with `run`, which returns those that are not served in this
   * cycle. Returns the results of all lanes but that one. `used` lanes have rows.
   */
  #drive(
    used: number,
    lanesOf: readonly (readonly number[])[],
    work: LaneWork | ClusterWork,
    run: () => readonly (Lane | ClusterLane)[],
  ): readonly LaneResult[] {
    const cycle = this.#cycle;
    cycle.stats.lanes = used;
    cycle.stats.laneThreads = lanesOf.length;
    try {
      let here: readonly (Lane | ClusterLane)[] = [];
      const elsewhere = this.#workerPool.drive(lanesOf, work, () => {
        here = run();
      });
      const results = [...here.map((lane) => resultOf(lane, false)), ...elsewhere];
      mergeResults(cycle, results);
      return results;
    } finally {
      cycle.closeLanes();
    }
  }
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

/** Runs lanes on this thread, at each step the one that a schedule picks, or the next one that can go on. */
function runScheduled(lanes: readonly Steps[], schedule: Schedule): void {
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
