// The decision engine: a pure function from a fleet, which is not written meanwhile, to a plan. No I/O, no randomness,
// and a clock for metrics only; equal fleets give byte-equal plans. `Engine` keeps credits between cycles and owns
// worker threads; `decide`, `explain` and `examine` keep nothing. docs/internals/engine.md describes the rules. Called by
// the shard's controller (planning/cycles.ts), journal replay, `bigfleet decide` and public.ts.

import type { FleetView } from '../fleet/index.ts';
import {
  type Action,
  BUCKET_LARGEST,
  type DecisionOptions,
  dollarsOfBucket,
  type Explanation,
  type MachineUser,
  type NeedKey,
  type Plan,
  type Verdict,
} from '../model/index.ts';
import { NONE } from './assign/ranked-rows.ts';
import { LanesAbandoned } from './assign/serve.ts';
import { type Probe, solve } from './assign/solve.ts';
import type { ClaimWatch } from './claim-watch.ts';
import { Cycle } from './cycle.ts';
import { matchingOf } from './fitting-machines.ts';
import { usersOf } from './machine-users.ts';
import { type ObstacleVisitor, obstaclesOf } from './obstacles.ts';
import { type EagerLanes, Lanes, type Schedule } from './parallel/lanes.ts';
import { ParallelStep } from './parallel/parallel-step.ts';
import { SMALLEST_STEP, WorkerPool } from './parallel/worker-pool.ts';
import { type Preemption, preempt } from './preempt/preempt.ts';
import { isSilent, onHold, reclaims, releases, spareOf } from './reclaim/reclaim.ts';
import { isSamePlan, type Solved } from './same-plan.ts';
import type { ServedHardware, ServedTally } from './served-tally.ts';
import { type Clock, CycleStats, EngineMetrics } from './stats.ts';
import {
  cheapestPurchase,
  metVerdictOf,
  type Purchase,
  rankedRowOf,
  unmetVerdictsOf,
  type VerdictQuestion,
  verdictOn,
  verdictsOf,
} from './verdict.ts';

/**
 * The result of a cycle. Verdicts on unmet rows are computed at once and stay valid. Actions, claims, restamps and other
 * verdicts are stored as numbers and resolved on access, which must happen before the fleet changes or the next cycle
 * begins, since numbers are reused. Later access throws.
 */
export class Decision {
  readonly #cycle: Cycle;
  readonly #preemptions: ReadonlyMap<number, Preemption>;
  /** Revision of the fleet and number of the cycle at the time of the decision. */
  readonly #revision: number;
  readonly #number: number;
  /** Verdicts on unmet Needs, in the order they were served. */
  readonly unmet: readonly Verdict[];
  /** `unmet` by ranked row, built on first use. */
  #unmetByRow: ReadonlyMap<number, Verdict> | null = null;

  constructor(cycle: Cycle, probe: Probe) {
    this.#cycle = cycle;
    this.#revision = cycle.fleet.revision;
    this.#number = cycle.number;
    this.#preemptions = preempt(cycle);
    probe('preempt');
    const leaving = reclaims(cycle);
    const released = releases(cycle);
    probe('reclaim');
    cycle.actions.collect(this.#preemptions, leaving, released);
    this.unmet = unmetVerdictsOf(cycle, this.#preemptions);
    probe('plan');
  }

  /** The cycle, if it still holds the state of this decision. */
  get #current(): Cycle {
    const { fleet, number } = this.#cycle;
    if (this.#revision !== fleet.revision) throw new Error('The fleet has changed since this was decided.');
    if (this.#number !== number) throw new Error('Another cycle has begun since this was decided.');
    return this.#cycle;
  }

  get actionCount(): number {
    return this.#current.actions.count;
  }

  /** Rows after the fold. */
  get rows(): number {
    return this.#current.rankedRows.count;
  }

  get counts(): Readonly<Record<Action['kind'], number>> {
    return this.#current.actions.counts;
  }

  /** Phase 1 by rank, inside a row by claim order; Preempts by rank and pick order; Reclaims; Deletes. */
  actions(): Action[] {
    return [...this.eachAction()];
  }

  /** Yields the actions of `actions()` one by one: a cold plan is too long to be held as objects. */
  *eachAction(): Generator<Action> {
    for (let i = 0; i < this.#current.actions.count; i++) yield this.#current.actions.at(i);
  }

  /** Which row (or fold) claims which machine. */
  claims(): Map<string, NeedKey> {
    const cycle = this.#current;
    const { keys, machines } = cycle.fleet;
    const claims = new Map<string, NeedKey>();
    // By machine first: there may be a million rows without claims.
    const rankedRows = new Set<number>();
    for (let slot = 0; slot < machines.size; slot++) {
      const claimant = cycle.claims.claimedBy[slot]! - 1;
      if (claimant !== NONE) rankedRows.add(claimant);
    }
    for (const rankedRow of [...rankedRows].sort((a, b) => cycle.rankedRows.compare(a, b))) {
      const need = keys.keyOf(cycle.rankedRows.key[rankedRow]!);
      for (const slot of cycle.claims.of(rankedRow)) claims.set(machines.idOf(slot), need);
    }
    return claims;
  }

  /** Configured machines of a cluster that no row claims and no row preempts. */
  spareOf(cluster: string): number {
    const cycle = this.#current;
    return spareOf(cycle, cycle.fleet.clusters.find(cluster));
  }

  /** Configured machines that met rows gave up since the last call with this watch. */
  claimChanges(watch: ClaimWatch): number {
    return watch.observe(this.#current);
  }

  /** The served part of what rows want, by index in HARDWARE. The tally caches what does not change between cycles. */
  served(tally: ServedTally): readonly ServedHardware[] {
    return tally.observe(this.#current);
  }

  /** What Needs of a cluster use of its Configured machines, by index in HARDWARE and by dimension; as in `served`. */
  usedOf(tally: ServedTally, cluster: string): readonly Float64Array[] {
    const cycle = this.#current;
    return tally.usedOf(cycle, cycle.fleet.clusters.find(cluster));
  }

  /** What would meet the unmet Needs at the lowest price; O(unmet rows · sizes of machines). */
  cheapestPurchase(): Purchase {
    return cheapestPurchase(this.#current);
  }

  /** Slots of the machines that are on hold after this cycle; none without a reclaim hold. */
  slotsOnHold(): number[] {
    return onHold(this.#current);
  }

  /** Whether the clock of a machine on hold runs: its cluster is not silent. */
  clockRuns(slot: number): boolean {
    const cycle = this.#current;
    return !isSilent(cycle, cycle.fleet.machines.cluster[slot]!);
  }

  /**
   * Expected dollars per hour lost by interruptions: over all claimed machines, probability times the penalty of the row that
   * claims it. Pinned has no upper bound and counts as the largest bucket.
   */
  get riskPerHour(): number {
    const cycle = this.#current;
    const { classes, machines } = cycle.fleet;
    const most = dollarsOfBucket(BUCKET_LARGEST);
    let risk = 0;
    for (let slot = 0; slot < machines.size; slot++) {
      const claimant = cycle.claims.claimedBy[slot]! - 1;
      if (claimant === NONE) continue;
      const probability = classes.probability[machines.classOf[slot]!]!;
      if (probability > 0)
        risk += probability * Math.min(cycle.profileOf(claimant).interruptionDollars, most);
    }
    return risk;
  }

  /**
   * Since when each machine on hold whose clock runs is unclaimed, by id. With those that are reclaimed: a Reclaim that the
   * caller does not carry out keeps the clock of its machine.
   */
  onHold(): Map<string, number> {
    const { machines } = this.#current.fleet;
    const { nowMs } = this.#current;
    const slots = this.slotsOnHold().filter((slot) => this.clockRuns(slot));
    slots.sort(machines.idOrder);
    return new Map(
      slots.map((slot) => {
        const sinceMs = machines.unclaimedSinceMs[slot]!;
        return [machines.idOf(slot), Number.isNaN(sinceMs) ? nowMs : sinceMs];
      }),
    );
  }

  /** Bound machines that a gang or a lender took over. */
  restamps(): Map<string, NeedKey> {
    const cycle = this.#current;
    const { claims, rankedRows } = cycle;
    const { keys, machines } = cycle.fleet;
    const restamps = new Map<string, NeedKey>();
    const rankedRowOf = (slot: number): number => claims.claimedBy[slot]! - 1;
    // A ranked row's machines were noted in claim order; the sort keeps that.
    const inOrder = cycle.result
      .allRestamped()
      .sort((a, b) => rankedRows.compare(rankedRowOf(a), rankedRowOf(b)));
    for (const slot of inOrder)
      restamps.set(machines.idOf(slot), keys.keyOf(rankedRows.key[rankedRowOf(slot)]!));
    return restamps;
  }

  /** Machines that drain for a row which is gone, and the row that they drain for from now on; by id. */
  retargets(): Map<string, NeedKey> {
    const { fleet, rankedRows, result } = this.#current;
    const slots = [...result.retargets.keys()].sort(fleet.machines.idOrder);
    return new Map(
      slots.map((slot) => {
        const key = rankedRows.key[result.retargets.get(slot)!]!;
        return [fleet.machines.idOf(slot), fleet.keys.keyOf(key)];
      }),
    );
  }

  /** One verdict per Need, all or those that the question selects; by rank unless it names another order. */
  verdicts(question: VerdictQuestion = {}): Verdict[] {
    return verdictsOf(this.#current, this.#preemptions, question);
  }

  /** The verdict on one Need; null if there is no such row. */
  verdictOf(key: NeedKey): Verdict | null {
    const cycle = this.#current;
    const row = cycle.fleet.demand.rowOf(key);
    if (row === undefined) return null;
    this.#unmetByRow ??= new Map(cycle.result.unmet.map(({ rankedRow }, i) => [rankedRow, this.unmet[i]!]));
    const rankedRow = rankedRowOf(cycle, row);
    return this.#unmetByRow.get(rankedRow) ?? metVerdictOf(cycle, rankedRow, row, this.#preemptions);
  }

  /** Rows that count on a machine: its claimant, then by rank those that borrow from it; none for an unknown machine. */
  usersOf(machine: string): readonly MachineUser[] {
    const slot = this.#current.fleet.machines.slotOf(machine);
    return slot === undefined ? [] : usersOf(this.#current, slot);
  }

  plan(): Plan {
    return {
      actions: this.actions(),
      verdicts: this.verdicts(),
      claims: this.claims(),
      restamps: this.restamps(),
      retargets: this.retargets(),
      onHold: this.onHold(),
    };
  }
}

export interface EngineOptions {
  /** Threads that share the work of crediting clusters; with 1 none is started. The plan is the same for any number. */
  readonly workers?: number;
  /** Steps of fewer clusters are credited without waking the other threads. */
  readonly smallestStep?: number;
  /** Lanes that serve rows from the free machines; 'auto' uses as many as pay off. The plan is the same for any number. */
  readonly lanes?: number | 'auto';
  /**
   * How often a lane that must wait for another looks again, some microseconds each, before it parks its thread. Parking and
   * waking take tens of microseconds; a high bound keeps a core busy that other programs may need.
   */
  readonly retries?: number;
  /** Milliseconds after which lanes that wait are given up; by default about what one lane would take. */
  readonly lanePatienceMs?: number;
  /** Runs all lanes on this thread, in the order it returns; used to test interleavings. */
  readonly schedule?: Schedule;
  /** Divides rows between lanes wherever possible: by parts of the fleet or by clusters; used to test lanes. */
  readonly eagerLanes?: EagerLanes;
  /** Keep the state of clusters that have not changed; if false, every cycle solves everything. */
  readonly incremental?: boolean;
  /**
   * Every `checkEvery` cycles, an incremental cycle is compared with a full solve; 0: never. The check costs time; a longer
   * interval finds differences later.
   */
  readonly checkEvery?: number;
  /**
   * Called for a cycle whose plan differs from that of a full solve, which is a bug of the engine. The engine continues
   * with the full one.
   */
  readonly onDifference?: (difference: PlanDifference) => void;
  /** Without one all times in `metrics` are 0. */
  readonly clock?: Clock;
  /**
   * With one thread: called after each cluster that is credited and often in the pass over the free machines, so that a
   * caller that shares its cores can wait.
   */
  readonly pause?: () => void;
}

/** An incremental cycle whose plan differs from a full solve of the same fleet, or is based on other ranked rows. */
export interface PlanDifference {
  /** Number of the cycle, from 1. */
  readonly cycle: number;
  readonly incremental: Plan;
  /** The correct plan, which is carried out. */
  readonly full: Plan;
}

/** How one cycle is run; none of it changes the result. */
export interface CycleOptions {
  /** Keep nothing from the previous cycle. */
  readonly everything?: boolean;
  readonly probe?: Probe;
  /** Also time each row that is served from the free machines, at the cost of two clock reads per row. */
  readonly timesRows?: boolean;
}

const DEFAULT_RETRIES = 10;
/** At a cycle a second, a difference is found within two minutes; the check costs a few cycles' time. */
const DEFAULT_CHECK_EVERY = 100;

const noProbe: Probe = () => {};
const noPause = (): void => {};

/**
 * Decides cycle after cycle over one fleet. Clusters that have not changed keep their credits; the result is exactly that
 * of a full solve.
 */
export class Engine {
  readonly #lanes: Lanes;
  /** Sums over all cycles. */
  readonly metrics = new EngineMetrics();
  readonly #cycle: Cycle;
  readonly #workerPool: WorkerPool;
  readonly #incremental: boolean;
  readonly #checkEvery: number;
  readonly #onDifference: ((difference: PlanDifference) => void) | undefined;
  readonly #clock: Clock | undefined;

  constructor(fleet: FleetView, options: EngineOptions = {}) {
    const { workers = 1, smallestStep = SMALLEST_STEP, checkEvery = DEFAULT_CHECK_EVERY } = options;
    const { eagerLanes: eager, lanes = 'auto', lanePatienceMs: patienceMs } = options;
    const { pause, retries = DEFAULT_RETRIES, schedule } = options;
    this.#cycle = new Cycle(fleet);
    this.#workerPool = new WorkerPool(this.#cycle, workers, smallestStep, pause);
    const how = { lanes, retries, patienceMs, schedule, eager, pause };
    this.#lanes = new Lanes(this.#cycle, this.#workerPool, how);
    this.#incremental = options.incremental ?? true;
    this.#checkEvery = checkEvery;
    this.#onDifference = options.onDifference;
    this.#clock = options.clock;
  }

  get lastCycle(): CycleStats {
    return this.#cycle.stats;
  }

  /** Threads that would share the next cycle: fewer than configured while some are still starting. */
  get threads(): number {
    return this.#workerPool.ready;
  }

  /** Reasons why threads were abandoned; the remaining threads do their work. */
  get threadFailures(): readonly string[] {
    return this.#workerPool.failures;
  }

  /** Ends the worker threads; cycles continue without them. */
  async close(): Promise<void> {
    await this.#workerPool.close();
  }

  /** One cycle: Phases 1, 2 and 3. */
  decide(nowMs: number, options: DecisionOptions, how: CycleOptions = {}): Decision {
    const { probe = noProbe, timesRows = false } = how;
    const everything = how.everything === true || !this.#incremental;
    const cycle = this.#cycle;
    const stats = new CycleStats(this.#clock, timesRows);
    cycle.measure(stats);
    const ended: Probe = (phase) => {
      stats.ended(phase);
      probe(phase);
    };
    try {
      this.#solve(nowMs, options, everything, ended);
      const decision = new Decision(cycle, ended);
      stats.needs = cycle.fleet.demand.count;
      // A cycle that keeps nothing is itself a full solve.
      const number = this.metrics.cycles + 1;
      const due = this.#checkEvery > 0 && number % this.#checkEvery === 0;
      const right = due && !everything ? this.#checked(decision, number) : decision;
      this.metrics.add(stats);
      return right;
    } catch (error) {
      // The cycle failed at an unknown point.
      cycle.reset();
      throw error;
    }
  }

  /** Phase 1; in one lane and from an empty state, if the lanes could not go on. */
  #solve(nowMs: number, options: DecisionOptions, everything: boolean, probe: Probe): void {
    const cycle = this.#cycle;
    try {
      solve(cycle, this.#workerPool, this.#lanes, nowMs, options, everything, probe);
    } catch (error) {
      if (!(error instanceof LanesAbandoned)) throw error;
      cycle.reset();
      this.#lanes.pause();
      solve(cycle, this.#workerPool, this.#lanes, nowMs, options, true, probe);
    }
  }

  /**
   * Overlaps work for the next decision with the writing of rows: other threads serve the clusters of which only machines
   * have changed. The machines must have been written. The rows of clusters in `reporting` are not read, so they may be
   * written until the returned function is called, which waits for the threads; nothing else may happen in between.
   * Neither throws: errors are added to `threadFailures`, and the next cycle starts from an empty state.
   */
  overlap(reporting: ReadonlySet<number>): () => void {
    let end = (): void => {};
    if (this.#incremental) {
      this.#orNothing(() => {
        end = this.#workerPool.begin(ParallelStep.ServeAgain, this.#cycle.beginAhead(reporting));
      });
    }
    return () => this.#orNothing(end);
  }

  #orNothing(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#cycle.reset();
      this.#workerPool.failures.push(String(error));
    }
  }

  /** The decision, if a full solve of the same fleet gives the same plan; otherwise that of the full solve. */
  #checked(decision: Decision, number: number): Decision {
    const cycle = this.#cycle;
    const full = solveFull(cycle.fleet, cycle.nowMs, cycle.options);
    const equal = isSamePlan({ cycle, decision }, full);
    if (!equal) {
      this.#onDifference?.({ cycle: number, incremental: decision.plan(), full: full.decision.plan() });
      // Part of the kept state is wrong, and it is unknown which part.
      cycle.reset();
    }
    cycle.stats.checked(equal);
    return equal ? decision : full.decision;
  }
}

/**
 * A decision independent of earlier ones. Solving everything on the engine's own cycle would need no memory, but it would
 * overwrite the decision it is to be compared with, and use the buffers and block lists that earlier cycles left, so that
 * an error in those would be in both. A new cycle shares only the fleet, and runs on this thread alone, so that the work
 * of the others is checked as well. It costs columns of its own, which are garbage afterwards.
 */
function solveFull(fleet: FleetView, nowMs: number, options: DecisionOptions): Solved {
  const cycle = cycleForOnce(fleet);
  solveAlone(cycle, nowMs, options, noPause);
  return { cycle, decision: new Decision(cycle, noProbe) };
}

/** A cycle that is solved once. It follows no changes: until it is collected, every later change would be noted for it. */
function cycleForOnce(fleet: FleetView): Cycle {
  return new Cycle(fleet, null, false);
}

function solveAlone(cycle: Cycle, nowMs: number, options: DecisionOptions, pause: () => void): void {
  const workerPool = new WorkerPool(cycle, 1, SMALLEST_STEP, pause);
  const lanes = new Lanes(cycle, workerPool, { lanes: 1, retries: 0, pause });
  solve(cycle, workerPool, lanes, nowMs, options, true, pause);
}

/** One cycle over a fleet; returns the whole plan. */
export function decide(fleet: FleetView, nowMs: number, options: DecisionOptions): Plan {
  return solveFull(fleet, nowMs, options).decision.plan();
}

/** What one Need found when it was served, met or not; null if there is no such row. */
export function explain(
  fleet: FleetView,
  nowMs: number,
  options: DecisionOptions,
  key: NeedKey,
): Explanation | null {
  return examine(fleet, nowMs, options, key)?.explanation ?? null;
}

export interface ExamineHooks {
  /** Called for every machine that meets the requirements, so that a caller can count by its own criteria. */
  readonly visit?: ObstacleVisitor;
  /** Called between phases and often within the longest ones: a caller that shares its cores waits in it. */
  readonly pause?: () => void;
}

export interface Examined {
  readonly explanation: Explanation;
  readonly verdict: Verdict;
}

/**
 * Explains one Need; null if there is no such row. Runs a cycle of its own, in which the row waits for the pass over the
 * free machines: the plan is the same, but there the row examines every machine.
 */
export function examine(
  fleet: FleetView,
  nowMs: number,
  options: DecisionOptions,
  key: NeedKey,
  { visit, pause = noPause }: ExamineHooks = {},
): Examined | null {
  const { demand, keys } = fleet;
  const row = demand.rowOf(key);
  if (row === undefined) return null;
  const cycle = cycleForOnce(fleet);
  // A row that folds is served in the ranked row of its fold.
  cycle.explain(demand.key[row]!);
  if (demand.same[row] === 1) cycle.explain(demand.foldKey[row]!);
  solveAlone(cycle, nowMs, options, pause);
  const rankedRow = rankedRowOf(cycle, row);
  const blocker = cycle.result.blockers.get(rankedRow) ?? NONE;
  const preemptions = preempt(cycle);
  pause();
  return {
    verdict: verdictOn(cycle, row, preemptions),
    explanation: {
      candidates: cycle.result.gangs.get(rankedRow)?.candidates ?? [],
      matching: matchingOf(cycle, demand.pattern[row]!),
      blocker: blocker === NONE ? null : keys.keyOf(cycle.rankedRows.key[blocker]!),
      obstacles: obstaclesOf(cycle, rankedRow, preemptions, visit),
    },
  };
}
