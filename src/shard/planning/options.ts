// Options of the decision thread, and its durable store. Options are plain data, because they are cloned to the
// thread. config/config.ts fills them from the settings.

import {
  CapacityType,
  DEFAULT_ECONOMY_OPTIONS,
  DEFAULT_SCORE_WEIGHTS,
  type EconomyOptions,
  type ScoreWeights,
} from '../../model/index.ts';
import { ACTUATION_LIMITS, type ActuationLimits } from '../actuation/actuation-limits.ts';
import { CALL_SCHEDULER_LIMITS, type CallSchedulerLimits } from '../actuation/call-scheduler.ts';
import type { DrainReporterStore } from '../actuation/drain-reporters.ts';
import type { MachineStore } from '../inventory/machine-facts-store.ts';
import { RECONCILE_LIMITS, type ReconcileLimits } from '../inventory/reconcile-limits.ts';
import type { FreezeStore } from './freezes.ts';
import { DEFAULT_GUARDRAILS, type GuardrailOptions } from './guardrails.ts';
import { DEFAULT_RENEWAL, type RenewalOptions } from './renewal-options.ts';
import type { RetirementStore } from './retirements.ts';
import { NO_SPEND_LIMITS, type SpendLimits } from './spend-limit.ts';

export interface CycleTimes {
  /** Longest time from the start of one cycle to the start of the next. */
  readonly intervalMs: number;
  /** Minimum from the end of a cycle to the next one. Shorter serves a burst sooner; longer batches more changes. */
  readonly spacingMs: number;
  /**
   * How long after the start decisions wait for providers that do not answer. Machines of an unread provider are unknown,
   * so their capacity would be bought again elsewhere; an unbounded wait would stop the whole shard.
   */
  readonly readyWaitMs: number;
}

/** How the engine runs; none of it changes a decision. */
export interface EngineSetup {
  readonly workers: number;
  readonly lanes: number | 'auto';
  readonly retries: number;
  readonly incremental: boolean;
  readonly checkEvery: number;
}

/** A fleet is large from either number on. */
interface FleetSize {
  readonly needs: number;
  readonly machines: number;
}

export interface ControllerOptions {
  readonly shard: string;
  /** Number of this start of the shard. */
  readonly epoch: bigint;
  /** Names only; the sessions keep the rest of a provider's configuration. */
  readonly providers: readonly string[];
  /** Seed of the random generator; different at every start. */
  readonly seed: number;
  readonly cycle: CycleTimes;
  readonly engine: EngineSetup;
  readonly guardrails: Omit<GuardrailOptions, 'unknownBeforeMs'>;
  readonly spending: SpendLimits;
  readonly weights: ScoreWeights;
  /** Seconds that an Idle machine without a row is kept before its release; none or 0: no release. */
  readonly releaseHoldSeconds: ReadonlyMap<CapacityType, number>;
  /** How rows share machines, in which order they acquire them, and when machines are given back. */
  readonly economy: EconomyOptions;
  /** Whether machines are replaced by cheaper ones, and how many at a time. */
  readonly renewal: RenewalOptions;
  /** USD per hour shown for owned machines, by instance type and by capacity type. No decision reads it. */
  readonly ownedPrices: ReadonlyMap<string, number>;
  readonly actuation: ActuationLimits;
  readonly scheduler: CallSchedulerLimits;
  readonly reconcile: ReconcileLimits;
  /**
   * Needs of a large fleet are explained on a replica of the ledger. Smaller: a replica is copied, and kept in memory, for
   * an explanation that takes the controller some milliseconds. Larger: explanations delay cycles.
   */
  readonly largeFleet: FleetSize;
}

/** Durable state of the decision thread. Writes are durable when the call returns. */
export interface ControllerStore {
  readonly machines: MachineStore;
  readonly freezes: FreezeStore;
  readonly retirements: RetirementStore;
  readonly drainReporters: DrainReporterStore;
}

export const DEFAULT_CONTROLLER: Omit<ControllerOptions, 'shard' | 'epoch' | 'providers' | 'seed'> = {
  cycle: { intervalMs: 1000, spacingMs: 200, readyWaitMs: 30_000 },
  engine: { workers: 1, lanes: 'auto', retries: 10, incremental: true, checkEvery: 100 },
  guardrails: DEFAULT_GUARDRAILS,
  spending: NO_SPEND_LIMITS,
  weights: DEFAULT_SCORE_WEIGHTS,
  releaseHoldSeconds: new Map([
    [CapacityType.OnDemand, 600],
    [CapacityType.Spot, 60],
  ]),
  economy: DEFAULT_ECONOMY_OPTIONS,
  renewal: DEFAULT_RENEWAL,
  ownedPrices: new Map(),
  actuation: ACTUATION_LIMITS,
  scheduler: CALL_SCHEDULER_LIMITS,
  reconcile: RECONCILE_LIMITS,
  // An explanation contains a decision that keeps nothing: about 430 ms for 776,000 Needs and 2.25 million machines, and
  // about 60 ms at these numbers.
  largeFleet: { needs: 100_000, machines: 300_000 },
};
