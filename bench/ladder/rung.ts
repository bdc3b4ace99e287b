// A rung of the ladder: one profile in one regime. Makes the fleet, and then one cycle after the other with what happens
// between them. What is timed is the whole cycle: applying the journal (`freeze`) and the decision. Making the records
// that enter the journal stands for reading them from the wire, and is not timed.
//
// A decision holds its actions in columns. Spelling them out as objects is left to who sends them, a few at a time, and
// is not part of the cycle.

import { type Decision, Engine, type Phase } from '../../src/engine/index.ts';
import { Fleet, Journal } from '../../src/fleet/index.ts';
import {
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  type LedgerMachine,
  MachineState,
  type Need,
} from '../../src/model/index.ts';
import {
  beginningOf,
  Churn,
  changeOf,
  DEFAULT_RELEASE_HOLD_SECONDS,
  type ExpectedActions,
  type Regime,
  type ScaleProfile,
  WORKLOAD_NOW_MS,
  Workload,
} from '../../src/sim/index.ts';

export const OPTIONS: DecisionOptions = {
  readyClusters: null,
  cannotBind: new Set(),
  releaseHoldSeconds: DEFAULT_RELEASE_HOLD_SECONDS,
  weights: DEFAULT_SCORE_WEIGHTS,
};

/** Parts of a cycle, in the order they end. */
export const PARTS = ['freeze', 'normalise', 'credit', 'acquire', 'preempt', 'reclaim', 'plan'] as const;
export type Part = (typeof PARTS)[number];

const SECOND_MS = 1000;

export interface TimedCycle {
  readonly decision: Decision;
  readonly ms: number;
  /** Time on a processor, without waiting for one; to a tick of some milliseconds, so only sums of many are exact. */
  readonly cpuMs: number;
  readonly partsMs: Readonly<Record<Part, number>>;
  /** Clusters solved again because they changed; all of them where nothing is kept. */
  readonly clusters: number;
}

export interface RungOptions {
  /** Threads that share the work. */
  readonly workers?: number;
  /** It will be exported. Otherwise it holds no more memory than a shard would. */
  readonly remembers?: boolean;
}

export class Rung {
  readonly regime: Regime;
  readonly workload: Workload;
  readonly fleet: Fleet;
  readonly #changed: Set<number>;
  readonly #engine: Engine;
  readonly #journal = new Journal();
  readonly #churn: Churn | null;
  /** For exports: what entered the journal so far, the last record of a machine and the last roll-up of a cluster. */
  readonly #remembers: boolean;
  readonly machinesSince = new Map<string, LedgerMachine>();
  readonly rollUpsSince = new Map<string, readonly Need[]>();
  #cycles = 0;

  constructor(profile: ScaleProfile, regime: Regime, seed: number, options: RungOptions = {}) {
    const { remembers = false, workers = 1 } = options;
    this.regime = regime;
    this.#remembers = remembers;
    this.workload = new Workload(profile, seed, beginningOf(regime));
    this.fleet = new Fleet();
    const loaded = this.workload.load(this.fleet);
    this.#engine = new Engine(this.fleet, { workers });
    this.#changed = this.fleet.changes.watch();
    const change = changeOf(regime, profile);
    this.#churn = change === null ? null : new Churn(this.workload, change, loaded);
    checkFleet(this.workload, this.fleet);
  }

  /** When the next cycle takes place: one a second. */
  get nowMs(): number {
    return WORKLOAD_NOW_MS + this.#cycles * SECOND_MS;
  }

  /** Whether a cycle keeps nothing of the one before. */
  get everything(): boolean {
    return this.regime === 'cold' || this.regime === 'full';
  }

  /** The first cycle, before anything has changed: must do what was planted, and nothing else. */
  first(): TimedCycle {
    const cycle = this.#decide();
    const { expected } = this.workload;
    if (expected !== null) checkActions(this.workload.profile.name, expected, cycle.decision);
    return cycle;
  }

  /** What happens between two cycles, then a cycle. */
  next(): TimedCycle {
    this.#cycles++;
    this.#change();
    return this.#decide();
  }

  /** Ends the worker threads. */
  async close(): Promise<void> {
    await this.#engine.close();
  }

  #change(): void {
    if (this.#churn === null) return;
    const { machines, rollUps } = this.#churn.next();
    const atMs = this.nowMs;
    for (const machine of machines) {
      this.#journal.append({ kind: 'observe', machine, atMs });
      const idleSinceMs = machine.state === MachineState.Idle ? atMs : null;
      if (this.#remembers) this.machinesSince.set(machine.id, { ...machine, idleSinceMs });
    }
    for (const { cluster, needs } of rollUps) {
      this.#journal.append({ kind: 'demand', cluster, needs });
      if (this.#remembers) this.rollUpsSince.set(cluster, needs);
    }
  }

  #decide(): TimedCycle {
    const partsMs = { freeze: 0, normalise: 0, credit: 0, acquire: 0, preempt: 0, reclaim: 0, plan: 0 };
    const cpu = process.threadCpuUsage();
    const start = performance.now();
    let last = start;
    const ended = (part: Part): void => {
      const now = performance.now();
      partsMs[part] = now - last;
      last = now;
    };
    const { refused } = this.fleet.freeze(this.#journal);
    const clusters = this.everything ? this.workload.profile.clusters : this.#changed.size;
    this.#changed.clear();
    ended('freeze');
    const probe = (phase: Phase): void => ended(phase);
    const decision = this.#engine.decide(this.nowMs, OPTIONS, { everything: this.everything, probe });
    const ms = performance.now() - start;
    const { user, system } = process.threadCpuUsage(cpu);
    if (refused.length > 0) throw new Error(`a generated change was refused: ${JSON.stringify(refused[0])}`);
    return { decision, ms, cpuMs: (user + system) / 1000, partsMs, clusters };
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
