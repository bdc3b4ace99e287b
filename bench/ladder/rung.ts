// A rung of the ladder: one profile in one regime. Generates the fleet, then runs cycles with the changes between them,
// for measure.ts, speedup.ts, verify-digests.ts and the gate. The timed cycle is the commit of the changes (reported as
// `freeze`, appending included) and the decision. Creating the changes replaces reading them from the wire, and is not
// timed. If a regime has changes, plans are also executed between cycles, as on a shard; otherwise unmet rows would
// accumulate.
//
// A decision has its actions in columns. The sender converts them to objects, a few at a time; that is not part of the
// cycle.

import { WORKLOAD_NOW_MS } from '../../src/demo/workload/rows.ts';
import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import { type CycleStats, type Decision, Engine, type EngineOptions } from '../../src/engine/index.ts';
import { type AppliedChanges, Fleet, type PendingChange, PendingChanges } from '../../src/fleet/index.ts';
import {
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  type EconomyOptions,
  SHARED_OPTIONS,
  UNSHARED_OPTIONS,
} from '../../src/model/index.ts';
import { DEFAULT_RELEASE_HOLD_SECONDS } from '../../src/scenario/scenario.ts';
import { beginningOf, changeOf, type Regime } from '../../testing/workload/regimes.ts';
import { Workload } from '../../testing/workload/workload.ts';
import { Churn } from '../../testing/workload/workload-churn.ts';
import type { ExpectedActions } from '../../testing/workload/workload-planted.ts';
import { CarryOut } from './carry-out.ts';

const { accelerators, poolOrder } = SHARED_OPTIONS;

/** Rules of the decisions, by name: 'coverage' has the order of free machines of 'shared', and nothing else of it. */
export const RULES = {
  unshared: UNSHARED_OPTIONS,
  coverage: { ...UNSHARED_OPTIONS, accelerators, poolOrder },
  shared: SHARED_OPTIONS,
} as const satisfies Record<string, EconomyOptions>;
export type RulesName = keyof typeof RULES;

export function isRulesName(name: string): name is RulesName {
  return Object.hasOwn(RULES, name);
}

/** Parts of a cycle, in the order they end. */
export const PARTS = ['freeze', 'normalise', 'credit', 'acquire', 'preempt', 'reclaim', 'plan'] as const;
export type Part = (typeof PARTS)[number];

const SECOND_MS = 1000;

export interface TimedCycle {
  readonly decision: Decision;
  readonly ms: number;
  /** CPU time, with a resolution of some milliseconds, so that only sums of many cycles are exact. */
  readonly cpuMs: number;
  readonly partsMs: Readonly<Record<Part, number>>;
  readonly stats: CycleStats;
}

export interface RungOptions {
  /** Options of its engine. Self-checks are off by default: a check takes longer than the cycle it is in. */
  readonly engine?: EngineOptions;
  /** By default `unshared`. */
  readonly rules?: RulesName;
  /** Called after each commit, within the timed cycle. */
  readonly onCommit?: (applied: AppliedChanges) => void;
}

export class Rung {
  readonly regime: Regime;
  readonly workload: Workload;
  readonly fleet: Fleet;
  readonly engine: Engine;
  readonly options: DecisionOptions;
  readonly #pending: PendingChanges;
  /** Changes that the next cycle applies. */
  #changes: PendingChange[] = [];
  readonly #churn: Churn | null;
  readonly #carryOut: CarryOut;
  /** The last decision of the rung's own engine, if it has not been executed yet. */
  #decided: Decision | null = null;
  readonly #onCommit: (applied: AppliedChanges) => void;
  #cycles = 0;

  constructor(profile: ScaleProfile, regime: Regime, seed: number, options: RungOptions = {}) {
    const { engine = {}, rules = 'unshared', onCommit = () => {} } = options;
    this.regime = regime;
    this.options = {
      readyClusters: null,
      cannotBind: new Set(),
      retiring: new Set(),
      releaseHoldSeconds: DEFAULT_RELEASE_HOLD_SECONDS,
      weights: DEFAULT_SCORE_WEIGHTS,
      ...RULES[rules],
    };
    this.#onCommit = onCommit;
    this.workload = new Workload(profile, seed, beginningOf(regime));
    this.fleet = new Fleet();
    this.workload.load(this.fleet);
    this.#pending = new PendingChanges(this.fleet);
    this.#carryOut = new CarryOut(this.fleet);
    this.engine = this.newEngine(engine);
    const change = changeOf(regime, profile);
    this.#churn = change === null ? null : new Churn(this.workload, change, this.fleet);
    checkFleet(this.workload, this.fleet);
  }

  /** Time of the next cycle: one a second. */
  get nowMs(): number {
    return WORKLOAD_NOW_MS + this.#cycles * SECOND_MS;
  }

  /** Whether every cycle solves everything. */
  get everything(): boolean {
    return this.regime === 'cold' || this.regime === 'full';
  }

  /**
   * The first cycle, before anything has changed: its actions must be exactly those of the planted changes. They are known
   * for one row per machine, and for rows that all buy machines of one shape.
   */
  first(): TimedCycle {
    const cycle = this.#decide();
    const { expected } = this.workload;
    if (expected !== null && this.options.sharing === 'off')
      checkActions(this.workload.profile.name, expected, cycle.decision);
    return cycle;
  }

  /** The changes between two cycles, then a cycle; `timesRows`: also times each row that needs free machines. */
  next(timesRows = false): TimedCycle {
    this.#cycles++;
    this.#change();
    return this.#decide(timesRows);
  }

  /** Applies the changes between two cycles, for engines other than the rung's own. */
  advance(): void {
    this.#cycles++;
    this.#change();
    this.#apply();
  }

  /** Another engine over the same fleet. */
  newEngine(options: EngineOptions): Engine {
    return new Engine(this.fleet, { checkEvery: 0, clock: () => performance.now(), ...options });
  }

  /** The decision of an engine on the current fleet. Only decisions of the rung's own engine are executed. */
  decideOn(engine: Engine): Decision {
    const decision = engine.decide(this.nowMs, this.options, { everything: this.everything });
    if (engine === this.engine) this.#decided = decision;
    return decision;
  }

  /** Ends the worker threads. */
  async close(): Promise<void> {
    await this.engine.close();
  }

  #change(): void {
    if (this.#churn === null) return;
    const atMs = this.nowMs;
    if (this.#decided !== null)
      for (const change of this.#carryOut.changesOf(this.#decided, atMs)) this.#changes.push(change);
    this.#decided = null;
    const { machines, rollUps } = this.#churn.next();
    for (const machine of machines) this.#changes.push({ kind: 'observe', machine, atMs });
    for (const delta of rollUps) this.#changes.push({ kind: 'demand', delta });
  }

  #apply(): void {
    for (const change of this.#changes) this.#pending.append(change);
    this.#changes = [];
    const commit = this.#pending.commitMachines();
    const endOverlap = this.everything ? null : this.engine.overlap(commit.reporting);
    const applied = commit.writeRows();
    endOverlap?.();
    this.#onCommit(applied);
    const { refused } = applied;
    if (refused.length > 0) throw new Error(`a generated change was refused: ${JSON.stringify(refused[0])}`);
  }

  #decide(timesRows = false): TimedCycle {
    const cpu = process.threadCpuUsage();
    const start = performance.now();
    this.#apply();
    const freeze = performance.now() - start;
    const { everything, nowMs, options } = this;
    const decision = this.engine.decide(nowMs, options, { everything, timesRows });
    const ms = performance.now() - start;
    const { user, system } = process.threadCpuUsage(cpu);
    const stats = this.engine.lastCycle;
    this.#decided = decision;
    return { decision, ms, cpuMs: (user + system) / 1000, partsMs: { freeze, ...stats.phaseMs }, stats };
  }
}

function checkFleet({ profile, machineCount }: Workload, fleet: Fleet): void {
  checkEqual(profile.name, 'machines', fleet.machines.count, machineCount);
  checkEqual(profile.name, 'Needs', fleet.demand.count, profile.needs);
}

function checkActions(name: string, expected: ExpectedActions, { counts, unmet }: Decision): void {
  checkEqual(name, 'Bootstraps', counts.Bootstrap, expected.bootstraps);
  checkEqual(name, 'Provisions', counts.Provision, expected.provisions);
  checkEqual(name, 'Preempts', counts.Preempt, expected.preempts);
  checkEqual(name, 'Reclaims', counts.Reclaim, expected.reclaims);
  checkEqual(name, 'Deletes', counts.Delete, expected.deletes);
  checkEqual(name, 'unmet Needs', unmet.length, expected.unmet);
}

function checkEqual(name: string, what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${name}: expected ${expected} ${what}, found ${found}`);
}
